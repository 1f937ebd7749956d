import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import styles from './CollapsingItem.module.css';

const DURATION_MS = 240;
const EASING = 'cubic-bezier(0.2, 0.7, 0.2, 1)';

/** Rows move only for those who like it; a browser without the Web Animations API shows the end at once. */
function playCollapse(item: HTMLElement, direction: 'normal' | 'reverse'): Animation | null {
  if (!item.animate || matchMedia('(prefers-reduced-motion: reduce)').matches) return null;
  const whole = { height: `${item.offsetHeight}px`, opacity: 1 };
  const options = { duration: DURATION_MS, easing: EASING, direction, fill: 'backwards' } as const;
  return item.animate([whole, { height: '0px', opacity: 0 }], options);
}

/** A list item that collapses when it is no longer `shown`, is then gone from the document, and opens again in its place. */
export function CollapsingItem({ shown, children }: { shown: boolean; children: ReactNode }) {
  const item = useRef<HTMLLIElement>(null);
  const last = useRef(shown);
  const [mounted, setMounted] = useState(shown);
  if (shown && !mounted) setMounted(true);
  useLayoutEffect(() => {
    const changed = last.current !== shown;
    last.current = shown;
    const leave = () => shown || setMounted(false);
    const animation = changed && item.current && playCollapse(item.current, shown ? 'reverse' : 'normal');
    if (!animation) return void leave();
    animation.onfinish = leave;
    return () => {
      animation.onfinish = null;
      animation.finish();
    };
  }, [shown]);
  if (!mounted) return null;
  return (
    <li ref={item} className={styles.item} inert={!shown}>
      {children}
    </li>
  );
}
