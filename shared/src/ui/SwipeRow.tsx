import type { Handler } from '@use-gesture/vanilla';
import { type ReactNode, type RefObject, useEffect, useEffectEvent, useRef, useState } from 'react';
import { listenTo, stopAll } from '../format/browser';
import styles from './SwipeRow.module.css';

const ACTION_PX = 88;

const SWIPE_SPEED_PX_PER_MS = 0.4;

export interface SwipeRowProps {
  actionLabel: string;
  onAction: () => void;
  /** A second, harmless action next to it. */
  also?: { label: string; onAction: () => void } | undefined;
  children: ReactNode;
}

/**
 * A row that slides sideways to show its actions, which its ⋯ menu must offer too. A touch elsewhere closes it; a tap on another
 * such row has no other effect.
 */
export function SwipeRow({ actionLabel, onAction, also, children }: SwipeRowProps) {
  const widthPx = also ? 2 * ACTION_PX : ACTION_PX;
  const row = useRef<HTMLDivElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  /** A mouse drag ends with a click, which must not count as a tap on the row. */
  const wasDragged = useRef(false);
  useTouchOutside(row, open, () => setOpen(false));
  useDragX(row, panel, ({ movement: [x], velocity: [speed], direction: [sign], last, tap }) => {
    if (!panel.current) return;
    wasDragged.current = !tap;
    const restPx = open ? -widthPx : 0;
    const shiftPx = Math.min(0, Math.max(-widthPx * 1.2, restPx + x));
    panel.current.style.transform = last ? '' : `translateX(${shiftPx}px)`;
    panel.current.style.transition = last ? '' : 'none';
    if (!last) return;
    setOpen(speed > SWIPE_SPEED_PX_PER_MS ? sign < 0 : shiftPx < -widthPx / 2);
  });
  return (
    <div ref={row} className={styles.row}>
      <div className={styles.actions}>
        {[also, { label: actionLabel, onAction }].map(
          (action) =>
            action && (
              <button
                key={action.label}
                type="button"
                className={styles.action}
                // Reachable by swiping only; keyboards and screen readers use the row's menu.
                inert={!open}
                onClick={() => {
                  setOpen(false);
                  action.onAction();
                }}
              >
                {action.label}
              </button>
            ),
        )}
      </div>
      <div
        ref={panel}
        className={styles.face}
        data-open={open}
        data-wide={also !== undefined}
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

/**
 * Reports horizontal drags of the row's face by finger or mouse. The gesture library (5 KiB Brotli) loads after the first paint;
 * `data-swipe-row` then marks the row.
 */
function useDragX(row: RefObject<HTMLElement | null>, panel: RefObject<HTMLElement | null>, onDrag: Handler<'drag'>) {
  const handleDrag = useEffectEvent(onDrag);
  useEffect(() => {
    let isOver = false;
    let stop = () => {};
    const begin = async () => {
      const { DragGesture } = await import(/* webpackChunkName: "gestures" */ '@use-gesture/vanilla');
      if (isOver || !row.current || !panel.current) return;
      // not `filterTaps`, which swallows the click of a press that began before the library loaded
      const options = { axis: 'x', threshold: 3, preventScroll: false } as const;
      const gesture = new DragGesture(panel.current, (state) => handleDrag(state), options);
      row.current.dataset.swipeRow = '';
      stop = () => gesture.destroy();
    };
    // without the library the row's menu offers the same actions
    begin().catch(() => undefined);
    return () => {
      isOver = true;
      stop();
    };
  }, [row, panel]);
}

/** Calls back when something outside the open row is touched; a tap on another row is swallowed. */
function useTouchOutside(row: RefObject<HTMLElement | null>, open: boolean, onTouch: () => void) {
  const reportTouch = useEffectEvent(onTouch);
  useEffect(() => {
    if (!open) return;
    const onPointerDown = ({ target }: PointerEvent) => {
      if (!(target instanceof Element) || row.current?.contains(target)) return;
      if (target.closest('[data-swipe-row]')) swallowTap();
      reportTouch();
    };
    return listenTo(document, ['pointerdown'], onPointerDown, { capture: true });
  }, [open, row]);
}

/** Swallows the click that ends the current touch; a touch without a click does not affect the next one. */
function swallowTap() {
  const options = { capture: true };
  const swallow = (event: Event) => {
    event.preventDefault();
    event.stopPropagation();
    stop();
  };
  const stop = stopAll(
    listenTo(document, ['click'], swallow, options),
    listenTo(document, ['pointerdown', 'keydown'], () => stop(), options),
  );
}
