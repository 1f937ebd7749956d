import { type ApiError, isApiError, onCaughtUpNeeded, outboxStore, session, store } from '@liaozhai/shared/runtime';
import { fromStoredLine, isUncertain, type Line, toStoredLine } from '../model';
import { chatActions, selectChat } from '../slice';
import { holdingLock } from './lock';
import { currentUserId, fateOf, sendLine, settleLine } from './sendLine';

/** Busy conversations are tried again after this long, should nobody have told that they are free. */
const BUSY_RETRY_SECONDS = 3;

/** Never tried yet, so the server cannot have them. */
const untried = new Set<string>();
/** Not yet on the device, so the outbox does not list them. */
const unsaved = new Map<string, Line>();
const queues = new Map<string, Promise<void>>();
let started = false;

const { dispatch } = store;

/** Starts sending what the device's outbox holds; further calls do nothing. */
export function startOutbox(): void {
  if (started) return;
  started = true;
  outboxStore.subscribe(() => void readLines());
  session.onUserChanged(() => {
    dispatch(chatActions.userLeft());
    void readLines();
  });
  onCaughtUpNeeded(sendWaiting);
  window.addEventListener('online', sendWaiting);
  void readLines();
}

/** Puts a line on its way: painted at once, kept on the device, sent as soon as it can be. */
export async function writeLine(line: Line): Promise<void> {
  untried.add(line.clientId);
  unsaved.set(line.clientId, line);
  dispatch(chatActions.lineWritten(line));
  await outboxStore.put(toStoredLine(line)).finally(() => unsaved.delete(line.clientId));
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

/** One story's lines go one after another, and one tab at a time sends them. */
function drain(storyId: string): Promise<void> {
  const before = queues.get(storyId) ?? Promise.resolve();
  const next = before.then(() => holdingLock(`liaozhai-outbox-${storyId}`, () => sendAll(storyId)));
  queues.set(
    storyId,
    next.catch(() => undefined),
  );
  return next;
}

async function sendAll(storyId: string): Promise<void> {
  let goesOn = true;
  while (goesOn) {
    // Read anew each time: another tab may have sent or taken back a line meanwhile.
    const line = (await outboxStore.all()).find((entry) => entry.storyId === storyId && entry.state === 'waiting');
    const maySend = currentUserId() !== null && navigator.onLine;
    goesOn = line !== undefined && maySend && (await deliver(fromStoredLine(line)));
  }
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
    const isBusy = cause.kind === 'conflict' && cause.code.includes('busy');
    if (!isBusy && isUncertain(cause) && (await fateOf(line)) === 'received') return settled(line);
    return refused(line, cause);
  }
}

async function settled(line: Line): Promise<boolean> {
  await settleLine(line);
  return true;
}

/** What can still go by itself waits; everything else is the reader's to decide. */
async function refused(line: Line, error: ApiError): Promise<boolean> {
  const isBusy = error.kind === 'conflict' && error.code.includes('busy');
  if (isBusy) setTimeout(sendWaiting, BUSY_RETRY_SECONDS * 1000);
  if (isBusy || !navigator.onLine) {
    dispatch(chatActions.lineChanged({ ...line, state: 'waiting', error: undefined }));
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
