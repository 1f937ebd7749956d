import { type ApiError, isApiError, onCaughtUpNeeded, outboxStore, session, store } from '@liaozhai/shared/runtime';
import { selectThread } from '../api';
import { fromStoredLine, hadNoAnswer, isUncertain, type Line, runningMessage, toStoredLine } from '../model';
import { chatActions, selectChat } from '../slice';
import { readJournal, writeJournal } from './journal';
import { holdingLock } from './lock';
import { currentUserId, fateOf, sendLine, settleLine } from './sendLine';

/** Busy conversations are tried again after this long, should nobody have told that they are free. */
const BUSY_RETRY_SECONDS = 3;

/** Never tried yet, so the server cannot have them. */
const untried = new Set<string>();
/** Not yet on the device, so the outbox does not list them. */
const unsaved = new Map<string, Line>();
const draining = new Map<string, { again: boolean; done: Promise<void> }>();
/** Epoch ms, by story. */
const notBefore = new Map<string, number>();
let started = false;
/** A page that goes takes its requests with it; their failing says nothing of the line. */
let isLeaving = false;

const { dispatch } = store;

/** Starts sending what the device's outbox holds; further calls do nothing. */
export function startOutbox(): void {
  if (started) return;
  started = true;
  outboxStore.subscribe(() => void readLines());
  session.onUserChanged(() => {
    dispatch(chatActions.userLeft());
    notBefore.clear();
    void readLines();
  });
  onCaughtUpNeeded(sendUnanswered);
  window.addEventListener('online', sendUnanswered);
  window.addEventListener('pagehide', () => {
    isLeaving = true;
  });
  window.addEventListener('pageshow', () => {
    isLeaving = false;
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
  untried.add(line.clientId);
  unsaved.set(line.clientId, line);
  writeJournal([...unsaved.values()]);
  dispatch(chatActions.lineWritten(line));
  await outboxStore.put(toStoredLine(line));
  unsaved.delete(line.clientId);
  writeJournal([...unsaved.values()]);
  await drain(line.storyId);
}

/** Sends a failed line again, under the same key. */
export async function retryLine(line: Line): Promise<void> {
  await keep({ ...line, state: 'waiting', error: undefined });
  await drain(line.storyId);
}

/** Takes a line off its way; the caller decides what becomes of its words. */
export async function removeLine(clientId: string): Promise<void> {
  dispatch(chatActions.lineRemoved(clientId));
  await outboxStore.remove(clientId);
}

/** Sends whatever waits, story by story. */
export function sendWaiting(): void {
  const waiting = selectChat(store.getState()).lines.filter((line) => line.state === 'waiting');
  for (const storyId of new Set(waiting.map((line) => line.storyId))) void drain(storyId);
}

/** The network is back, by all signs: what had no answer need not wait for the reader's tap. */
function sendUnanswered(): void {
  const { lines } = selectChat(store.getState());
  for (const line of lines) if (hadNoAnswer(line)) void retryLine(line);
  sendWaiting();
}

async function readLines(): Promise<void> {
  const entries = await outboxStore.all();
  const shown = new Map(selectChat(store.getState()).lines.map((line) => [line.clientId, line]));
  const stored = entries.map((entry) => {
    const line = fromStoredLine(entry);
    return shown.get(line.clientId)?.state === 'sending' ? { ...line, state: 'sending' as const } : line;
  });
  const missing = [...unsaved.values()].filter((line) => !entries.some((entry) => entry.clientId === line.clientId));
  dispatch(chatActions.linesRead([...stored, ...missing]));
  sendWaiting();
}

async function keep(line: Line): Promise<void> {
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
    // Read anew each time: another tab may have sent or taken back a line meanwhile.
    const line = (await outboxStore.all()).find((entry) => entry.storyId === storyId && entry.state === 'waiting');
    goesOn = line !== undefined && (await deliver(fromStoredLine(line)));
  }
}

/** While a reply is being written the server would refuse, and after a refusal it wants to be left alone for a while. */
function maySend(storyId: string): boolean {
  const thread = selectThread(storyId)(store.getState()).data;
  const isBusy = thread !== undefined && runningMessage(thread) !== undefined;
  return currentUserId() !== null && navigator.onLine && !isBusy && Date.now() >= (notBefore.get(storyId) ?? 0);
}

function pause(storyId: string, seconds: number): void {
  notBefore.set(storyId, Date.now() + seconds * 1000);
  setTimeout(() => void drain(storyId), seconds * 1000 + 50);
}

/** True when the story's next line may follow. */
async function deliver(line: Line): Promise<boolean> {
  const sender = currentUserId();
  dispatch(chatActions.lineChanged({ ...line, state: 'sending', error: undefined }));
  const fate = untried.delete(line.clientId) ? 'absent' : await fateOf(line);
  if (fate === 'received') return settled(line);
  if (fate === 'unknown') return refused(line, { kind: 'offline' });
  try {
    await sendLine(line);
    return true;
  } catch (cause) {
    if (!isApiError(cause)) throw cause;
    // The line stays with whoever wrote it, and goes on when they are back.
    if (currentUserId() !== sender) return false;
    if (!isBusy(cause) && isUncertain(cause) && (await fateOf(line)) === 'received') return settled(line);
    return refused(line, cause);
  }
}

async function settled(line: Line): Promise<boolean> {
  await settleLine(line);
  return true;
}

/** What can still go by itself waits; everything else is the reader's to decide. True when the next line may follow. */
async function refused(line: Line, error: ApiError): Promise<boolean> {
  if (error.kind === 'tooOften') pause(line.storyId, error.retryAfterSeconds);
  if (isBusy(error)) pause(line.storyId, BUSY_RETRY_SECONDS);
  if (isBusy(error) || error.kind === 'tooOften' || isLeaving || !navigator.onLine) {
    dispatch(chatActions.lineChanged({ ...line, state: 'waiting', error }));
    return false;
  }
  if (error.kind === 'invalid' && error.fields.suggestion_id) {
    // The idea has expired; the words are the reader's all the same.
    await keep({ ...line, suggestionId: undefined, state: 'waiting', error: undefined });
    return true;
  }
  // A conversation that is gone is begun anew by the same words.
  const conversationId = error.kind === 'notFound' ? null : line.conversationId;
  await keep({ ...line, conversationId, state: 'failed', error });
  return true;
}

const isBusy = (error: ApiError) => error.kind === 'conflict' && error.code.includes('busy');
