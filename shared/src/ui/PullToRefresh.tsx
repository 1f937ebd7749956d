import clsx from 'clsx';
import RefreshIcon from 'lucide-react/icons/refresh-cw';
import { type ReactNode, useRef, useState } from 'react';
import styles from './PullToRefresh.module.css';
import { usePullDown } from './usePullDown';
import { VisuallyHidden } from './VisuallyHidden';

const TRIGGER_PX = 64;
const FURTHEST_PX = 96;
// The finger travels further than the paper, as if it were elastic.
const resisted = (pulled: number) => FURTHEST_PX * (1 - Math.exp(-pulled / 160));

export interface PullToRefreshProps {
  onRefresh: () => Promise<unknown>;
  children: ReactNode;
}

/** Pulling the top of the list down refreshes it. Mice and keyboards need a button of the caller's. */
export function PullToRefresh({ onRefresh, children }: PullToRefreshProps) {
  const area = useRef<HTMLDivElement>(null);
  const [refreshing, setRefreshing] = useState(false);
  const refresh = async () => {
    setRefreshing(true);
    // A failed refresh is told by the list's own error face.
    await Promise.allSettled([onRefresh()]);
    setRefreshing(false);
  };
  usePullDown(area, {
    isAllowed: () => !refreshing,
    onPull: (element, pulled) => {
      element.style.setProperty('--pulled', `${resisted(pulled)}px`);
      element.dataset.pulling = 'true';
    },
    onRelease: (element, pulled) => {
      element.style.setProperty('--pulled', '0px');
      element.dataset.pulling = 'false';
      if (resisted(pulled) >= TRIGGER_PX) void refresh();
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
