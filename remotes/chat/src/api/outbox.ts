import { onCaughtUpNeeded, outboxStore, session, store } from '@liaozhai/shared/runtime';
import { fromStoredLine, hadNoAnswer, type Line, toStoredLine, wasCutOff } from '../model';
import { chatActions, selectChat } from '../slice';
import { drain, forgetPauses, keepLine, leavingChanged, neverTried, sendFreed, sendWaiting, shownLine } from './drain';
import { readJournal, writeJournal } from './journal';
import { currentUserId, fateOf, settleLine } from './sendLine';

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
