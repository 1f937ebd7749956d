import { useModule } from '@liaozhai/shared/ui';

const loadGuard = () => import(/* webpackChunkName: "minorMode" */ '../pages/MinorModePage');

const warn = (cause: unknown) => console.warn('the guard of 未成年人模式 could not be loaded', cause);

/** The guard of 未成年人模式, in a chunk of its own. If it fails to load, the server still enforces the mode. */
export default function MinorSlot({ pathname }: { pathname: string }) {
  const page = useModule(loadGuard, true, warn);
  return page && <page.MinorGuard pathname={pathname} />;
}
