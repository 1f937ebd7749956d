import { type ComponentType, lazy, Suspense } from 'react';

interface MinorSlotProps {
  pathname: string;
}

/** Slots are fetched for everybody, 未成年人模式 only for who has it on. Where it cannot be had, the server refuses all the same. */
const MinorGuard = lazy<ComponentType<MinorSlotProps>>(() =>
  import(/* webpackChunkName: "minorMode" */ '../pages/MinorModePage').then(
    (page) => ({ default: page.MinorGuard }),
    (cause: unknown) => {
      console.warn('the guard of 未成年人模式 could not be loaded', cause);
      return { default: () => null };
    },
  ),
);

/** Slot `minor`. */
export default function MinorSlot({ pathname }: MinorSlotProps) {
  return (
    <Suspense>
      <MinorGuard pathname={pathname} />
    </Suspense>
  );
}
