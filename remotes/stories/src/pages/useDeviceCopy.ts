import { offlineCache } from '@liaozhai/shared/runtime';
import { useKeptCopy } from '@liaozhai/shared/ui';
import { useEffect } from 'react';

/** Keeps the device's copy of what was last read under `key`, and hands it out when `wanted`. */
export function useDeviceCopy<Content>(key: string, live: Content | undefined, wanted: boolean): Content | undefined {
  useEffect(() => {
    if (live !== undefined) void offlineCache.write(key, live);
  }, [key, live]);
  return useKeptCopy<Content>(offlineCache, key, wanted);
}
