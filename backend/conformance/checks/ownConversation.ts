import { randomUUID } from 'node:crypto';
import { expectStatus, Untried } from '../check.ts';
import { idOf, pageOf, recordOf, unwrap } from '../entities.ts';
import { conversationIdOf, sendMessage, type World } from '../world.ts';

/** Returns the points that `mine` spent, by its balance and by its ledger. */
export async function spentBy(world: World, act: () => Promise<unknown>): Promise<{ balance: number; ledger: number }> {
  const { visitor } = await world.member('mine');
  const readLedger = async () => {
    const rows = pageOf((await visitor.get('/transactions')).body).items;
    return { balance: Number(unwrap((await visitor.get('/user')).body).balance), rows };
  };
  const before = await readLedger();
  await act();
  const after = await readLedger();
  const idsBefore = new Set(before.rows.map(idOf));
  const addedRows = after.rows.filter((row) => !idsBefore.has(idOf(row)));
  return {
    balance: before.balance - after.balance,
    ledger: addedRows.reduce((sum, { amount }) => sum - Number(amount), 0),
  };
}

/** Loads the conversation of `mine` from `messages/latest`. */
export async function latest(world: World, query: Record<string, string | number> = {}) {
  const { id, visitor } = await world.conversation();
  const search = new URLSearchParams({ conversation_id: id, ...toStrings(query) });
  const answer = await visitor.get(`/messages/latest?${search}`);
  expectStatus(answer, 200);
  const { items } = pageOf(answer.body);
  return { id, items, meta: recordOf(recordOf(answer.body).meta), seqs: items.map(({ seq }) => Number(seq)) };
}

const toStrings = (query: Record<string, string | number>) =>
  Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]));

export const ascending = (seqs: number[]) => seqs.every((seq, index) => index === 0 || seq > Number(seqs[index - 1]));

/** Sends a line of `theirs`, which can be edited, and waits for its reply. */
export async function ownLine(world: World) {
  const { visitor } = await world.member('theirs');
  const [, story_id] = await world.stories();
  const { answer } = await sendMessage(visitor, { story_id });
  if (answer.status > 299) throw new Untried('no message could be sent');
  const conversationId = conversationIdOf(answer);
  const messages = await world.settled(visitor, conversationId);
  const line = messages.findLast(({ role }) => role === 'user') ?? {};
  const path = `/messages/${encodeURIComponent(idOf(line))}/edit`;
  const edit = (content: object) => visitor.postOnce(path, { client_id: randomUUID(), ...content });
  return { visitor, conversationId, messages, line, edit };
}
