import { type ApiError, snapshots } from '@liaozhai/shared/runtime';
import type { Thread } from '../model';

/** As many messages as a page brings, and as the device keeps of a thread. */
export const THREAD_PAGE = 50;

// a newer shape gets a newer key, since the device may hold what an older build wrote
export const storyCopyKey = (id: string) => `chat.story.1.${id}`;
export const threadCopyKey = (storyId: string) => `chat.thread.1.${storyId}`;
export const conversationsCopyKey = 'chat.conversations.1';

const isOutOfReach = (error: ApiError) => error.kind === 'offline' || error.kind === 'timeout';

/** What the device kept of an answer, when the network has none. */
export async function copyOf<Content>(key: string, error: ApiError): Promise<Content | undefined> {
  return isOutOfReach(error) ? ((await snapshots.read(key)) as Content | undefined) : undefined;
}

export const keepThreadCopy = (thread: Thread): Promise<void> => {
  const messages = thread.messages.slice(-THREAD_PAGE);
  const hasOlder = thread.hasOlder || messages.length < thread.messages.length;
  return snapshots.write(threadCopyKey(thread.storyId), { ...thread, messages, hasOlder });
};
