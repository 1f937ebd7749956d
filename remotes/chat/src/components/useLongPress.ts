import { type PointerEvent, useMemo, useRef } from 'react';

const HOLD_MS = 450;
const STILL_PX = 8;

/** Handlers that call back when a finger rests on the element; a mouse has buttons for that. */
export function useLongPress(onLongPress: () => void) {
  const latest = useRef(onLongPress);
  latest.current = onLongPress;
  return useMemo(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let from = { x: 0, y: 0 };
    const end = () => clearTimeout(timer);
    return {
      onPointerDown(event: PointerEvent) {
        if (event.pointerType === 'mouse' || !event.isPrimary) return;
        from = { x: event.clientX, y: event.clientY };
        end();
        timer = setTimeout(() => latest.current(), HOLD_MS);
      },
      onPointerMove(event: PointerEvent) {
        if (Math.hypot(event.clientX - from.x, event.clientY - from.y) > STILL_PX) end();
      },
      onPointerUp: end,
      onPointerCancel: end,
    };
  }, []);
}
