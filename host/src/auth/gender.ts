import { endpoints } from '@liaozhai/shared/contract';
import { request, session, toApiError } from '@liaozhai/shared/runtime';

export type Gender = 'male' | 'female';

/** Before each attempt. */
const PAUSES_MS = [0, 2_000, 10_000, 60_000];

const memberId = (): string | null => {
  const current = session.current();
  return current.status === 'member' ? current.user.id : null;
};

/**
 * Tells the profile of who has just signed in the gender chosen at registration, whose call has no field for it. Tried
 * again where no answer came; a server that refuses it keeps none. Never rejects.
 */
export async function saveGender(gender: Gender): Promise<void> {
  const owner = memberId();
  for (const pauseMs of PAUSES_MS) {
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    if (owner === null || memberId() !== owner) return;
    try {
      await request({ url: endpoints.user, method: 'PUT', body: { gender } });
      if (memberId() === owner) session.userPatched({ gender });
      return;
    } catch (cause) {
      const { kind } = toApiError(cause);
      const isOver = kind !== 'offline' && kind !== 'timeout' && kind !== 'server' && kind !== 'tooOften';
      if (isOver) return console.warn('the gender was refused', kind);
    }
  }
}
