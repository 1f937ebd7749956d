import clsx from 'clsx';
import { useState } from 'react';
import { firstGrapheme } from '../format/input';
import styles from './Avatar.module.css';
import { pictureProps } from './VisuallyHidden';

export interface AvatarProps {
  name: string;
  src?: string | null;
  size?: 'small' | 'medium' | 'large';
  /** Hidden from screen readers, for use next to the visible name. */
  decorative?: boolean;
}

/** A portrait; the first character of the name if the image is missing or fails to load. */
export function Avatar({ name, src, size = 'medium', decorative = false }: AvatarProps) {
  const [brokenSrc, setBrokenSrc] = useState<string | null>(null);
  const classes = clsx(styles.avatar, styles[size]);
  if (src && src !== brokenSrc) {
    return (
      <img
        className={classes}
        src={src}
        alt={decorative ? '' : name}
        loading="lazy"
        decoding="async"
        onError={() => setBrokenSrc(src)}
      />
    );
  }
  return (
    <span className={classes} {...pictureProps(decorative ? undefined : name)}>
      {firstGrapheme(name.trim()) || '聊'}
    </span>
  );
}
