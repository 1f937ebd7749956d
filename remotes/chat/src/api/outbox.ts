import type { SentDto } from '@liaozhai/shared/contract';
import {
  type ApiError,
  api,
  drafts,
  holdReload,
  isApiError,
  onCaughtUpNeeded,
  outboxStore,
  session,
  store,
} from '@liaozhai/shared/runtime';
import { toConversation, withConversation } from '../model/conversation';
import { fromStoredLine, hadNoAnswer, isUncertain, type Line, toStoredLine, wasCutOff } from '../model/pendingMessage';
import { runningMessage, toMessage, withAnswer, withNewest } from '../model/thread';
import { chatActions, selectChat } from '../slice';
import { askLatest, postMessage } from './calls';
import { changeConversations, changeThread, chatApi, selectThread } from './chatApi';
import { catchUp, watchThread } from './threadSync';

/** Not yet on the device, so the outbox does not list them. */
const unsaved = new Map<string, Line>();
let started = false;

const { dispatch } = store;

/** Starts sending what the device's outbox holds; further calls do nothing. */
export function startOutbox(): void {
  if (started) return;
  started = true;
  outboxStore.subscribe(() => void readLines());
  store.subscribe(sendFreed);
  session.onUserChanged((previousId) => {
    dispatch(chatActions.userLeft());
    forgetPauses();
    // what a visitor wrote goes with whoever signs in, a member's words with nobody
    if (previousId !== null) unsaved.clear();
    void readLines();
  });
  onCaughtUpNeeded(settleUnanswered);
  window.addEventListener('online', settleUnanswered);
  window.addEventListener('pagehide', () => leavingChanged(true));
  window.addEventListener('pageshow', () => {
    leavingChanged(false);
    sendWaiting();
  });
  void recoverLines().then(readLines);
}

/** Puts into the outbox what a killed page had only written down. */
export async function recoverLines(): Promise<void> {
  const lost = readJournal();
  if (lost.length === 0) return;
  for (const line of lost) await outboxStore.put(toStoredLine(line));
  writeJournal([]);
}

/** Puts a line on its way: painted at once, kept on the device, sent as soon as it can be. */
export async function writeLine(line: Line): Promise<void> {
  neverTried(line);
  unsaved.set(line.clientId, line);
  writeJournal([...unsaved.values()]);
  dispatch(chatActions.lineWritten(line));
  await outboxStore.put(toStoredLine(line));
  unsaved.delete(line.clientId);
  writeJournal([...unsaved.values()]);
  await drain(line.storyId);
}

/** Sends a failed line again, under the same key; one that is no longer the user's to send is left alone. */
export async function retryLine({ clientId }: Line): Promise<void> {
  const line = shownLine(clientId);
  if (line?.state !== 'failed') return;
  await keepLine({ ...line, state: 'waiting', error: undefined });
  await drain(line.storyId);
}

/** Takes a line off its way; false where it can no longer be held back. The caller decides what becomes of its words. */
export function removeLine(clientId: string): boolean {
  const line = shownLine(clientId);
  if (!line || line.state === 'sending') return false;
  dispatch(chatActions.lineRemoved(clientId));
  void outboxStore.remove(clientId);
  return true;
}

/** The network is back, by all signs: what never got through goes now, what timed out is looked for and else still offered. */
function settleUnanswered(): void {
  if (currentUserId() === null) return;
  for (const line of selectChat(store.getState()).lines) {
    if (wasCutOff(line)) void retryLine(line);
    else if (hadNoAnswer(line)) void lookFor(line);
  }
  sendWaiting();
}

async function lookFor(line: Line): Promise<void> {
  if ((await fateOf(line)) === 'received') await settleLine(line);
}

async function readLines(): Promise<void> {
  const reader = currentUserId();
  const entries = await outboxStore.all();
  // the change of user has asked for the other's lines already
  if (currentUserId() !== reader) return;
  const shown = new Map(selectChat(store.getState()).lines.map((line) => [line.clientId, line]));
  const stored = entries.map((entry) => {
    const line = fromStoredLine(entry);
    return shown.get(line.clientId)?.state === 'sending' ? { ...line, state: 'sending' as const } : line;
  });
  const missing = [...unsaved.values()].filter((line) => !entries.some((entry) => entry.clientId === line.clientId));
  dispatch(chatActions.linesRead([...stored, ...missing]));
  sendWaiting();
}

/** Busy conversations are tried again after this long, should nobody have told that they are free. */
const BUSY_RETRY_SECONDS = 3;

/** Never tried yet, so the server cannot have them. */
const untried = new Set<string>();
const draining = new Map<string, { again: boolean; done: Promise<void> }>();
/** Epoch ms, by story. */
const notBefore = new Map<string, number>();
/** A page that goes takes its requests with it; their failing says nothing of the line. */
let isLeaving = false;

const neverTried = (line: Line): void => void untried.add(line.clientId);

const forgetPauses = (): void => notBefore.clear();

function leavingChanged(leaves: boolean): void {
  isLeaving = leaves;
}

const shownLine = (clientId: string): Line | undefined =>
  selectChat(store.getState()).lines.find((line) => line.clientId === clientId);

/** Sends whatever waits, story by story. */
function sendWaiting(): void {
  for (const storyId of waitingStories()) void drain(storyId);
}

/** Stories whose next line waits for the end of a reply. */
let held = new Set<string>();

/** Sends the next line of each story whose reply has ended since the last look, be its chat shown or not. */
function sendFreed(): void {
  const before = held;
  const waiting = waitingStories();
  held = new Set([...waiting].filter(isReplying));
  for (const storyId of waiting) if (before.has(storyId) && !held.has(storyId)) void drain(storyId);
}

function waitingStories(): Set<string> {
  const waiting = selectChat(store.getState()).lines.filter((line) => line.state === 'waiting');
  return new Set(waiting.map((line) => line.storyId));
}

function isReplying(storyId: string): boolean {
  const thread = selectThread(storyId)(store.getState()).data;
  return thread !== undefined && runningMessage(thread) !== undefined;
}

/** Changes a line on the screen and on the device. */
async function keepLine(line: Line): Promise<void> {
  dispatch(chatActions.lineChanged(line));
  await outboxStore.put(toStoredLine(line));
}

/** One story's lines go one after another, and one tab at a time sends them; calls meanwhile make one more round. */
function drain(storyId: string): Promise<void> {
  const under = draining.get(storyId);
  if (under) {
    under.again = true;
    return under.done;
  }
  const round = { again: false, done: Promise.resolve() };
  draining.set(storyId, round);
  round.done = holdingLock(`liaozhai-outbox-${storyId}`, async () => {
    do {
      round.again = false;
      await sendAll(storyId);
    } while (round.again);
  }).finally(() => draining.delete(storyId));
  return round.done;
}

async function sendAll(storyId: string): Promise<void> {
  let goesOn = true;
  while (goesOn && maySend(storyId)) {
    const sender = currentUserId();
    // Read anew each time: another tab may have sent or taken back a line meanwhile.
    const line = (await outboxStore.all()).find((entry) => entry.storyId === storyId && entry.state === 'waiting');
    goesOn = line !== undefined && currentUserId() === sender && (await deliver(fromStoredLine(line)));
  }
}

/** While a reply is being written the server would refuse, and after a refusal it wants to be left alone for a while. */
function maySend(storyId: string): boolean {
  const isPaused = Date.now() < (notBefore.get(storyId) ?? 0);
  return currentUserId() !== null && navigator.onLine && !isLeaving && !isPaused && !isReplying(storyId);
}

function pause(storyId: string, seconds: number): void {
  notBefore.set(storyId, Date.now() + seconds * 1000);
  setTimeout(() => void drain(storyId), seconds * 1000 + 50);
}

/** True when the story's next line may follow. A line stays with whoever wrote it, and goes on when they are back. */
async function deliver(line: Line): Promise<boolean> {
  const sender = currentUserId();
  // taken back while the outbox was being read, or not shown yet and asked for again once it is
  if (!shownLine(line.clientId)) return false;
  dispatch(chatActions.lineChanged({ ...line, state: 'sending', error: undefined }));
  const fate = untried.delete(line.clientId) ? 'absent' : await fateOf(line);
  if (currentUserId() !== sender) return false;
  if (fate === 'received') return settled(line);
  if (fate === 'unknown') return refused(line, { kind: 'offline' });
  try {
    await sendLine(line);
    return true;
  } catch (cause) {
    if (!isApiError(cause)) throw cause;
    if (currentUserId() !== sender) return false;
    const isReceived = !isBusy(cause) && isUncertain(cause) && (await fateOf(line)) === 'received';
    if (currentUserId() !== sender) return false;
    if (isReceived) return settled(line);
    return refused(line, cause);
  }
}

async function settled(line: Line): Promise<boolean> {
  await settleLine(line);
  return true;
}

/** What can still go by itself waits; everything else is the reader's to decide. True when the next line may follow. */
async function refused(line: Line, error: ApiError): Promise<boolean> {
  if (error.kind === 'tooOften') {
    const until = Date.now() + error.retryAfterSeconds * 1000;
    dispatch(chatActions.patienceAsked({ storyId: line.storyId, until }));
    pause(line.storyId, error.retryAfterSeconds);
  }
  if (isBusy(error)) pause(line.storyId, BUSY_RETRY_SECONDS);
  if (isBusy(error) || error.kind === 'tooOften' || isLeaving || !navigator.onLine) {
    dispatch(chatActions.lineChanged({ ...line, state: 'waiting', error }));
    return false;
  }
  if (error.kind === 'invalid' && error.fields.suggestion_id) {
    // The idea has expired; the words are the reader's all the same.
    await keepLine({ ...line, suggestionId: undefined, state: 'waiting', error: undefined });
    return true;
  }
  // A conversation that is gone is begun anew by the same words.
  const conversationId = error.kind === 'notFound' ? null : line.conversationId;
  await keepLine({ ...line, conversationId, state: 'failed', error });
  return true;
}

const isBusy = (error: ApiError) => error.kind === 'conflict' && error.code.includes('busy');

const RECENT = 20;

export const currentUserId = (): string | null => {
  const now = session.current();
  return now.status === 'member' ? now.user.id : null;
};

/** Sends a line with its price shown as spent, and merges the answer. Rejects with ApiError, the price given back. */
async function sendLine(line: Line): Promise<void> {
  const sender = currentUserId();
  const price = chatApi.endpoints.chatGetStory.select(line.storyId)(store.getState()).data?.pricePerMessage ?? 0;
  const giveBack = session.balanceShifted(-price);
  const release = holdReload('a message is on its way');
  try {
    const sent = await postMessage(line);
    if (currentUserId() === sender) await takeAnswer(line, sent);
  } catch (cause) {
    giveBack();
    throw cause;
  } finally {
    release();
  }
}

async function takeAnswer(line: Line, { message, reply, conversation, balance }: SentDto): Promise<void> {
  const conversationId = String(conversation?.id ?? message.conversation_id);
  if (balance !== undefined) session.userPatched({ balance });
  const owner = currentUserId();
  await threadLoaded(line.storyId);
  if (currentUserId() !== owner) return;
  const messages = [message, ...(reply ? [reply] : [])].map(toMessage);
  dispatch(changeThread(line.storyId, (thread) => withAnswer(thread, conversationId, messages)));
  watchThread(line.storyId);
  forgetWhatChanged(line);
  if (conversation) dispatch(changeConversations((pages) => withConversation(pages, toConversation(conversation))));
  await outboxStore.remove(line.clientId);
  // The answer may be ahead of changes that have not been heard of.
  if (selectThread(line.storyId)(store.getState()).data?.ahead.length) await catchUp(line.storyId);
}

/** A line costs points, and the first one gives its story a conversation. */
function forgetWhatChanged({ conversationId, storyId }: Line): void {
  const story = { type: 'Story' as const, id: storyId };
  dispatch(api.util.invalidateTags(conversationId ? ['Transaction'] : ['Transaction', story]));
}

/** A line must not leave the screen before its thread is there to show it. */
async function threadLoaded(storyId: string): Promise<void> {
  if (selectThread(storyId)(store.getState()).data) return;
  await dispatch(chatApi.endpoints.chatGetThread.initiate(storyId, { subscribe: false }));
}

/** What the server knows of a line: it has it, it does not, or it cannot be asked. */
async function fateOf(line: Line): Promise<'received' | 'absent' | 'unknown'> {
  const where = line.conversationId ? { conversation_id: line.conversationId } : { story_id: line.storyId };
  const asker = currentUserId();
  try {
    const page = await askLatest({ ...where, limit: RECENT });
    // what one user was told must not reach the thread of another
    if (currentUserId() !== asker) return 'unknown';
    if (!page.messages.some((message) => message.clientId === line.clientId)) return 'absent';
    dispatch(changeThread(line.storyId, (thread) => withNewest(thread, page)));
    watchThread(line.storyId);
    return 'received';
  } catch (cause) {
    if (!isApiError(cause)) throw cause;
    return cause.kind === 'notFound' ? 'absent' : 'unknown';
  }
}

/** Clears away a line that the server turned out to have; what it cost is read from the server. */
async function settleLine(line: Line): Promise<void> {
  const owner = currentUserId();
  await threadLoaded(line.storyId);
  if (currentUserId() !== owner) return;
  forgetWhatChanged(line);
  await outboxStore.remove(line.clientId);
  await session.refresh();
}

const KEY = 'chat.journal';

/*
 * The outbox is written in some milliseconds, and a page can be killed within them. So a line goes first, at once, into
 * the drafts, which follow their owner and go with them like the outbox itself.
 */

/** Writes down, before returning, which lines the outbox does not have yet. */
export function writeJournal(lines: Line[]): void {
  drafts.write(KEY, lines.length > 0 ? JSON.stringify(lines) : '');
  drafts.flush();
}

/** Lines that a killed page did not get into the outbox. */
export function readJournal(): Line[] {
  const text = drafts.read(KEY);
  if (text === '') return [];
  try {
    const lines: unknown = JSON.parse(text);
    return Array.isArray(lines) ? lines : [];
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    return [];
  }
}

/** Runs `work` while no other tab holds the lock; http pages have no locks, and there the server's idempotency keys suffice. */
const holdingLock = (name: string, work: () => Promise<void>): Promise<void> =>
  navigator.locks ? navigator.locks.request(name, work) : work();
