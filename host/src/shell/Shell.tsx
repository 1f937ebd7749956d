import { serverNow } from '@liaozhai/shared/contract';
import { RemoteSlot, Router, useHasNetwork, useOnline, useUser } from '@liaozhai/shared/runtime';
import { OfflineIcon } from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { type ComponentProps, useCallback, useState } from 'react';
import { useNavigation, usePosition } from '../navigation';
import { usePage } from '../page';
import { ScreenStack, useScreenStack, useVisitor } from '../screens/ScreenStack';
import { createScrollMemory, useScrollSaving } from '../screens/scrollMemory';
import styles from './Shell.module.css';
import { TabBar } from './TabBar';

/** The frame around the screens: notices above, the tab bar below (a rail at the left of a wide window). */
export function Shell() {
  const { set, routes, components, local } = usePage();
  const navigation = useNavigation();
  const { location } = usePosition();
  const [memory] = useState(createScrollMemory);
  const visitor = useVisitor(memory.clear);
  const { screens, active } = useScreenStack(routes, visitor);
  useScrollSaving(memory);
  const isOnline = useOnline();
  const prefetch = useCallback((path: string) => void components.preloadScreen(routes, path), [routes, components]);
  return (
    <div className={clsx(styles.frame, (set.override || !isOnline) && styles.noticed)}>
      <Router navigator={navigation} location={location}>
        <Tabs
          pathname={location.pathname}
          isInChat={new URLSearchParams(location.search).get('chat') === '1'}
          hidden={active.route.outsideShell}
          onApproach={prefetch}
          onReselect={scrollToTop}
        />
        <MinorMode pathname={location.pathname} />
      </Router>
      <div className={styles.notices}>
        {local ? <local.LocalBadge /> : set.override && <OverrideBadge expires={set.override.expires} />}
        <OfflineBanner online={isOnline} />
      </div>
      <div className={styles.screens}>
        <ScreenStack screens={screens} active={active} epoch={visitor.arrivals} memory={memory} />
      </div>
    </div>
  );
}

/** Tab bar with the user's unread state; separate, so that the shell does not re-render with every change of the user. */
function Tabs(props: Omit<ComponentProps<typeof TabBar>, 'hasNewReply'>) {
  return <TabBar {...props} hasNewReply={(useUser()?.unreadConversations ?? 0) > 0} />;
}

/** Enforces 未成年人模式: a slot of the account remote. */
function MinorMode({ pathname }: { pathname: string }) {
  return useUser()?.minor ? <RemoteSlot name="minor" pathname={pathname} /> : null;
}

function scrollToTop() {
  const visibleScreen = [...document.querySelectorAll('main')].find((screen) => screen.getClientRects().length > 0);
  visibleScreen?.scrollTo({ top: 0, behavior: 'smooth' });
}

/** Shown offline, when the content is from an earlier visit. */
function OfflineBanner({ online }: { online: boolean }) {
  const cause = useHasNetwork() ? '连不上服务' : '当前没有网络';
  return (
    <div role="status">
      {!online && (
        <p className={styles.offline}>
          <OfflineIcon size={16} aria-hidden />
          <span>{`${cause}，只能看之前打开过的内容`}</span>
        </p>
      )}
    </div>
  );
}

/** Shown while the browser previews builds of an override link, with a link to end the preview. */
function OverrideBadge({ expires }: { expires: string }) {
  return (
    <aside className={styles.override} aria-label="预览">
      <span>{`正在预览未发布的版本，至 ${formatEndTime(new Date(expires))}`}</span>
      {/* plain link: another set needs a new document */}
      <a className={styles.leave} href="/?override=off">
        退出预览
      </a>
    </aside>
  );
}

const twoDigits = (value: number) => String(value).padStart(2, '0');

/** `14:05` in the reader's time zone, with the day if it is not today. */
export function formatEndTime(end: Date): string {
  const day =
    end.toDateString() === new Date(serverNow()).toDateString() ? '' : `${end.getMonth() + 1}月${end.getDate()}日 `;
  return `${day}${twoDigits(end.getHours())}:${twoDigits(end.getMinutes())}`;
}
