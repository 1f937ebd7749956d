import { holdReload, useLeaveGuard } from '@liaozhai/shared/runtime';
import { useCallback, useEffect, useRef, useState } from 'react';

/** Keeps a page from being left or reloaded with unsaved work; `answer` settles the question that `isAsking` shows. */
export function useUnsavedGuard(dirty: boolean, reason: string) {
  const [isAsking, setAsking] = useState(false);
  const settle = useRef<(leave: boolean) => void>(undefined);
  const answer = useCallback((leave: boolean) => {
    settle.current?.(leave);
    settle.current = undefined;
    setAsking(false);
  }, []);
  const ask = useCallback(() => {
    settle.current?.(false);
    setAsking(true);
    return new Promise<boolean>((resolve) => {
      settle.current = resolve;
    });
  }, []);
  useLeaveGuard(dirty, ask);
  useEffect(() => (dirty ? holdReload(reason) : undefined), [dirty, reason]);
  return { isAsking, answer };
}
