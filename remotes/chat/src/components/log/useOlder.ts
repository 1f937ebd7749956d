import { isApiError } from '@liaozhai/shared/runtime';
import { useCallback, useMemo, useState } from 'react';
import { loadOlder } from '../../api/olderPages';
import type { Thread } from '../../model';

export interface Older {
  hasOlder: boolean;
  /** The last try failed; the reader decides about the next. */
  error: unknown;
  load: () => void;
  retry: () => void;
}

/** The pages before the first loaded message. */
export function useOlder({ storyId, hasOlder }: Thread): Older {
  const [error, setError] = useState<unknown>(undefined);
  const retry = useCallback(() => {
    setError(undefined);
    void loadOlder(storyId).catch((cause: unknown) => {
      if (!isApiError(cause)) throw cause;
      setError(cause);
    });
  }, [storyId]);
  const load = useCallback(() => {
    if (error === undefined) retry();
  }, [error, retry]);
  return useMemo(() => ({ hasOlder, error, load, retry }), [hasOlder, error, load, retry]);
}
