import clsx from 'clsx';
import styles from './InkDrawing.module.css';
import { pictureProps } from './VisuallyHidden';

export type Drawing = 'lantern' | 'moon' | 'mountain' | 'book';

/** Each drawing: a few strokes, a light wash and a red accent. */
const strokes: Record<Drawing, { ink: string; wash: string; red: string }> = {
  lantern: {
    wash: 'M44 45c-9 8-9 30 0 38h32c9-8 9-30 0-38z',
    ink: 'M60 14c-1 7 1 12 0 20M46 36h28M44 45c-9 8-9 30 0 38M76 45c9 8 9 30 0 38M42 45h36M43 84h34M54 46c-5 12-5 26 0 37M66 46c5 12 5 26 0 37M28 16c10-5 22-6 34-2M60 84v10M57 96l-1 10M63 96l1 10M60 96v12',
    red: 'M60 57c5 6 6 13 0 17c-6-4-5-11 0-17z',
  },
  moon: {
    wash: 'M78 46a24 24 0 1 1-48 0a24 24 0 1 1 48 0z',
    ink: 'M75 34a24 24 0 1 0 3 14M18 92c14-6 26-6 40-1s28 5 46-2M30 102c10-3 20-3 30 0M96 88c-2-16 2-28 12-38M100 70c-6-3-10-8-11-14M102 62c5 0 9-3 12-7',
    red: 'M88 80h9v9h-9z',
  },
  mountain: {
    wash: 'M8 92c14-10 20-36 32-46c10 10 12 22 20 28c8-8 12-26 22-34c12 12 16 38 30 52z',
    ink: 'M8 92c14-10 20-36 32-46c10 10 12 22 20 28M52 84c12-10 18-34 30-44c12 12 16 38 30 52M34 58c4 6 2 10 7 16M80 54c-3 7 1 12-3 18M22 104h34M66 104h24M70 24c4-4 8-4 11 0c3-4 7-4 11 0',
    red: 'M94 62h8v8h-8z',
  },
  book: {
    wash: 'M60 40c-12-8-26-8-40-4v54c14-4 28-4 40 4z',
    ink: 'M60 40c-12-8-26-8-40-4v54c14-4 28-4 40 4c12-8 26-8 40-4V36c-14-4-28-4-40 4v54M30 50c7-1 13 0 20 3M30 62c7-1 13 0 20 3M30 74c7-1 13 0 20 3M70 53c7-3 13-4 20-3M70 65c5-2 9-3 13-3',
    red: 'M80 74h9v9h-9z',
  },
};

export function InkDrawing({ name }: { name: Drawing }) {
  const { ink, wash, red } = strokes[name];
  return (
    <svg className={styles.drawing} viewBox="0 0 120 120" aria-hidden="true">
      <path className={styles.wash} d={wash} />
      <path className={styles.ink} d={ink} />
      <path className={styles.red} d={red} />
    </svg>
  );
}

interface SealProps {
  /** the brand's one or two characters */
  sign: string;
  size?: 'small' | 'medium' | 'large';
  label?: string;
}

export const Seal = ({ sign, size = 'medium', label }: SealProps) => (
  <span className={clsx(styles.seal, styles[size])} {...pictureProps(label)} translate="no">
    {sign}
  </span>
);
