import { randomUUID } from 'node:crypto';
import { expect, test } from '@rstest/core';
import fc from 'fast-check';
import type { Client } from './client.ts';
import { openBackend } from './testBackend.ts';
import type { Latest, MessageDto } from './wire.ts';

const runs = Number(process.env.FC_RUNS ?? 15);
const backend = await openBackend({ STORYTELLER_FAIL_RATE: '0.2', STORYTELLER_PIECE_DELAY_MS: '1' });
const story_id = 'ying-ning';

/** State of a client that follows the conversation: its messages by id, complete up to a version. */
interface Follower {
  known: Map<string, MessageDto>;
  version: number;
  limit: number;
}

const acts = ['say', 'continue', 'stop', 'regenerate', 'choose', 'edit', 'restart'] as const;

const step = fc.oneof(
  fc.record({ kind: fc.constantFrom(...acts) }),
  fc.record({ kind: fc.constant('settle' as const) }),
  fc.record({ kind: fc.constant('catchUp' as const), who: fc.nat(2) }),
);

test('sync.property: fetching changes after any version results in the whole conversation', {
  timeout: 600_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 24 }), async (steps) => {
      const reader = await backend.reader();
      const followers: Follower[] = [1, 3, 100].map((limit) => ({ known: new Map(), version: 0, limit }));
      for (const one of steps) {
        if (one.kind === 'settle') await backend.settled();
        else if (one.kind === 'catchUp') await catchUp(reader, followers[one.who]);
        else await act(reader, one.kind);
      }
      await backend.settled();
      const whole = (await reader.latest({ story_id, limit: 100 })).data;
      expect(whole.map(({ seq }) => seq)).toEqual(whole.map((_, index) => index + 1));
      for (const follower of followers) {
        await catchUp(reader, follower);
        expect([...follower.known.values()].sort((a, b) => a.seq - b.seq)).toEqual(whole);
      }
    }),
    { numRuns: runs },
  );
});

async function act(reader: Client, kind: (typeof acts)[number]): Promise<void> {
  if (kind === 'say') {
    await reader.say({ story_id });
    return;
  }
  const { meta, data } = await reader.latest({ story_id, limit: 1 });
  const [last] = data;
  const key = { client_id: randomUUID() };
  if (kind === 'restart') await reader.post(`/conversations/${meta.conversation_id}/restart`);
  if (kind === 'stop') await reader.post(`/messages/${last?.id}/cancel`);
  if (kind === 'regenerate') await reader.post(`/messages/${last?.id}/regenerate`, key);
  if (kind === 'choose') await reader.post(`/messages/${last?.id}/variant`, { variant: 1 });
  if (kind === 'edit') {
    const line = (await reader.latest({ story_id })).data.findLast(({ role, seq }) => role === 'user' && seq % 3);
    await reader.post(`/messages/${line?.id}/edit`, { body: '换了话', ...key });
  }
  if (kind !== 'continue') return;
  if (meta.conversation_id) await reader.post('/messages/continue', { conversation_id: meta.conversation_id, ...key });
}

async function catchUp(reader: Client, follower: Follower | undefined): Promise<void> {
  if (!follower) return;
  let page: Latest;
  do {
    page = await reader.latest({ story_id, after: follower.version, limit: follower.limit });
    const { version, last_seq } = page.meta;
    // removes messages that an edit has deleted
    for (const { id, seq, version: known } of follower.known.values())
      if (seq > last_seq && known <= version) follower.known.delete(id);
    for (const message of page.data) {
      // a new message may have the seq of a deleted one
      for (const { id, seq } of follower.known.values()) if (seq === message.seq) follower.known.delete(id);
      follower.known.set(message.id, message);
    }
    follower.version = version;
  } while (page.meta.has_more);
}
