import type { LatestDto } from '@liaozhai/shared/contract';
import { afterEach, beforeEach, describe, expect, rs, test } from '@rstest/core';
import { deltaDto, latestDto, messageDto, messageEvent } from '../fixtures';
import {
  applyDelta,
  applyEvent,
  cutAfter,
  emptyThread,
  type Thread,
  toPage,
  withNewest,
  withResponse,
  withRestart,
  withStatedVersion,
} from '../model/thread';
import { type LatestQuery, ThreadSync } from './threadSync';

const asked = messageDto({ seq: 1, role: 'user', client_id: 'client-1' });
const pending = messageDto({ seq: 2, body: '', status: 'pending' });
const threadOf = (body: LatestDto) => withNewest(emptyThread('s-1'), toPage(body));

type Answer = LatestDto | Error | object;
/** A server that can delete messages. */
type Server = (query: LatestQuery) => LatestDto;

/** A sync of an in-memory thread. Listed answers are returned in turn, the last one repeatedly. */
function syncOf(start: Thread | undefined, answers: Answer[] | Server, isLive = true) {
  let thread = start;
  const queries: LatestQuery[] = [];
  const sync = new ThreadSync({
    storyId: 's-1',
    read: () => thread,
    change: (next) => {
      thread = next;
    },
    fetchPage: async (query) => {
      queries.push(query);
      if (typeof answers === 'function') return toPage(answers(query), true);
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      if (answer && 'data' in answer) return toPage(answer as LatestDto);
      throw answer;
    },
    isLive: () => isLive,
  });
  const seconds = (count: number) => rs.advanceTimersByTimeAsync(count * 1000);
  return { sync, queries, seconds, thread: () => thread, load: (loaded: Thread) => (thread = loaded) };
}

beforeEach(() => {
  rs.useFakeTimers();
});
afterEach(() => {
  rs.useRealTimers();
});

describe('a running reply', () => {
  const silent = latestDto([asked, pending]);

  test('that is silent for 5 s is requested, then after 2, 5, 10 and 10 s', async () => {
    const { sync, queries, seconds } = syncOf(threadOf(silent), [silent]);
    sync.watch();
    const asksAfter = async (count: number) => {
      await seconds(count);
      return queries.length;
    };
    expect(await asksAfter(4.9)).toBe(0);
    expect(await asksAfter(0.2)).toBe(1);
    expect(await asksAfter(2)).toBe(2);
    expect(await asksAfter(5)).toBe(3);
    expect(await asksAfter(10)).toBe(4);
    expect(await asksAfter(10)).toBe(5);
    sync.stop();
    expect(await asksAfter(60)).toBe(5);
  });

  test('is requested every 2 s without a socket, and no more once it is done', async () => {
    const done = latestDto([asked, messageDto({ seq: 2, version: 3 })]);
    const { sync, queries, seconds, thread } = syncOf(threadOf(silent), [silent, silent, done], false);
    sync.watch();
    await seconds(6.1);
    expect(queries).toHaveLength(3);
    expect(thread()?.messages.at(-1)?.status).toBe('completed');
    await seconds(60);
    expect(queries).toHaveLength(3);
  });

  test('that speaks is left alone', async () => {
    const { sync, queries, seconds, thread } = syncOf(threadOf(silent), [silent]);
    sync.watch();
    for (let piece = 0; piece < 4; piece += 1) {
      await seconds(4);
      sync.receive((now) => applyDelta(now, deltaDto({ offset: piece, text: '月' })));
    }
    await seconds(1);
    expect(queries).toHaveLength(0);
    expect(thread()?.messages.at(-1)?.body).toBe('月月月月');
    sync.stop();
  });
});

describe('catching up', () => {
  test('several gaps together make one request, from the version that is complete', async () => {
    const whole = latestDto([messageDto({ seq: 2 }), messageDto({ seq: 3 }), messageDto({ seq: 4 })]);
    const { sync, queries, seconds, thread } = syncOf(threadOf(latestDto([asked])), [whole]);
    sync.receive((now) => applyEvent(now, messageEvent(messageDto({ seq: 3 }))));
    sync.receive((now) => applyEvent(now, messageEvent(messageDto({ seq: 4 }))));
    await seconds(0.2);
    expect(queries).toEqual([{ conversation_id: 'c-1', after: 1, limit: 100 }]);
    expect(thread()?.messages.map((message) => message.seq)).toEqual([1, 2, 3, 4]);
  });

  test('of a message that the server never returns becomes rare', async () => {
    const nothing = latestDto([], { conversation_id: 'c-1', version: 1, last_seq: 1 });
    const { sync, queries, seconds } = syncOf(threadOf(latestDto([asked])), [nothing]);
    for (let piece = 0; piece < 300; piece += 1) {
      sync.receive((known) => applyDelta(known, deltaDto({ message_id: 'm-lost', offset: piece, text: '雨' })));
      await seconds(0.2);
    }
    expect(queries.length).toBeGreaterThan(5);
    expect(queries.length).toBeLessThanOrEqual(20);
    sync.stop();
  });

  test('goes on while there is more', async () => {
    const first = latestDto([messageDto({ seq: 2 })], { has_more: true });
    const { sync, queries, thread } = syncOf(threadOf(latestDto([asked])), [
      first,
      latestDto([messageDto({ seq: 3 })]),
    ]);
    await sync.catchUp();
    expect(queries.map(({ after }) => after)).toEqual([1, 2]);
    expect(thread()?.version).toBe(3);
  });

  test('before the first page is there waits for it, and events received meanwhile are kept', async () => {
    const { sync, queries, seconds, thread, load } = syncOf(undefined, [latestDto([asked])]);
    await sync.catchUp();
    sync.receive((now) => applyEvent(now, messageEvent(messageDto({ seq: 2 }))));
    await seconds(1);
    expect(queries).toHaveLength(0);
    load(threadOf(latestDto([asked])));
    sync.handleLoaded(false);
    await seconds(0.2);
    expect(queries).toHaveLength(1);
    expect(thread()?.messages.map((message) => message.seq)).toEqual([1, 2]);
  });

  test('is tried again after a failure', async () => {
    const { sync, seconds, thread } = syncOf(threadOf(latestDto([asked])), [
      { kind: 'offline' },
      latestDto([messageDto({ seq: 2 })]),
    ]);
    await sync.catchUp();
    await seconds(5.1);
    expect(thread()?.version).toBe(2);
  });

  test("follows soon where the first page was the device's copy", async () => {
    const whole = latestDto([messageDto({ seq: 2 })]);
    const { sync, queries, seconds, thread } = syncOf(threadOf(latestDto([asked])), [{ kind: 'timeout' }, whole]);
    sync.handleLoaded(true);
    await seconds(5.1);
    expect(thread()?.version).toBe(1);
    sync.watch();
    await seconds(10.1);
    expect(thread()?.version).toBe(2);
    await seconds(60);
    expect(queries).toHaveLength(2);
  });

  test('an answer from before the conversation began does not take it away', async () => {
    const { sync, thread, load } = syncOf(emptyThread('s-1'), [latestDto([])]);
    const asking = sync.catchUp();
    load(threadOf(latestDto([asked, pending])));
    await asking;
    expect(thread()?.messages).toHaveLength(2);
  });

  test('a conversation that is gone leaves an empty thread', async () => {
    const { sync, thread } = syncOf(threadOf(latestDto([asked])), [{ kind: 'notFound' }]);
    await sync.catchUp();
    expect(thread()).toEqual(emptyThread('s-1'));
  });

  test('a conversation that is gone gives way to the one that its story has had since', async () => {
    const since = latestDto([messageDto({ conversation_id: 'c-2', body: '又见面了' })]);
    const { sync, queries, seconds, thread } = syncOf(threadOf(latestDto([asked])), [{ kind: 'notFound' }, since]);
    await sync.catchUp();
    await seconds(0);
    expect(queries.at(-1)).toEqual({ story_id: 's-1', limit: 100 });
    expect(thread()?.messages.map(({ body }) => body)).toEqual(['又见面了']);
  });
});

describe('an event that contradicts the server', () => {
  const answered = [asked, messageDto({ seq: 2 })];
  const pages = ({ after }: LatestQuery) =>
    latestDto(after === undefined ? answered : [], { conversation_id: 'c-1', version: 2, last_seq: 2 });
  const seen = (thread: Thread | undefined) => thread?.messages.map(({ seq, status }) => [seq, status]);

  const contradicted = (change: (thread: Thread) => Thread, server: Server = pages) =>
    syncOf(change(threadOf(latestDto(answered))), server);

  const ghost = (patch: Parameters<typeof messageDto>[0]) => (thread: Thread) =>
    applyEvent(thread, messageEvent(messageDto({ seq: 3, body: '', status: 'pending', ...patch }))).thread;

  test.each<[string, (thread: Thread) => Thread]>([
    ['a reply whose transaction was rolled back', ghost({ version: 3 })],
    ['a reply with a version that no conversation has', ghost({ version: 9e15 })],
    ['a reply without a readable version', ghost({ version: undefined, seq: 9 })],
    ['a restart that never happened', (thread) => withRestart(thread, 2)],
    ['a restart in a version that no conversation has', (thread) => withRestart(thread, 9e12)],
  ])('gives way to what the server has: %s', async (_name, change) => {
    const { sync, queries, thread } = contradicted(change);
    await sync.catchUp();
    await rs.advanceTimersByTimeAsync(15_000);
    expect(seen(thread())).toEqual([
      [1, 'completed'],
      [2, 'completed'],
    ]);
    expect(thread()).toMatchObject({ version: 2, ahead: [] });
    const count = queries.length;
    await rs.advanceTimersByTimeAsync(120_000);
    expect(queries).toHaveLength(count);
  });

  test('stays where only one page was behind', async () => {
    let asks = 0;
    const third = messageDto({ seq: 3, body: '', status: 'pending' });
    const { sync, queries, thread } = contradicted(ghost({ version: 3 }), () => {
      asks += 1;
      return asks === 1 ? latestDto([], { conversation_id: 'c-1', version: 2, last_seq: 2 }) : latestDto([third]);
    });
    await sync.catchUp();
    await rs.advanceTimersByTimeAsync(6_000);
    expect(thread()?.messages).toHaveLength(3);
    expect(queries.every(({ after }) => after === 3)).toBe(true);
    sync.stop();
  });

  test('stays where a response named the later version: the pages come from a replica that lags', async () => {
    const sent = [messageDto({ seq: 3, role: 'user', version: 3 }), messageDto({ seq: 4, version: 4 })] as const;
    const { sync, queries, thread } = contradicted((thread) =>
      withResponse(thread, 'c-1', { message: sent[0], reply: sent[1] }),
    );
    for (let turn = 0; turn < 5; turn += 1) await sync.catchUp();
    expect(thread()?.messages.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    expect(queries.every(({ after }) => after === 4)).toBe(true);
  });

  test.each<[string, (thread: Thread) => Thread]>([
    [
      'a reply',
      (thread) => withResponse(thread, 'c-1', { message: messageDto({ seq: 2, version: 9, status: 'pending' }) }),
    ],
    ['an edit', (thread) => withResponse(cutAfter(thread, 1, 9), 'c-1', { message: { ...asked, version: 9 } })],
    ['a restart', (thread) => withStatedVersion(withRestart(thread, 9), 9)],
  ])(
    'gives way to pages that stay older than the response for longer than a replica lags: %s',
    async (_name, change) => {
      const { sync, queries, thread } = contradicted(change);
      await sync.catchUp();
      const changed = thread();
      await rs.advanceTimersByTimeAsync(6_000);
      expect(thread()).toEqual(changed);
      await rs.advanceTimersByTimeAsync(6_000);
      expect(seen(thread())).toEqual([
        [1, 'completed'],
        [2, 'completed'],
      ]);
      const count = queries.length;
      await rs.advanceTimersByTimeAsync(120_000);
      expect(queries).toHaveLength(count);
    },
  );

  test('stays while a replica that lags comes nearer to the response', async () => {
    const sent = [3, 4].map((seq) => messageDto({ seq }));
    let version = 2;
    const { sync, thread } = contradicted(
      (thread) => withResponse(thread, 'c-1', { message: messageDto({ seq: 4, version: 6 }) }),
      ({ after = 0 }) => {
        const rows = [...answered, ...sent].filter((dto) => (dto.version ?? 0) > after);
        return latestDto(rows.slice(0, version < 6 ? 0 : 2), {
          conversation_id: 'c-1',
          version,
          last_seq: version < 6 ? 2 : 4,
        });
      },
    );
    await sync.catchUp();
    for (version = 3; version <= 6; version += 1) {
      await rs.advanceTimersByTimeAsync(5_000);
      expect(thread()?.messages.at(-1)?.id).toBe('m-4');
    }
    sync.stop();
  });

  test('is not fetched again for as long as the server stays at that version', async () => {
    // a row that can never be read
    const answer = () => latestDto(answered, { conversation_id: 'c-1', version: 2, last_seq: 9 });
    const { sync, queries } = contradicted((thread) => thread, answer);
    for (let turn = 0; turn < 5; turn += 1) await sync.catchUp();
    await rs.advanceTimersByTimeAsync(60_000);
    expect(queries.filter(({ after }) => after === undefined)).toHaveLength(1);
  });
});

describe('a reply that grows', () => {
  const streaming = messageDto({ seq: 2, body: '', status: 'streaming' });

  /** Counts the draws in two seconds of a hundred deltas each, if a draw takes `drawingMs`. */
  async function drawings(drawingMs: number): Promise<number> {
    let thread = threadOf(latestDto([asked, streaming]));
    let count = 0;
    let drawn = 0;
    const clock = performance.now.bind(performance);
    const now = rs.spyOn(performance, 'now').mockImplementation(() => clock() + drawn);
    const sync = new ThreadSync({
      storyId: 's-1',
      read: () => thread,
      change: (next) => {
        thread = next;
        count += 1;
        drawn += drawingMs;
      },
      fetchPage: async () => toPage(latestDto([asked, streaming])),
      isLive: () => true,
    });
    for (let piece = 0; piece < 200; piece += 1) {
      const delta = deltaDto({ offset: piece, text: '雨' });
      sync.receive((known) => applyDelta(known, delta));
      await rs.advanceTimersByTimeAsync(10);
    }
    await rs.advanceTimersByTimeAsync(500);
    sync.stop();
    now.mockRestore();
    expect(thread.messages.at(-1)?.body).toBe('雨'.repeat(200));
    return count;
  }

  test('is drawn some twenty times a second where that is quick, and ten times where it takes long', async () => {
    expect(await drawings(1)).toBeGreaterThanOrEqual(35);
    expect(await drawings(18)).toBeLessThanOrEqual(26);
  });
});
