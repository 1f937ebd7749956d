import { type ApiError, isApiError, outboxStore, store, withLock } from '@liaozhai/shared/runtime';
import { selectThread } from '../api';
import { fromStoredLine, isUncertain, type Line, runningMessage, toStoredLine } from '../model';
import { chatActions, selectChat } from '../slice';
import { currentUserId, fateOf, sendLine, settleLine } from './sendLine';

/** Busy conversations are tried again after this long, should nobody have told that they are free. */
const BUSY_RETRY_SECONDS = 3;

/** Never tried yet, so the server cannot have them. */
const untried = new Set<string>();
const draining = new Map<string, { again: boolean; done: Promise<void> }>();
/** Epoch ms, by story. */
const notBefore = new Map<string, number>();
/** A page that goes takes its requests with it; their failing says nothing of the line. */
let isLeaving = false;

const { dispatch } = store;

export const neverTried = (line: Line): void => void untried.add(line.clientId);

export const forgetPauses = (): void => notBefore.clear();

export function leavingChanged(leaves: boolean): void {
  isLeaving = leaves;
}

export const shownLine = (clientId: string): Line | undefined =>
  selectChat(store.getState()).lines.find((line) => line.clientId === clientId);

/** Sends whatever waits, story by story. */
export function sendWaiting(): void {
  for (const storyId of waitingStories()) void drain(storyId);
}

/** Stories whose next line waits for the end of a reply. */
let held = new Set<string>();

/** Sends the next line of each story whose reply has ended since the last look, be its chat shown or not. */
export function sendFreed(): void {
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
export async function keepLine(line: Line): Promise<void> {
  dispatch(chatActions.lineChanged(line));
  await outboxStore.put(toStoredLine(line));
}

/** One story's lines go one after another, and one tab at a time sends them; calls meanwhile make one more round. */
export function drain(storyId: string): Promise<void> {
  const under = draining.get(storyId);
  if (under) {
    under.again = true;
    return under.done;
  }
  const round = { again: false, done: Promise.resolve() };
  draining.set(storyId, round);
  round.done = withLock(`liaozhai-outbox-${storyId}`, async () => {
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
