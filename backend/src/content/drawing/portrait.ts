import type { Figure } from '../tale.ts';
import { tales } from '../tales/index.ts';
import { cricket } from './creatures.ts';
import { at, loop } from './geometry.ts';
import { Ink } from './ink.ts';
import { type PaletteName, palettes } from './palettes.ts';
import { rock } from './weather.ts';

interface Look {
  palette: PaletteName;
  skin: string;
  hair: string;
  robes: string[];
}

const looks: Record<Figure, Look> = {
  woman: { palette: 'rose', skin: '#fbeadc', hair: '#231a1c', robes: ['#a5372f', '#7a5a8a', '#3f6f68', '#b3752f'] },
  man: { palette: 'celadon', skin: '#f0d9bf', hair: '#1f2423', robes: ['#33604f', '#3d556d', '#7a4a36'] },
  elder: { palette: 'ochre', skin: '#ecd3b4', hair: '#e9e5dc', robes: ['#6a4a2d', '#5a5f4a', '#70404a'] },
  monk: { palette: 'indigo', skin: '#ecd3b4', hair: '#d9d9d4', robes: ['#3d556d', '#6b6450'] },
  ghost: { palette: 'night', skin: '#e6ebe8', hair: '#0d1319', robes: ['#dfe5e3', '#b9c9d2'] },
  fox: { palette: 'plum', skin: '#fbeadc', hair: '#1c1118', robes: ['#c95a4d', '#e0a23c', '#d98a94'] },
  official: { palette: 'ash', skin: '#d8b893', hair: '#0e0d0c', robes: ['#8d1f22', '#2f4f7a', '#3f6a58'] },
  child: { palette: 'snow', skin: '#fbe6d2', hair: '#1f2a31', robes: ['#d08a3a', '#5b8a6a'] },
  cricket: { palette: 'celadon', skin: '', hair: '#1c2d28', robes: ['#648578'] },
  stone: { palette: 'snow', skin: '', hair: '#1f2a31', robes: ['#ffffff'] },
};

const figures = new Map(
  tales.flatMap(({ id, characters }) => characters.map((one): [string, Figure] => [`${id}-${one.id}`, one.figure])),
);

/** A character's portrait; undefined when there is no such character. */
export function portraitSvg(name: string): string | undefined {
  const figure = figures.get(name);
  if (!figure) return undefined;
  const look = looks[figure];
  const ink = new Ink(name, palettes[look.palette]);
  const halo = `<circle cx="300" cy="250" r="400" fill="${ink.glow(ink.tones.light, 0.35)}"/>`;
  const robe = look.robes[Math.floor(ink.between(0, look.robes.length))] ?? ink.tones.accent;
  const person = thing(ink, figure, look.hair) ?? bust(ink, figure, { ...look, robe });
  const ground = `<rect width="600" height="600" fill="${ink.tones.bottom}"/><rect width="600" height="600" fill="${ink.fade(ink.tones.top, 1, 0)}"/>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 600"><defs>${ink.definitions}</defs>${ground}${halo}${person}</svg>`;
}

/** Some characters are no people. */
function thing(ink: Ink, figure: Figure, color: string): string | undefined {
  if (figure === 'stone') return rock(ink, 300, 540, 260, 440, color);
  if (figure !== 'cricket') return undefined;
  return `<g transform="translate(-20 -200)">${cricket(ink, color, ink.tones.mid, ink.tones.accent)}</g>`;
}

interface Dress extends Look {
  robe: string;
}

function bust(ink: Ink, figure: Figure, look: Dress): string {
  const long = figure === 'woman' || figure === 'ghost' || figure === 'fox';
  const back = long
    ? ink.fill(
        loop([at(300, 120), at(170, 230), at(160, 420), at(200, 600), at(400, 600), at(440, 420), at(430, 230)]),
        look.hair,
      )
    : '';
  const robe = ink.fill(
    loop([at(300, 430), at(180, 470), at(80, 620), at(300, 660), at(520, 620), at(420, 470)]),
    look.robe,
  );
  const collar = `<path d="M226 452L306 570L300 600H280ZM374 452L294 570L300 600H320Z" fill="${ink.tones.light}" fill-opacity=".85"/>`;
  const neck = `<path d="M262 380h76v60q-38 50 -76 0z" fill="${look.skin}"/>`;
  const face = ink.fill(
    loop([
      at(300, 170),
      at(210, 230),
      at(206, 310),
      at(250, 392),
      at(300, 420),
      at(350, 392),
      at(394, 310),
      at(390, 230),
    ]),
    look.skin,
  );
  return back + robe + neck + collar + face + features(ink, figure, look) + headdress(ink, figure, look);
}

/** Closed brows and eyes in a few strokes, a red mouth; beards where they belong. */
function features(ink: Ink, figure: Figure, look: Dress): string {
  const dark = figure === 'elder' || figure === 'monk' ? '#4a4038' : look.hair;
  const both = (draw: (side: number) => string) => draw(-1) + draw(1);
  const brows = both((side) =>
    ink.brush([at(300 + side * 22, 274), at(300 + side * 48, 262), at(300 + side * 76, 274)], 8, dark, 0.85),
  );
  const eyes = both((side) =>
    ink.brush([at(300 + side * 26, 302), at(300 + side * 48, 311), at(300 + side * 72, 299)], 8, dark),
  );
  const nose = ink.brush([at(300, 306), at(294, 336), at(305, 342)], 4, dark, 0.4);
  const mouth = ink.brush([at(284, 372), at(300, 378), at(316, 372)], 11, '#b3392f', 0.9);
  const bearded = figure === 'elder' || figure === 'monk' || figure === 'official';
  const beard = bearded
    ? ink.repeat(15, (n) =>
        ink.brush(
          [
            at(258 + n * 6, 386 + Math.abs(7 - n) * -3),
            at(264 + n * 5, 450),
            at(284 + n * 2.4, 500 - Math.abs(7 - n) * 7),
          ],
          9,
          look.hair,
          0.9,
        ),
      )
    : '';
  return brows + eyes + nose + mouth + beard;
}

function headdress(ink: Ink, figure: Figure, look: Dress): string {
  const cap = ink.fill('M204 280Q190 150 300 138Q410 150 396 280Q380 214 300 204Q220 214 204 280Z', look.hair);
  const knot = `<circle cx="300" cy="122" r="38" fill="${look.hair}"/>`;
  const pin = ink.brush([at(236, 116), at(300, 120), at(366, 108)], 9, '#d9b565');
  if (figure === 'official')
    return `${cap}<path d="M206 232V150q94 -54 188 0v82q-94 -44 -188 0z" fill="${look.hair}"/>${ink.brush([at(206, 214), at(130, 206), at(84, 222)], 26, look.hair)}${ink.brush([at(394, 214), at(470, 206), at(516, 222)], 26, look.hair)}`;
  if (figure === 'child')
    return `${cap}<circle cx="212" cy="164" r="36" fill="${look.hair}"/><circle cx="388" cy="164" r="36" fill="${look.hair}"/>`;
  if (figure === 'fox')
    return `${cap}<path d="M204 200L190 92L270 150ZM396 200L410 92L330 150Z" fill="${look.robe}"/>${pin}`;
  if (figure === 'ghost')
    return `${cap}${knot}<circle cx="372" cy="128" r="15" fill="#efe7d2"/><circle cx="394" cy="142" r="10" fill="#efe7d2"/>`;
  return cap + knot + pin;
}
