import { useDrag } from '@use-gesture/react';
import { type ReactNode, useRef, useState } from 'react';
import styles from './SwipeRow.module.css';

const ACTION_PX = 88;
const FAST_ENOUGH_PX_PER_MS = 0.4;

export interface SwipeRowProps {
  actionLabel: string;
  onAction: () => void;
  children: ReactNode;
}

/** A row that slides aside to show one action. The same action must also stand in the row's ⋯ menu. */
export function SwipeRow({ actionLabel, onAction, children }: SwipeRowProps) {
  const face = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  /** A mouse ends its drag with a click, which is no tap on the row. */
  const wasDragged = useRef(false);
  const drag = useDrag(
    ({ movement: [x], velocity: [speed], direction: [way], last, tap }) => {
      if (!face.current) return;
      wasDragged.current = !tap;
      const rest = open ? -ACTION_PX : 0;
      const shift = Math.min(0, Math.max(-ACTION_PX * 1.2, rest + x));
      face.current.style.transform = last ? '' : `translateX(${shift}px)`;
      face.current.style.transition = last ? '' : 'none';
      if (!last) return;
      setOpen(speed > FAST_ENOUGH_PX_PER_MS ? way < 0 : shift < -ACTION_PX / 2);
    },
    { axis: 'x', filterTaps: true, preventScroll: false },
  );
  return (
    <div className={styles.row}>
      <button
        type="button"
        className={styles.action}
        // Reached by swiping only; keyboards and screen readers have the row's menu.
        inert={!open}
        onClick={() => {
          setOpen(false);
          onAction();
        }}
      >
        {actionLabel}
      </button>
      <div
        {...drag()}
        ref={face}
        className={styles.face}
        data-open={open}
        onPointerDownCapture={() => {
          wasDragged.current = false;
        }}
        onClickCapture={(event) => {
          if (!open && !wasDragged.current) return;
          event.preventDefault();
          event.stopPropagation();
          if (!wasDragged.current) setOpen(false);
          wasDragged.current = false;
        }}
      >
        {children}
      </div>
    </div>
  );
}
