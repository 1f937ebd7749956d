import { Ink } from './ink.ts';
import { motifs } from './motifs.ts';
import { palettes } from './palettes.ts';

/** A square picture for a user; undefined when there is no such motif. */
export function avatarSvg(name: string): string | undefined {
  const motif = motifs.get(name);
  if (!motif) return undefined;
  const ink = new Ink(`avatar ${name}`, palettes[motif.palette]);
  const picture = motif.draw(ink);
  const ground = `<rect width="600" height="600" fill="${ink.tones.bottom}"/><rect width="600" height="600" fill="${ink.fade(ink.tones.top, 1, 0)}"/>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 600"><defs>${ink.definitions}</defs>${ground}${picture}</svg>`;
}
