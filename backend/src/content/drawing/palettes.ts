/** The few tones of one picture: the sheet from top to bottom, dark, middle and light ink, and one accent. */
export interface Palette {
  top: string;
  bottom: string;
  ink: string;
  mid: string;
  light: string;
  accent: string;
  /** The title's colour. */
  title: string;
}

const tones = (
  top: string,
  bottom: string,
  ink: string,
  mid: string,
  light: string,
  accent: string,
  title = ink,
): Palette => ({
  top,
  bottom,
  ink,
  mid,
  light,
  accent,
  title,
});

export const palettes = {
  paper: tones('#f5efe1', '#e3d6bb', '#24201b', '#8b8270', '#fffaf0', '#b3392f'),
  snow: tones('#f0f2f1', '#c5d0d5', '#1f2a31', '#7f929c', '#ffffff', '#b3392f'),
  celadon: tones('#e6ecdf', '#a9c2b1', '#1c2d28', '#648578', '#f8f7ec', '#b3392f'),
  jade: tones('#17342f', '#3a6a5c', '#0b1917', '#5d9080', '#eef1e0', '#e2bb6b', '#eef1e0'),
  indigo: tones('#d5dde2', '#6f8aa1', '#16263a', '#48647e', '#f6f3e8', '#b3392f'),
  night: tones('#141d29', '#3a4d5e', '#0a1017', '#536a7d', '#efe7d2', '#e0b95f', '#efe7d2'),
  ochre: tones('#f0dfb8', '#c99d58', '#2d2113', '#93703a', '#fff7e1', '#a02f25'),
  dusk: tones('#f0d5ae', '#a4503f', '#2a1315', '#84433a', '#fff1dc', '#fbe3b4'),
  rose: tones('#f6e8e0', '#d9aa9c', '#391f20', '#b4776c', '#fffaf4', '#a5372f'),
  plum: tones('#2b1b27', '#6b4252', '#150c13', '#8d6173', '#f5e8e1', '#eaa88e', '#f5e8e1'),
  ash: tones('#1d1b19', '#544a40', '#0e0d0c', '#7b6d5d', '#efe6d3', '#d4563f', '#efe6d3'),
  violet: tones('#ebe4ea', '#a897b4', '#241a33', '#6f5c86', '#fcf8fa', '#7a3b74'),
} satisfies Record<string, Palette>;

export type PaletteName = keyof typeof palettes;
