import { offlineCache } from '@liaozhai/shared/runtime';
import { useEffect, useState } from 'react';

/**
 * Keeps the device's copy of what was last read under `key`, and hands it out when `wanted`, i.e. when the network has nothing.
 * Keys carry a version: a copy of an older shape is simply not found.
 */
export function useDeviceCopy<Content>(key: string, live: Content | undefined, wanted: boolean): Content | undefined {
  const [copy, setCopy] = useState<{ key: string; content: Content } | null>(null);
  useEffect(() => {
    if (live !== undefined) void offlineCache.write(key, live);
  }, [key, live]);
  useEffect(() => {
    if (!wanted) return;
    let left = false;
    void offlineCache.read(key).then((content) => {
      if (!left && content != null) setCopy({ key, content: content as Content });
    });
    return () => {
      left = true;
    };
  }, [key, wanted]);
  return copy?.key === key ? copy.content : undefined;
}
