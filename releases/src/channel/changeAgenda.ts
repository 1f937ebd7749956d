import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { conflict, ReleaseError } from '../errors.ts';
import type { Action, Evidence } from '../model/action.ts';
import { type Agenda, EMPTY_AGENDA, signAgenda, verifyAgenda } from '../model/agenda.ts';
import { type ChannelDocument, stateOf } from '../model/channel.ts';
import type { Store } from '../store/store.ts';
import { changeChannel, type Writer } from './changeChannel.ts';
import { requireChannel } from './readChannel.ts';

const ATTEMPTS = 200;

const agendaKey = (channel: string): string => `agendas/${channel}.json`;

async function readPointer(
  store: Store,
  channel: string,
  publicKey: string,
): Promise<{ agenda: Agenda; tag: string | null }> {
  const pointer = await store.readPointer(agendaKey(channel));
  return pointer
    ? { agenda: verifyAgenda(pointer.body, channel, publicKey), tag: pointer.tag }
    : { agenda: EMPTY_AGENDA, tag: null };
}

/** What is planned for a channel and when it is frozen. Throws refused if it is damaged or not signed. */
export const readAgenda = async (store: Store, channel: string, publicKey: string): Promise<Agenda> =>
  (await readPointer(store, channel, publicKey)).agenda;

export interface AgendaDecision {
  agenda: Agenda;
  /** What the channel's log tells of it; null = nothing. */
  entry: { action: Action; why?: string; evidence?: readonly Evidence[] } | null;
}

/** Decides upon the agenda and the channel as they are; null = nothing to change. */
export type DecideAgenda = (
  agenda: Agenda,
  document: ChannelDocument,
) => Promise<AgendaDecision | null> | AgendaDecision | null;

/** The log has the entry before the agenda changes, at the state it was decided on. */
const tell = (
  writer: Writer,
  { seq }: ChannelDocument,
  { action, why, evidence }: NonNullable<AgendaDecision['entry']>,
) => changeChannel(writer, async (current) => ({ state: stateOf(current), action, why, evidence }), seq);

const isConflict = (cause: unknown): boolean => cause instanceof ReleaseError && cause.kind === 'conflict';

/**
 * Changes the agenda in one compare-and-swap, with an entry in the channel's log, and decides anew where another writer was faster.
 * With `seq` (the state the caller saw) it throws conflict instead. Returns the channel's document with the entry.
 */
export async function changeAgenda(
  writer: Writer,
  decide: DecideAgenda,
  seq?: number,
): Promise<{ document: ChannelDocument; changed: boolean }> {
  const { store, channel, key } = writer;
  let told: ChannelDocument | null = null;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const { document } = await requireChannel(store, channel, key.publicKey);
    if (seq !== undefined && !told && document.seq !== seq)
      throw conflict(`${channel} is at state ${document.seq} by now`, 'Look at the new state and decide again.');
    writer.permit?.(document);
    const { agenda, tag } = await readPointer(store, channel, key.publicKey);
    const decision = await decide(agenda, document);
    if (!decision) return { document: told ?? document, changed: told !== null };
    try {
      if (decision.entry && !told) told = (await tell(writer, document, decision.entry)).document;
    } catch (cause) {
      if (!isConflict(cause) || seq !== undefined) throw cause;
      continue;
    }
    const next = signAgenda(decision.agenda, channel, randomUUID(), key);
    verifyAgenda(next, channel, key.publicKey);
    if (await store.swapPointer(agendaKey(channel), next, tag)) return { document: told ?? document, changed: true };
    await pause(Math.random() * 20);
  }
  throw conflict(`the agenda of ${channel} kept changing`, 'Try again.');
}
