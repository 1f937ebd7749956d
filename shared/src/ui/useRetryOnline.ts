import { useEffect, useEffectEvent } from 'react';

/** Tries again by itself what failed, as soon as the network is back. */
export function useRetryOnline(onRetry: (() => unknown) | undefined) {
  const retry = useEffectEvent(() => void onRetry?.());
  useEffect(() => {
    const onOnline = () => retry();
    window.addEventListener('online', onOnline);
    return () => window.removeEventListener('online', onOnline);
  }, []);
}
