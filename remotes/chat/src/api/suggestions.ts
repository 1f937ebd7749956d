import {
  type ApiError,
  api,
  endpoints,
  idEventSchema,
  isApiError,
  listen,
  newClientId,
  offlineCache,
  request,
  session,
  singleSchema,
  store,
  suggestionSchema,
} from '@liaozhai/shared/runtime';
import type { Message } from '../model/message';
import { isUncertain } from '../model/pendingMessage';
import { type Suggestion, toSuggestion } from '../model/story';
import { runningMessage } from '../model/thread';
import { chatActions, currentUserId, type Suggestions, selectChat } from '../slice';
import { texts } from '../texts';
import { cachedThread, loadThread } from './chatApi';
import { sendPurchase } from './purchases';

const SUGGESTION_COUNT = 3;
const POLL_SECONDS = 1.5;
const TIMEOUT_SECONDS = 60;

const { dispatch } = store;

const schema = singleSchema(suggestionSchema);

/** Suggestions belong to the text of the last message for which they were requested. */
export const suggestionKeyOf = ({ id, variant, length }: Message): string => `${id}:${variant}:${length}`;

const cacheKey = (storyId: string) => `chat.ideas.1.${storyId}`;

const readStored = async (storyId: string) => (await offlineCache.read(cacheKey(storyId))) as Suggestions | undefined;

/** Restores the suggestions that were bought before a reload. A pending order stays under its key and can be requested again. */
export async function restoreSuggestions(storyId: string): Promise<void> {
  const userId = currentUserId();
  const storedSuggestions = await readStored(storyId);
  if (!storedSuggestions || currentUserId() !== userId || selectChat(store.getState()).suggestions[storyId]) return;
  dispatch(chatActions.suggestionsChanged({ storyId, suggestions: withoutPending(storedSuggestions) }));
}

/** Ends a pending state that nothing waits for any more: shows the previous suggestions again, if any. */
const withoutPending = (suggestions: Suggestions): Suggestions =>
  suggestions.status === 'pending'
    ? { ...suggestions, status: suggestions.items.length > 0 ? 'ready' : 'failed' }
    : suggestions;

function storeSuggestions(storyId: string, suggestions: Suggestions) {
  dispatch(chatActions.suggestionsChanged({ storyId, suggestions }));
  void offlineCache.write(cacheKey(storyId), suggestions);
}

/** Hides the suggestions, also after a reload. */
export function closeSuggestions(storyId: string): void {
  const suggestions = selectChat(store.getState()).suggestions[storyId];
  if (suggestions && suggestions.status !== 'failed') storeSuggestions(storyId, { ...suggestions, isClosed: true });
}

/**
 * Requests suggestions for the next line, once per last message unless `replaces` is set. `canPay` is asked before they are bought,
 * and tells the user if not. Rejects with ApiError; resolves to a notice if none can be shown.
 */
export async function requestSuggestions(
  storyId: string,
  price: number | undefined,
  replaces: boolean,
  canPay: (price: number | undefined) => boolean,
): Promise<string | undefined> {
  const userId = currentUserId();
  const thread = await loadThread(storyId);
  // another tab may have bought them meanwhile
  const storedSuggestions = await readStored(storyId);
  const last = thread?.messages.at(-1);
  if (currentUserId() !== userId || !thread?.conversationId || !last || runningMessage(thread)) return undefined;
  const baseKey = suggestionKeyOf(last);
  const shownSuggestions = selectChat(store.getState()).suggestions[storyId];
  const isShown = shownSuggestions?.baseKey === baseKey && shownSuggestions.status !== 'failed';
  if (isShown && (!replaces || shownSuggestions.status === 'pending')) {
    if (shownSuggestions.isClosed) storeSuggestions(storyId, { ...shownSuggestions, isClosed: false });
    return undefined;
  }
  const current = (replaces ? [shownSuggestions] : [storedSuggestions, shownSuggestions]).find(
    (suggestions) => suggestions?.baseKey === baseKey,
  );
  if (replaces || current?.status !== 'ready') {
    // an order that is repeated under its key may have been charged
    if (!current?.clientId && !canPay(price)) return undefined;
    return buySuggestions(storyId, thread.conversationId, price, baseKey, current);
  }
  storeSuggestions(storyId, { ...current, isClosed: false });
  return undefined;
}

/** `previous`: the suggestions for the same message from an earlier request. */
async function buySuggestions(
  storyId: string,
  conversationId: string,
  price: number | undefined,
  baseKey: string,
  previous: Suggestions | undefined,
): Promise<string | undefined> {
  const userId = currentUserId();
  const clientId = previous?.clientId || newClientId();
  const show = (suggestions: Omit<Suggestions, 'baseKey'>) => {
    if (currentUserId() !== userId) return;
    const current = selectChat(store.getState()).suggestions[storyId];
    // the user left the chat meanwhile and has ordered others
    if (suggestions.status !== 'pending' && current && current.clientId !== clientId) return;
    const isClosed = current?.baseKey === baseKey && current.isClosed === true;
    storeSuggestions(storyId, { ...suggestions, baseKey, isClosed });
  };
  // the previous suggestions remain available if this order fails
  const { id, items } = previous ?? { items: [] };
  const showPrevious = (key: string) => show(withoutPending({ baseKey, clientId: key, status: 'pending', id, items }));

  show({ clientId, status: 'pending', id, items });
  // a repeated order may have been charged, so the balance is fetched
  const isRepeated = clientId === previous?.clientId;
  const refund = session.balanceShifted(isRepeated ? 0 : -(price ?? 0));
  try {
    const body = { conversation_id: conversationId, count: SUGGESTION_COUNT };
    const order = await sendPurchase({ storyId, clientId, price }, { url: endpoints.suggestions, body, schema }).catch(
      (cause: unknown) => {
        refund();
        throw cause;
      },
    );
    if (isRepeated) await session.refresh();
    const suggestion = await waitForSuggestion(toSuggestion(order));
    if (suggestion.status === 'failed') refund();
    dispatch(api.util.invalidateTags(['Transaction']));
    const isReady = suggestion.status === 'ready' && suggestion.items.length > 0;
    if (isReady) show({ clientId: '', status: 'ready', id: suggestion.id, items: suggestion.items });
    // a paid order that is still pending is requested again under its key, not bought again
    else showPrevious(suggestion.status === 'pending' ? clientId : '');
    if (isReady) return isOffered(storyId) ? undefined : texts.suggest.late(price ?? 0);
    void session.refresh();
    return texts.suggest.failed;
  } catch (cause) {
    // only the server knows whether it has charged them
    if (isApiError(cause) && cause.kind !== 'unauthenticated') void session.refresh();
    // the first request may have been carried out and charged, so its key is used again
    showPrevious(isApiError(cause) && isUncertain(cause) ? clientId : '');
    throw cause;
  }
}

/** Whether the chat offers its suggestions: no line has been sent since the request, and the last message is the same. */
function isOffered(storyId: string): boolean {
  const last = cachedThread(storyId)?.messages.at(-1);
  const suggestions = selectChat(store.getState()).suggestions[storyId];
  return !last || (suggestions?.baseKey === suggestionKeyOf(last) && !suggestions.isClosed);
}

async function waitForSuggestion(order: Suggestion): Promise<Suggestion> {
  const userId = currentUserId();
  const startedAt = Date.now();
  let suggestion = order;
  // `abs`, so that a clock that is set back does not extend the wait
  while (suggestion.status === 'pending' && Math.abs(Date.now() - startedAt) < TIMEOUT_SECONDS * 1000) {
    await waitForReadyEvent(suggestion.id);
    if (currentUserId() !== userId) throw { kind: 'unauthenticated' } satisfies ApiError;
    suggestion = toSuggestion(await request({ url: endpoints.suggestion(suggestion.id), schema }));
  }
  return suggestion;
}

/** Resolves when the event reports the suggestions as ready, or after a delay without it. */
const waitForReadyEvent = (id: string): Promise<void> =>
  new Promise((resolve) => {
    const finish = () => {
      stop();
      clearTimeout(timer);
      resolve();
    };
    const stop = listen('suggestion.ready', idEventSchema, (event) => String(event.id) === id && finish());
    const timer = setTimeout(finish, POLL_SECONDS * 1000);
  });
