import { Ink, sheet } from './ink.ts';
import { palettes } from './palettes.ts';
import type { Scene } from './scene.ts';
import { duskScenes } from './scenes/dusk.ts';
import { flowerScenes } from './scenes/flowers.ts';
import { gardenScenes } from './scenes/gardens.ts';
import { marvelScenes } from './scenes/marvels.ts';
import { nightScenes } from './scenes/night.ts';
import { wonderScenes } from './scenes/wonders.ts';
import { titles } from './titles.ts';

const scenes = new Map<string, Scene>(
  Object.entries({
    ...nightScenes,
    ...duskScenes,
    ...flowerScenes,
    ...gardenScenes,
    ...marvelScenes,
    ...wonderScenes,
  }),
);
const serif = "'Songti SC','Noto Serif SC','Noto Serif CJK SC','Source Han Serif SC',STSong,SimSun,serif";

/** A story's cover, 3:4; undefined when there is no such story. */
export function coverSvg(storyId: string): string | undefined {
  const scene = scenes.get(storyId);
  const title = titles.get(storyId);
  if (!scene || !title) return undefined;
  const ink = new Ink(storyId, palettes[scene.palette]);
  const ground = sheetOf(ink);
  const picture = scene.draw(ink);
  const x = scene.title === 'left' ? 84 : sheet.width - 84;
  const caption = captionOf(title, x, ink.tones.title);
  const box = `viewBox="0 0 ${sheet.width} ${sheet.height}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${box} role="img" aria-label="${title}"><defs>${ink.definitions}</defs>${ground}${picture}${caption}</svg>`;
}

/** Paper: a wash from top to bottom, with a few fibres in it. */
function sheetOf(ink: Ink): string {
  const { top, bottom, mid } = ink.tones;
  const wash = `<rect width="600" height="800" fill="${bottom}"/><rect width="600" height="800" fill="${ink.fade(top, 1, 0)}"/>`;
  const fibres = ink.repeat(26, () => {
    const [x, y] = [ink.between(0, 600), ink.between(0, 800)];
    return ink.line(
      `M${x.toFixed(0)} ${y.toFixed(0)}q${ink.between(-20, 20).toFixed(0)} ${ink.between(-14, 14).toFixed(0)} ${ink.between(-34, 34).toFixed(0)} ${ink.between(-10, 10).toFixed(0)}`,
      mid,
      0.8,
      0.22,
    );
  });
  return wash + fibres;
}

/** The title from top to bottom, and the studio's seal below it. */
function captionOf(title: string, x: number, color: string): string {
  const size = title.length > 3 ? 62 : 74;
  const step = size * 1.16;
  const characters = [...title]
    .map((character, index) => `<text x="${x}" y="${104 + index * step}">${character}</text>`)
    .join('');
  const below = 104 + title.length * step - size * 0.62;
  const text = `<g fill="${color}" font-family="${serif}" font-size="${size}" font-weight="600" text-anchor="middle">${characters}</g>`;
  return text + seal(x, below);
}

function seal(x: number, y: number): string {
  const mark = (character: string, dy: number) => `<text x="${x}" y="${y + dy}">${character}</text>`;
  const stamp = `<path d="M${x - 19} ${y + 2}q18 -4 38 -1q2 34 0 74q-20 3 -38 1q-3 -38 0 -74z" fill="#b3392f"/>`;
  return `${stamp}<g fill="#fdf3e4" font-family="${serif}" font-size="28" font-weight="700" text-anchor="middle">${mark('聊', 32)}${mark('斋', 65)}</g>`;
}
