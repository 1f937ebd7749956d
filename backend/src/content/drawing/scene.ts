import type { Ink } from './ink.ts';
import type { PaletteName } from './palettes.ts';

/** A tale's picture: its tones, where the title stands, and what is drawn. */
export interface Scene {
  palette: PaletteName;
  title: 'left' | 'right';
  draw: (ink: Ink) => string;
}
