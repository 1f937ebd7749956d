import { type ApiError, endpoints } from '../../contract';
import { request } from '../client/request';
import { toApiError } from '../client/toApiError';
import { divertUnauthenticated } from '../client/unauthenticated';

const wasAnswered = ({ kind }: ApiError) => kind !== 'offline' && kind !== 'timeout' && kind !== 'server';

/**
 * POST /v1/logout (401 = done), then `end`. Where the answer is lost, or overtaken, a 401 of something else says that
 * it was done and ends the session likewise. Rejects with `ApiError`.
 */
export async function logOut(end: (byRefusal: boolean) => Promise<void>): Promise<void> {
  let ended: Promise<void> | undefined;
  const endOnce = (byRefusal: boolean) => {
    ended ??= end(byRefusal);
    return ended;
  };
  divertUnauthenticated(() => void endOnce(true));
  try {
    await request({ url: endpoints.logout, method: 'POST' });
  } catch (cause) {
    const error = toApiError(cause);
    if (error.kind !== 'unauthenticated' && !ended) {
      if (wasAnswered(error)) divertUnauthenticated(null);
      throw error;
    }
  }
  await endOnce(false);
}
