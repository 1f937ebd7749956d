import { cursorPageSchema, endpoints, isApiError, messageSchema, request, store } from '@liaozhai/shared/runtime';
import type { Newer, Older } from '../components/ChatLog';
import { type Message, type Thread, withOlder } from '../model/thread';
import { askLatest, THREAD_PAGE } from './calls';
import { changeThread, selectThread } from './chatApi';
import { threadSyncs } from './threadSync';

/** Position of a message in its conversation. */
export interface Place {
  id: string;
  seq: number;
  /** ISO */
  createdAt: string;
}

const placesSchema = cursorPageSchema(messageSchema);

async function askPlaces(url: string, params: Record<string, string>): Promise<Place[]> {
  const { items } = await request({ url, params, schema: placesSchema });
  // a message without a readable seq cannot be navigated to
  return items.flatMap(({ id, seq, created_at }) =>
    seq == null ? [] : [{ id: String(id), seq, createdAt: created_at ?? '' }],
  );
}

/** Finds messages that contain the words, in the order of the conversation. Rejects with ApiError. */
export const findMessages = (conversationId: string, words: string): Promise<Place[]> =>
  askPlaces(endpoints.findMessages, { conversation_id: conversationId, q: words });

/** Loads the first message of each day, the latest day first. Rejects with ApiError. */
export async function askDays(conversationId: string): Promise<Place[]> {
  const days = await askPlaces(endpoints.messageDays, { conversation_id: conversationId });
  return days.filter(({ createdAt }) => createdAt !== '');
}

/** A part of a conversation that is not connected to the loaded thread and grows in both directions. */
export interface LogWindow {
  messages: Message[];
  older: Older;
  newer: Newer;
}

interface SearchPorts {
  storyId: string;
  /** Shows the window's current state; null shows the thread itself again. */
  show: (window: LogWindow | null) => void;
}

type Way = 'older' | 'newer';

const threadOf = (storyId: string): Thread | undefined => selectThread(storyId)(store.getState()).data;

/**
 * Opens a window around a place that is not loaded. Once the window reaches the loaded messages, it is merged into the thread.
 * Resolves to the message at the place, or the next one after it. Rejects with ApiError.
 */
export async function openWindow(
  conversationId: string,
  place: Place,
  ports: SearchPorts,
): Promise<Message | undefined> {
  const { storyId, show } = ports;
  const ask = (before: number) => askLatest({ conversation_id: conversationId, before, limit: THREAD_PAGE });
  const first = await ask(place.seq + THREAD_PAGE / 2);
  const state = { messages: first.messages, version: first.version, hasOlder: first.hasMore };
  const problems: Record<Way, unknown> = { older: undefined, newer: undefined };
  const underWay = new Set<Way>();
  let isOver = false;

  const leave = () => {
    isOver = true;
    show(null);
  };

  /** Merges the window into the thread. Returns false while there is a gap between them. */
  function join(): boolean {
    const thread = threadOf(storyId);
    const before = thread?.messages[0]?.seq;
    const last = state.messages.at(-1)?.seq;
    if (!thread || thread.conversationId !== conversationId || before === undefined || last === undefined) return true;
    if (last < before - 1) return false;
    const page = { conversationId, messages: state.messages, version: state.version, hasMore: state.hasOlder };
    store.dispatch(changeThread(storyId, (now) => withOlder(now, page, before)));
    if (state.version < thread.version) void threadSyncs.catchUp(storyId);
    return true;
  }

  async function extend(way: Way): Promise<void> {
    const [oldest, newest] = [state.messages[0]?.seq ?? 0, state.messages.at(-1)?.seq ?? 0];
    const page = await ask(way === 'older' ? oldest : newest + 1 + THREAD_PAGE);
    if (isOver) return;
    const added = page.messages.filter(({ seq }) => (way === 'older' ? seq < oldest : seq > newest));
    state.messages = way === 'older' ? [...added, ...state.messages] : [...state.messages, ...added];
    state.version = Math.min(state.version, page.version);
    if (way === 'older') state.hasOlder = page.hasMore && added.length > 0;
    // without newer messages the window has reached the end of the conversation
    if (way === 'newer' && (join() || added.length === 0)) leave();
    else publish();
  }

  const forget = () => {
    problems.newer = undefined;
  };

  function load(way: Way): void {
    if (isOver || underWay.has(way) || problems[way] !== undefined) return;
    underWay.add(way);
    extend(way)
      .catch((cause: unknown) => {
        if (!isApiError(cause)) throw cause;
        problems[way] = cause;
        // no row at the end can show the error, so the next scroll tries again
        if (way === 'newer') setTimeout(forget, RETRY_MS);
        publish();
      })
      .finally(() => underWay.delete(way));
  }

  function publish(): void {
    if (isOver) return;
    const retry = () => {
      problems.older = undefined;
      load('older');
    };
    show({
      messages: state.messages,
      older: { hasOlder: state.hasOlder, error: problems.older, load: () => load('older'), retry },
      newer: { load: () => load('newer'), leave },
    });
  }

  if (join()) leave();
  else publish();
  return state.messages.find(({ seq }) => seq >= place.seq);
}

const RETRY_MS = 3000;
