import { bird, fox } from './creatures.ts';
import { at } from './geometry.ts';
import type { Ink } from './ink.ts';
import { bamboo, blossom, branch, lotus, lotusLeaf, rosette } from './nature.ts';
import type { PaletteName } from './palettes.ts';
import { boat, hall, lantern } from './things.ts';
import { cloud, rock, waves } from './weather.ts';

interface Motif {
  palette: PaletteName;
  draw: (ink: Ink) => string;
}

/** Small pictures on a sheet of 600 × 600, for avatars. */
export const motifs = new Map<string, Motif>(
  Object.entries({
    fox: {
      palette: 'ochre',
      draw: (ink) =>
        ink.disc(330, 270, 190, ink.tones.light, 0.5) + fox(ink, 240, 480, 250, ink.tones.accent, ink.tones.light),
    },
    moon: {
      palette: 'night',
      draw: (ink) =>
        ink.disc(300, 270, 130, ink.tones.light, 0.5) +
        ink.ridge(470, 140, ink.tones.mid, 0.9, 2) +
        ink.ridge(560, 120, ink.tones.ink, 0.9, 3),
    },
    lotus: {
      palette: 'jade',
      draw: (ink) =>
        lotusLeaf(ink, 300, 470, 220, 140, ink.tones.mid) + lotus(ink, 300, 400, 210, ink.tones.light, '#e7a7a0'),
    },
    lantern: { palette: 'plum', draw: (ink) => lantern(ink, 300, 290, 190, '#d9543f') },
    plum: {
      palette: 'rose',
      draw: (ink) => {
        const bough = branch(ink, at(40, 560), 42, 250, 30, ink.tones.ink, 2);
        return bough.svg + bough.tips.map((tip) => blossom(ink, tip, 36, '#d4574e', '#f6d58a')).join('');
      },
    },
    bamboo: {
      palette: 'celadon',
      draw: (ink) => bamboo(ink, 230, 30, 620, ink.tones.ink) + bamboo(ink, 400, -40, 620, ink.tones.mid),
    },
    peony: {
      palette: 'violet',
      draw: (ink) =>
        rosette(ink, at(300, 300), 220, 12, 0.34, ink.tones.accent, '#54204f') +
        ink.blot(300, 298, 26, 22, '#e7c75c', 1, 3),
    },
    chrysanthemum: { palette: 'paper', draw: (ink) => rosette(ink, at(300, 300), 220, 26, 0.13, '#e3a92f', '#b9761b') },
    boat: {
      palette: 'indigo',
      draw: (ink) =>
        ink.disc(400, 180, 80, ink.tones.light, 0.6) +
        ink.ridge(360, 120, ink.tones.mid, 0.7, 2) +
        boat(ink, 290, 440, 190, ink.tones.ink),
    },
    swallow: {
      palette: 'snow',
      draw: (ink) => ink.disc(380, 210, 100, ink.tones.accent, 0.3) + bird(ink, 290, 350, 190, ink.tones.ink),
    },
    wave: {
      palette: 'dusk',
      draw: (ink) =>
        ink.disc(300, 230, 110, ink.tones.accent, 0.6) + waves(ink, 400, 4, 150, '#7e2f2b', ink.tones.light),
    },
    inkstone: {
      palette: 'ash',
      draw: (ink) =>
        cloud(300, 190, 120, ink.tones.mid, 0.5) +
        hall(ink, 300, 230, 330, ink.tones.ink, ink.tones.accent) +
        rock(ink, 520, 560, 130, 260, ink.tones.ink),
    },
  }),
);

export const motifNames = [...motifs.keys()];
