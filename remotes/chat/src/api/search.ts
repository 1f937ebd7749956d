import type { CursorPage, MessageDto } from '@liaozhai/shared/contract';
import { api, cursorPageSchema, endpoints, isApiError, messageSchema, request } from '@liaozhai/shared/runtime';
import type { Newer, Older } from '../components/ChatLog';
import { type Message, toMessage } from '../model/message';
import { withOlder } from '../model/thread';
import { cachedThread, changeThread } from './chatApi';
import { fetchLatest, THREAD_PAGE, threadSyncs } from './threadSync';

/** Position of a message in its conversation. */
export type Place = Pick<Message, 'id' | 'seq' | 'createdAt'>;

const schema = cursorPageSchema(messageSchema);

/** Skips messages without a readable seq, to which the chat cannot go. */
const toPlaces = ({ items }: CursorPage<MessageDto>): Place[] =>
  items.map((dto) => toMessage(dto)).filter(({ seq }) => seq > 0);

/** Finds messages that contain the words, in the order of the conversation. Rejects with ApiError. */
export const findMessages = async (conversation_id: string, words: string): Promise<Place[]> =>
  toPlaces(await request({ url: endpoints.findMessages, params: { conversation_id, q: words }, schema }));

const searchApi = api.injectEndpoints({
  overrideExisting: true,
  endpoints: (build) => ({
    chatGetDays: build.query<Place[], string>({
      query: (conversation_id) => ({ url: endpoints.messageDays, params: { conversation_id }, schema }),
      transformResponse: (page: CursorPage<MessageDto>) => toPlaces(page).filter(({ createdAt }) => createdAt !== ''),
    }),
  }),
});

/** Loads the first message of each day, the latest day first. */
export const { useChatGetDaysQuery } = searchApi;

/** A part of a conversation that is not connected to the loaded thread and grows in both directions. */
export interface LogWindow {
  messages: Message[];
  older: Older;
  newer: Newer;
}

export interface SearchPorts {
  storyId: string;
  conversationId: string;
  /** Once aborted, the window is not opened. */
  signal: AbortSignal;
  /** Shows another window; null shows the thread itself again. */
  show: (next: (shown: LogWindow | null) => LogWindow | null) => void;
}

type Direction = 'older' | 'newer';

/**
 * Opens a window around a place that is not loaded. Once the window reaches the loaded messages, it is merged into the thread.
 * Resolves to the message at the place, or the next one after it; to undefined if it was aborted. Rejects with ApiError.
 */
export async function openWindow(place: Place, ports: SearchPorts): Promise<Message | undefined> {
  const { storyId, conversationId, signal, show } = ports;
  const fetchBefore = (before: number) => fetchLatest({ conversation_id: conversationId, before, limit: THREAD_PAGE });
  const firstPage = await fetchBefore(place.seq + THREAD_PAGE / 2);
  if (signal.aborted) return undefined;
  const state = { messages: firstPage.messages, version: firstPage.version, hasOlder: firstPage.hasMore };
  const problems: Record<Direction, unknown> = { older: undefined, newer: undefined };
  const loadingDirections = new Set<Direction>();
  let isClosed = false;
  let lastState: LogWindow | null | undefined;

  /** Replaces the window's last state. Another window that is shown since then stays. */
  function replace(next: LogWindow | null): void {
    const former = lastState;
    lastState = next;
    show((shown) => (former === undefined || shown === former ? next : shown));
  }

  const leave = () => {
    isClosed = true;
    replace(null);
  };

  /** Merges the window into the thread. Returns false while there is a gap between them. */
  function mergeIntoThread(): boolean {
    const thread = cachedThread(storyId);
    const firstSeq = thread?.messages[0]?.seq;
    const lastSeq = state.messages.at(-1)?.seq;
    if (!thread || thread.conversationId !== conversationId || firstSeq === undefined || lastSeq === undefined)
      return true;
    if (lastSeq < firstSeq - 1) return false;
    const page = { conversationId, messages: state.messages, version: state.version, hasMore: state.hasOlder };
    changeThread(storyId, (current) => withOlder(current, page, firstSeq));
    if (state.version < thread.version) void threadSyncs.of(storyId)?.catchUp();
    return true;
  }

  async function extend(direction: Direction): Promise<void> {
    const [oldestSeq, newestSeq] = [state.messages[0]?.seq ?? 0, state.messages.at(-1)?.seq ?? 0];
    const page = await fetchBefore(direction === 'older' ? oldestSeq : newestSeq + 1 + THREAD_PAGE);
    if (isClosed) return;
    const newMessages = page.messages.filter(({ seq }) => (direction === 'older' ? seq < oldestSeq : seq > newestSeq));
    state.messages = direction === 'older' ? [...newMessages, ...state.messages] : [...state.messages, ...newMessages];
    state.version = Math.min(state.version, page.version);
    if (direction === 'older') state.hasOlder = page.hasMore && newMessages.length > 0;
    // without newer messages the window has reached the end of the conversation
    if (direction === 'newer' && (mergeIntoThread() || newMessages.length === 0)) leave();
    else publish();
  }

  const clearError = () => {
    problems.newer = undefined;
  };

  function load(direction: Direction): void {
    if (isClosed || loadingDirections.has(direction) || problems[direction] !== undefined) return;
    loadingDirections.add(direction);
    extend(direction)
      .catch((cause: unknown) => {
        if (!isApiError(cause)) throw cause;
        problems[direction] = cause;
        // no row at the end can show the error, so the next scroll tries again
        if (direction === 'newer') setTimeout(clearError, RETRY_MS);
        publish();
      })
      .finally(() => loadingDirections.delete(direction));
  }

  function publish(): void {
    if (isClosed) return;
    const retry = () => {
      problems.older = undefined;
      load('older');
    };
    replace({
      messages: state.messages,
      older: { hasOlder: state.hasOlder, error: problems.older, load: () => load('older'), retry },
      newer: { load: () => load('newer'), leave },
    });
  }

  if (mergeIntoThread()) leave();
  else publish();
  return state.messages.find(({ seq }) => seq >= place.seq);
}

const RETRY_MS = 3000;
