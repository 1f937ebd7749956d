import {
  api,
  idEventSchema,
  isApiError,
  listen,
  newClientId,
  offlineCache,
  session,
  store,
} from '@liaozhai/shared/runtime';
import { isUncertain } from '../model/pendingMessage';
import type { Suggestion } from '../model/story';
import { type Message, runningMessage } from '../model/thread';
import { chatActions, currentUserId, type Suggestions, selectChat } from '../slice';
import { askSuggestion } from './calls';
import { loadedThread } from './chatApi';
import { type Purchase, postSuggestion } from './purchases';

const COUNT = 3;
const LOOK_SECONDS = 1.5;
const WAIT_SECONDS = 60;

const { dispatch } = store;

/** Suggestions belong to the last message in the version at which they were requested. */
export const suggestionKeyOf = (message: Message): string => `${message.id}:${message.version}`;

const keptKey = (storyId: string) => `chat.ideas.1.${storyId}`;

const readKept = async (storyId: string) => (await offlineCache.read(keptKey(storyId))) as Suggestions | undefined;

/** Restores the suggestions that were bought before a reload. A pending order stays under its key and can be requested again. */
export async function recallSuggestions(storyId: string): Promise<void> {
  const buyer = currentUserId();
  const stored = await readKept(storyId);
  if (!stored || currentUserId() !== buyer || selectChat(store.getState()).suggestions[storyId]) return;
  dispatch(chatActions.suggestionsChanged({ storyId, suggestions: settled(stored) }));
}

/** Ends a pending state that nothing waits for any more: shows the previous suggestions again, if any. */
const settled = (suggestions: Suggestions): Suggestions =>
  suggestions.status === 'pending'
    ? { ...suggestions, status: suggestions.items.length > 0 ? 'ready' : 'failed' }
    : suggestions;

function keep(storyId: string, suggestions: Suggestions) {
  dispatch(chatActions.suggestionsChanged({ storyId, suggestions }));
  void offlineCache.write(keptKey(storyId), suggestions);
}

/** Hides the suggestions, also after a reload. */
export function closeSuggestions(storyId: string): void {
  const suggestions = selectChat(store.getState()).suggestions[storyId];
  if (suggestions && suggestions.status !== 'failed') keep(storyId, { ...suggestions, isClosed: true });
}

/**
 * Requests suggestions for the next line, once per last message unless `others` is set. Rejects with ApiError; resolves to false
 * if none were produced.
 */
export async function askForSuggestions(storyId: string, price: number | undefined, others = false): Promise<boolean> {
  const buyer = currentUserId();
  const thread = await loadedThread(storyId);
  // another tab may have bought them meanwhile
  const stored = await readKept(storyId);
  const last = thread?.messages.at(-1);
  if (currentUserId() !== buyer || !thread?.conversationId || !last || runningMessage(thread)) return true;
  const baseKey = suggestionKeyOf(last);
  const shown = selectChat(store.getState()).suggestions[storyId];
  const isShown = shown?.baseKey === baseKey && shown.status !== 'failed';
  if (isShown && (!others || shown.status === 'pending')) {
    if (shown.isClosed) keep(storyId, { ...shown, isClosed: false });
    return true;
  }
  const current = (others ? [shown] : [stored, shown]).find((suggestions) => suggestions?.baseKey === baseKey);
  if (others || current?.status !== 'ready') {
    return buy({ storyId, price, conversationId: thread.conversationId, baseKey, known: current });
  }
  keep(storyId, { ...current, isClosed: false });
  return true;
}

interface Order extends Pick<Purchase, 'storyId' | 'price'> {
  conversationId: string;
  baseKey: string;
  /** Suggestions for the same message from an earlier request. */
  known: Suggestions | undefined;
}

async function buy({ storyId, price, conversationId, baseKey, known }: Order): Promise<boolean> {
  const buyer = currentUserId();
  const clientId = known?.clientId || newClientId();
  const show = (suggestions: Omit<Suggestions, 'baseKey'>) => {
    if (currentUserId() !== buyer) return;
    const former = selectChat(store.getState()).suggestions[storyId];
    // the user left the chat meanwhile and has ordered others
    if (suggestions.status !== 'pending' && former && former.clientId !== clientId) return;
    const isClosed = former?.baseKey === baseKey && former.isClosed === true;
    keep(storyId, { ...suggestions, baseKey, isClosed });
  };
  // the previous suggestions remain available if this order fails
  const { id, items } = known ?? { items: [] };
  const showFormer = (key: string) => show(settled({ baseKey, clientId: key, status: 'pending', id, items }));

  show({ clientId, status: 'pending', id, items });
  try {
    const { asked, giveBack } = await order({ storyId, clientId, price }, conversationId, clientId === known?.clientId);
    const suggestion = await untilDone(asked);
    if (suggestion.status === 'failed') giveBack();
    dispatch(api.util.invalidateTags(['Transaction']));
    const came = suggestion.status === 'ready' && suggestion.items.length > 0;
    if (came) show({ clientId: '', status: 'ready', id: suggestion.id, items: suggestion.items });
    // a paid order that is still pending is requested again under its key, not bought again
    else showFormer(suggestion.status === 'pending' ? clientId : '');
    return came;
  } catch (cause) {
    // the first request may have been carried out and charged, so its key is used again
    showFormer(isApiError(cause) && isUncertain(cause) ? clientId : '');
    throw cause;
  }
}

/** Orders suggestions and deducts their price optimistically. A repeated order may have been charged, so the balance is fetched. */
async function order(purchase: Purchase, conversationId: string, isRepeated: boolean) {
  const giveBack = session.balanceShifted(isRepeated ? 0 : -(purchase.price ?? 0));
  try {
    const answer = await postSuggestion(purchase, conversationId, COUNT);
    if (isRepeated) await session.refresh();
    return { asked: answer, giveBack };
  } catch (cause) {
    giveBack();
    throw cause;
  }
}

async function untilDone(asked: Suggestion): Promise<Suggestion> {
  const askedAt = Date.now();
  let suggestion = asked;
  // `abs`, so that a clock that is set back does not extend the wait
  while (suggestion.status === 'pending' && Math.abs(Date.now() - askedAt) < WAIT_SECONDS * 1000) {
    await readyOrLater(suggestion.id);
    suggestion = await askSuggestion(suggestion.id);
  }
  return suggestion;
}

/** Resolves when the event reports the suggestions as ready, or after a delay without it. */
const readyOrLater = (id: string): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      stop();
      clearTimeout(timer);
      resolve();
    };
    const stop = listen('suggestion.ready', idEventSchema, (event) => String(event.id) === id && done());
    const timer = setTimeout(done, LOOK_SECONDS * 1000);
  });
