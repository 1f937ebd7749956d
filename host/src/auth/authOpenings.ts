import type { LoginMode } from '@liaozhai/shared/runtime';

export interface Opening {
  id: number;
  mode: LoginMode;
}

interface Waiting extends Opening {
  answer: Promise<boolean>;
  settle: (signedIn: boolean) => void;
}

function waiting(id: number, mode: LoginMode): Waiting {
  let settle: Waiting['settle'] = () => undefined;
  const answer = new Promise<boolean>((resolve) => {
    settle = resolve;
  });
  return { id, mode, answer, settle };
}

/** The one popup: whoever asks while it is open joins the same opening, whatever mode they asked for. */
export function createAuthOpenings() {
  let current: Waiting | null = null;
  let count = 0;
  const listeners = new Set<() => void>();
  const change = (next: Waiting | null) => {
    current = next;
    for (const listener of listeners) listener();
  };
  return {
    current: (): Opening | null => current,
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    /** Resolves with whether the visitor signed in. */
    open(mode: LoginMode): Promise<boolean> {
      if (current) return current.answer;
      count += 1;
      const opening = waiting(count, mode);
      change(opening);
      return opening.answer;
    },
    close(signedIn: boolean) {
      const closing = current;
      change(null);
      closing?.settle(signedIn);
    },
  };
}
