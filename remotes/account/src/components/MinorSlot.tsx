import { type ComponentType, lazy, Suspense } from 'react';

interface MinorSlotProps {
  pathname: string;
}

/** The slot loads for everyone, the guard of 未成年人模式 only for its users. If it fails to load, the server still enforces the mode. */
const MinorGuard = lazy<ComponentType<MinorSlotProps>>(() =>
  import(/* webpackChunkName: "minorMode" */ '../pages/MinorModePage').then(
    (page) => ({ default: page.MinorGuard }),
    (cause: unknown) => {
      console.warn('the guard of 未成年人模式 could not be loaded', cause);
      return { default: () => null };
    },
  ),
);

export default function MinorSlot({ pathname }: MinorSlotProps) {
  return (
    <Suspense>
      <MinorGuard pathname={pathname} />
    </Suspense>
  );
}
