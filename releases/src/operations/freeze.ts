import { randomBytes } from 'node:crypto';
import { changeAgenda, readAgenda } from '../channel/changeAgenda.ts';
import { type Change, timeOf, type Writer } from '../channel/changeChannel.ts';
import { refused } from '../errors.ts';
import type { Evidence } from '../model/action.ts';
import { type Freeze, type FreezeWindow, type Frozen, frozenAt, isZone, windowText } from '../model/agenda.ts';

const MOST_FREEZES = 50;
const LONGEST_IN_EVIDENCE = 150;

const brief = (text: string): string => [...text].slice(0, LONGEST_IN_EVIDENCE).join('');

/** What the log tells of a window. */
const entryOf = (change: 'added' | 'removed', { window, reason }: Freeze, why?: string) => ({
  action: { kind: 'freeze' as const },
  why,
  evidence: [{ kind: 'freeze' as const, change, window, reason: brief(reason) }],
});

/** Throws refused for a window that is never open. */
function assertWindow(window: FreezeWindow, now: Date): void {
  if (window.kind === 'weekly') {
    if (isZone(window.zone) && window.from !== window.to) return;
    throw refused(`${windowText(window)} is no window`, 'Use two different times and a zone such as Asia/Shanghai.');
  }
  if (window.to <= window.from)
    throw refused(`the window ends at ${window.to}, before it begins`, 'Give a later --to.');
  if (Date.parse(window.to) <= now.getTime())
    throw refused(`the window ended at ${window.to} already`, 'Give a --to that is still to come.');
}

export interface FreezeRequest {
  window: FreezeWindow;
  /** Whoever is refused reads it. */
  why: string;
  seq?: number;
}

/** Adds a window in which nothing is switched forward; windows that are over leave the list. Throws refused. */
export async function addFreeze(writer: Writer, { window, why, seq }: FreezeRequest): Promise<Change & { id: string }> {
  const now = await timeOf(writer);
  assertWindow(window, now);
  const reason = why.trim();
  if (reason === '') throw refused('a freeze window needs a reason', 'Say it with --why: whoever is refused reads it.');
  const id = randomBytes(4).toString('hex');
  const freeze = { id, window, reason, by: writer.who.slice(0, 120), at: now.toISOString() };
  const change = await changeAgenda(
    writer,
    (agenda) => {
      const standing = agenda.freezes.filter(
        (each) => each.window.kind === 'weekly' || Date.parse(each.window.to) > now.getTime(),
      );
      if (standing.length >= MOST_FREEZES)
        throw refused(`there are ${standing.length} windows already`, 'Remove some with `freeze remove`.');
      return { agenda: { ...agenda, freezes: [...standing, freeze] }, entry: entryOf('added', freeze) };
    },
    seq,
  );
  return { ...change, id };
}

/** Takes a window away. Throws refused if there is none of this id. */
export const removeFreeze = (
  writer: Writer,
  id: string,
  { why, seq }: { why?: string; seq?: number } = {},
): Promise<Change> => {
  let removed = false;
  return changeAgenda(
    writer,
    (agenda) => {
      const freeze = agenda.freezes.find((each) => each.id === id);
      if (!freeze && removed) return null;
      if (!freeze) throw refused(`there is no freeze window ${id}`, 'List them with `freeze list`.');
      removed = true;
      return {
        agenda: { ...agenda, freezes: agenda.freezes.filter((each) => each !== freeze) },
        entry: entryOf('removed', freeze, why),
      };
    },
    seq,
  );
};

/** Whether the channel is frozen now. */
export async function frozenNow(writer: Writer): Promise<Frozen | null> {
  const { freezes } = await readAgenda(writer.store, writer.channel, writer.key.publicKey);
  return freezes.length === 0 ? null : frozenAt(freezes, await timeOf(writer));
}

/**
 * Lets a change that goes forward through where no window is open, or for a reason that the log keeps. Ways back never ask. Throws
 * refused with the window's reason.
 */
export async function passFreeze(writer: Writer, override: string | undefined): Promise<Evidence[]> {
  const frozen = await frozenNow(writer);
  if (!frozen) return [];
  const { freeze, until } = frozen;
  if (override?.trim()) return [{ kind: 'freezeOverridden', freeze: brief(freeze.reason), reason: brief(override) }];
  throw refused(
    `${writer.channel} is frozen until ${until.toISOString()}: ${freeze.reason}`,
    'Wait until then, or let a manager switch with --override "reason". Rolling back, withdrawing, aborting and killing are always allowed.',
    [`${windowText(freeze.window)}, set by ${freeze.by}`],
  );
}
