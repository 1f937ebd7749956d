import { holdReload, useLeaveGuard } from '@liaozhai/shared/runtime';
import { useCallback, useEffect, useRef, useState } from 'react';

interface UnsavedWork {
  isDirty: boolean;
  /** what holds back a reload, as diagnostics name it */
  reason: string;
  /** Gives the work up; afterwards nothing asks any more. */
  discard: () => void;
}

/** Keeps a page from being left or reloaded with unsaved work; `answer` settles the question that `isAsking` shows. */
export function useUnsavedGuard({ isDirty, reason, discard }: UnsavedWork) {
  const [isAsking, setAsking] = useState(false);
  const settle = useRef<(leave: boolean) => void>(undefined);
  const answer = (leave: boolean) => {
    if (leave) discard();
    settle.current?.(leave);
    settle.current = undefined;
    setAsking(false);
  };
  const ask = useCallback(() => {
    settle.current?.(false);
    setAsking(true);
    return new Promise<boolean>((resolve) => {
      settle.current = resolve;
    });
  }, []);
  useLeaveGuard(isDirty, ask);
  useEffect(() => (isDirty ? holdReload(reason) : undefined), [isDirty, reason]);
  return { isAsking, answer };
}
