import clsx from 'clsx';
import RefreshIcon from 'lucide-react/icons/refresh-cw';
import { type ReactNode, type RefObject, useEffect, useEffectEvent, useRef, useState, useTransition } from 'react';
import { listenTo, stopAll } from '../format/browser';
import { IconButton, Spinner } from './Button';
import { scrollerOf } from './InfiniteList';
import styles from './PullToRefresh.module.css';
import { VisuallyHidden } from './VisuallyHidden';

const TRIGGER_PX = 64;
const MAX_PULL_PX = 96;
// The list follows the finger with resistance.
const withResistance = (pulledPx: number) => MAX_PULL_PX * (1 - Math.exp(-pulledPx / 160));

export interface PullToRefreshProps {
  onRefresh: () => Promise<unknown>;
  children: ReactNode;
}

/** For mice and keyboards, which cannot pull. Shows a spinner until `onRefresh` has settled. */
export function RefreshButton({ label, onRefresh }: Pick<PullToRefreshProps, 'onRefresh'> & { label: string }) {
  const [isRefreshing, start] = useTransition();
  return (
    <IconButton
      label={label}
      icon={isRefreshing ? <Spinner /> : <RefreshIcon size={20} />}
      aria-busy={isRefreshing || undefined}
      onClick={() => isRefreshing || start(async () => void (await Promise.allSettled([onRefresh()])))}
    />
  );
}

/** Refreshes a list when it is pulled down at its top. The caller adds a `RefreshButton`. */
export function PullToRefresh({ onRefresh, children }: PullToRefreshProps) {
  const area = useRef<HTMLDivElement>(null);
  const [refreshing, setRefreshing] = useState(false);
  const refresh = async () => {
    setRefreshing(true);
    // The list's own error row shows a failed refresh.
    await Promise.allSettled([onRefresh()]);
    setRefreshing(false);
  };
  usePullDown(area, {
    isAllowed: () => !refreshing,
    onPull: (element, pulledPx) => {
      element.style.setProperty('--pulled', `${withResistance(pulledPx)}px`);
      element.dataset.pulling = 'true';
    },
    onRelease: (element, pulledPx) => {
      element.style.setProperty('--pulled', '0px');
      element.dataset.pulling = 'false';
      if (withResistance(pulledPx) >= TRIGGER_PX) void refresh();
    },
  });
  return (
    <div ref={area} className={clsx(styles.area, refreshing && styles.refreshing)}>
      <div className={styles.mark} role="status">
        <RefreshIcon size={20} />
        {refreshing && <VisuallyHidden>正在刷新</VisuallyHidden>}
      </div>
      <div className={styles.content}>{children}</div>
    </div>
  );
}

interface Pull {
  isAllowed: () => boolean;
  /** distance in px from the touch's start */
  onPull: (element: HTMLElement, pulledPx: number) => void;
  onRelease: (element: HTMLElement, pulledPx: number) => void;
}

const isAtTop = (element: Element) => (scrollerOf(element) ?? document.documentElement).scrollTop <= 0;

/**
 * Detects a pull from the very top of a list. Uses plain touch events: @use-gesture/react would add 7.8 KiB (Brotli) to the first
 * screen, and its tap filter swallows mouse clicks on devices with touch.
 */
function usePullDown(area: RefObject<HTMLElement | null>, pull: Pull) {
  const isAllowed = useEffectEvent(pull.isAllowed);
  const reportPull = useEffectEvent(pull.onPull);
  const reportRelease = useEffectEvent(pull.onRelease);

  useEffect(() => {
    const element = area.current;
    if (!element) return;
    let startY: number | null = null;
    let pulledPx = 0;
    let stopTouch = () => {};
    const start = ({ touches, target }: TouchEvent) => {
      stopTouch();
      // if the touched element is removed (a skeleton for its list), only the element itself gets further events
      const isGone = () => !element.contains(target as Node);
      if (target) stopTouch = followTouch(target, isGone);
      const touch = touches.length === 1 ? touches[0] : undefined;
      startY = touch && isAllowed() && isAtTop(element) ? touch.clientY : null;
      pulledPx = 0;
    };
    const move = (event: TouchEvent) => {
      const touch = event.touches[0];
      if (startY === null || !touch) return;
      const distancePx = touch.clientY - startY;
      // an upward move is a scroll until the finger lifts
      if (distancePx <= 0 && pulledPx === 0) startY = null;
      if (startY === null) return;
      pulledPx = Math.max(0, distancePx);
      if (event.cancelable) event.preventDefault();
      reportPull(element, pulledPx);
    };
    const end = () => {
      if (startY !== null && pulledPx > 0) reportRelease(element, pulledPx);
      startY = null;
    };
    const cancel = () => {
      if (startY !== null && pulledPx > 0) reportRelease(element, 0);
      startY = null;
    };
    const followTouch = (target: EventTarget, applies = () => true) =>
      stopAll(
        listenTo(target, ['touchmove'], (event: TouchEvent) => applies() && move(event), { passive: false }),
        listenTo(target, ['touchend'], () => applies() && end()),
        listenTo(target, ['touchcancel'], () => applies() && cancel()),
      );
    const stopStart = listenTo(element, ['touchstart'], start, { passive: true });
    return stopAll(() => stopTouch(), stopStart, followTouch(element));
  }, [area]);
}
