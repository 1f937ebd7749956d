import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { conflict, gone, ReleaseError, refused } from '../errors.ts';
import type { Action, Evidence } from '../model/action.ts';
import {
  type Agenda,
  agendaSchema,
  type Freeze,
  type FreezeWindow,
  type Frozen,
  frozenAt,
  isZone,
  windowText,
} from '../model/agenda.ts';
import { type ChannelDocument, stateOf } from '../model/channel.ts';
import { signedPointer } from '../model/documents.ts';
import type { Body } from '../requests.ts';
import { say } from '../sentences.ts';
import { assertSeen, type Change, changeChannel, requestApproval } from './changeChannel.ts';
import { currentDocument } from './readChannel.ts';
import { type ChangeOptions, type Reader, timeOf, type Writer } from './writer.ts';

const ATTEMPTS = 200;

const pointer = signedPointer('agendas', agendaSchema, { schedules: [], freezes: [], proposals: [] });

/** Reads a channel's schedules, freezes and proposals. Throws refused if the agenda is damaged or unsigned. */
export const readAgenda = async (reader: Reader): Promise<Agenda> => (await pointer.read(reader)).contents;

export interface AgendaDecision {
  agenda: Agenda;
  /** Entry for the channel's log; null = none. */
  entry: { action: Action; why?: string; evidence?: readonly Evidence[] } | null;
  /** Same as in `Decision`. */
  forward?: boolean;
}

/** Verbs of log entries that change neither what runs nor what is planned. */
const LOG_ONLY_VERBS: readonly string[] = ['preview', 'preview-end', 'alarm', 'renew'];
const isLogOnly = ({ action }: ChannelDocument): boolean => LOG_ONLY_VERBS.includes(action.verb);

/** Verbs of log entries that come with a change of the agenda. */
const AGENDA_VERBS: readonly string[] = ['freeze', 'schedule', 'proposal'];
/** Time in which a writer swaps the agenda after its log entry, unless it was killed. */
const SWAP_MS = 1000;

/** The part of an agenda's nonce with the number of the newest log entry that it includes. */
const ENTRY = /^(\d+):/;

/**
 * Changes the agenda in one compare-and-swap, with an entry in the channel's log; a null decision changes nothing. Decides again if another
 * writer was faster. With `seq` (the state the caller saw), throws conflict instead. Returns the channel's document with the entry.
 */
export async function changeAgenda(
  writer: Writer,
  decide: (agenda: Agenda, document: ChannelDocument) => Promise<AgendaDecision | null> | AgendaDecision | null,
  seq?: number,
): Promise<Change> {
  let loggedDocument: ChannelDocument | null = null;
  const deadline = performance.now() + SWAP_MS;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const document = await currentDocument(writer);
    if (!loggedDocument) await assertSeen(writer, document, seq, isLogOnly);
    writer.permit?.(document);
    const { contents: agenda, nonce, tag } = await pointer.read(writer);
    // another writer has logged its change, but not swapped the agenda yet
    const [prefix, entrySeq = document.seq] = ENTRY.exec(nonce) ?? [];
    const isOutdated = AGENDA_VERBS.includes(document.action.verb) && Number(entrySeq) < document.seq;
    if (isOutdated && !loggedDocument && performance.now() < deadline) {
      await pause(Math.random() * 20);
      continue;
    }
    const decision = await decide(agenda, document);
    if (!decision) return { document: loggedDocument ?? document, changed: loggedDocument !== null };
    const { entry, forward }: AgendaDecision = decision;
    const approval: Evidence[] | null =
      entry && !loggedDocument
        ? await requestApproval(writer, document, { action: entry.action, state: stateOf(document), forward })
        : [];
    if (!approval) return { document, changed: false };
    const { proposals } = decision.agenda;
    // older readers do not know proposals; signed before the log reports a change that readers of the agenda would refuse
    const contents = { ...decision.agenda, proposals: proposals.length > 0 ? proposals : undefined };
    const sign = () => pointer.sign(writer, contents, loggedDocument ? `${loggedDocument.seq}:` : prefix);
    let next = sign();
    try {
      if (entry && !loggedDocument) {
        const evidence = [...approval, ...(entry.evidence ?? [])];
        const logged = await changeChannel(writer, async (current) => {
          await assertSeen(writer, current, document.seq, isLogOnly);
          return { ...entry, evidence };
        });
        loggedDocument = logged.document;
        next = sign();
      }
    } catch (cause) {
      // the channel has changed since the decision
      const isConflict = cause instanceof ReleaseError && cause.kind === 'conflict';
      if (!isConflict || seq !== undefined) throw cause;
      continue;
    }
    if (await pointer.swap(writer, next, tag)) return { document: loggedDocument ?? document, changed: true };
    await pause(Math.random() * 20);
  }
  throw conflict(say('keptChanging', { what: say('theAgenda', { channel: writer.channel }) }), say('againCure'));
}

const MAX_FREEZES = 50;
const MAX_IN_EVIDENCE = 150;

const truncate = (text: string): string => [...text].slice(0, MAX_IN_EVIDENCE).join('');

const entryOf = (change: 'added' | 'removed', { window, reason }: Freeze, why?: string) => ({
  action: { kind: 'freeze' as const },
  why,
  evidence: [{ kind: 'freeze' as const, change, window, reason: truncate(reason) }],
});

function assertWindow(window: FreezeWindow, now: Date): void {
  if (window.kind === 'weekly') {
    if (isZone(window.zone) && window.from !== window.to) return;
    throw refused(say('noWindow', { window: windowText(window) }), say('noWindowCure'));
  }
  if (window.to <= window.from) throw refused(say('endsBefore', { instant: window.to }), say('endsBeforeCure'));
  if (Date.parse(window.to) <= now.getTime())
    throw refused(say('endedAlready', { instant: window.to }), say('endedAlreadyCure'));
}

/** Adds a freeze window and drops expired ones. The same window for the same reason is added once. Throws refused. */
export async function addFreeze(
  writer: Writer,
  { window, why, seq }: Body<'freeze'>,
): Promise<Change & { id: string }> {
  const now = await timeOf(writer);
  assertWindow(window, now);
  const reason = why.trim();
  if (reason === '') throw refused(say('windowWithoutReason'), say('windowWithoutReasonCure'));
  let id = randomBytes(4).toString('hex');
  const freeze = { id, window, reason, by: writer.who.slice(0, 120), at: now.toISOString() };
  const change = await changeAgenda(
    writer,
    (agenda) => {
      const currentFreezes = agenda.freezes.filter(
        (each) => each.window.kind === 'weekly' || Date.parse(each.window.to) > now.getTime(),
      );
      // a caller whose response was lost tries again
      const present = currentFreezes.find((each) => each.reason === reason && isDeepStrictEqual(each.window, window));
      if (present) {
        id = present.id;
        return null;
      }
      if (currentFreezes.length >= MAX_FREEZES)
        throw refused(say('manyWindows', { count: currentFreezes.length }), say('manyWindowsCure'));
      return { agenda: { ...agenda, freezes: [...currentFreezes, freeze] }, entry: entryOf('added', freeze) };
    },
    seq,
  );
  return { ...change, id };
}

/** Removes a window. Throws refused if no window has this id. */
export const removeFreeze = (writer: Writer, id: string, { why, seq }: ChangeOptions = {}): Promise<Change> => {
  let isRemoved = false;
  return changeAgenda(
    writer,
    (agenda) => {
      const freeze = agenda.freezes.find((each) => each.id === id);
      if (!freeze && isRemoved) return null;
      if (!freeze) throw gone('freeze', say('noFreeze', { id }), say('noFreezeCure'));
      isRemoved = true;
      return {
        agenda: { ...agenda, freezes: agenda.freezes.filter((each) => each !== freeze) },
        entry: entryOf('removed', freeze, why),
      };
    },
    seq,
  );
};

export async function frozenNow(writer: Writer): Promise<Frozen | null> {
  const { freezes } = await readAgenda(writer);
  return freezes.length === 0 ? null : frozenAt(freezes, await timeOf(writer));
}

/**
 * Allows a forward change if no freeze window is open, or for a reason that the log records. Rollbacks never call it. Throws refused
 * with the window's reason.
 */
export async function passFreeze(writer: Writer, despiteFreeze: string | undefined): Promise<Evidence[]> {
  const frozen = await frozenNow(writer);
  if (!frozen) return [];
  const { freeze, until } = frozen;
  if (despiteFreeze?.trim())
    return [{ kind: 'freezeOverridden', freeze: truncate(freeze.reason), reason: truncate(despiteFreeze) }];
  throw refused(
    say('frozen', { channel: writer.channel, instant: until.toISOString(), reason: freeze.reason }),
    say('frozenCure'),
    [say('frozenBy', { window: windowText(freeze.window), by: freeze.by })],
  );
}
