import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@rstest/core';
import { dayMs } from '../src/clock.ts';
import { rules } from '../src/rules.ts';
import { openBackend } from './testBackend.ts';
import type {
  CheckInDto,
  ConversationDto,
  ErrorDto,
  Latest,
  MessageDto,
  Page,
  Registered,
  StoryDto,
  SuggestionDto,
  TransactionDto,
  UserDto,
} from './wire.ts';

let now = Date.parse('2026-03-01T10:00:00+08:00');
const backend = await openBackend({ STORYTELLER_IDLE_TIMEOUT_MS: '150' }, () => now);
const story = 'nie-xiaoqian';
const price = rules.storyPrices.long;

describe('a visitor', () => {
  test('pages through the feed to its end, without doubles', async () => {
    const visitor = backend.client();
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { body }: { body: Page<StoryDto> } = await visitor.get(`/stories?cursor=${cursor}`);
      seen.push(...body.data.map(({ id }) => id));
      cursor = body.meta.next_cursor;
    }
    expect(seen.length).toBeGreaterThanOrEqual(28);
    expect(new Set(seen).size).toBe(seen.length);
  });

  test('gets the first page for a cursor that is none', async () => {
    const visitor = backend.client();
    const first = await visitor.get<Page<StoryDto>>('/stories');
    const odd = await visitor.get<Page<StoryDto>>('/stories?cursor=%00nonsense');
    expect(odd.body.data).toEqual(first.body.data);
    expect(first.body.data).toHaveLength(20);
  });

  test('opens a story with its cover and portraits, and no conversation', async () => {
    const visitor = backend.client();
    const { body } = await visitor.get<{ data: StoryDto }>(`/stories/${story}`);
    expect(body.data).toMatchObject({ title: '聂小倩', price_per_message: price, conversation_id: null });
    for (const path of [body.data.cover_url, ...body.data.characters.map(({ avatar }) => avatar)]) {
      const picture = await fetch(backend.url + path);
      expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/svg+xml; charset=utf-8']);
      expect(picture.headers.get('cache-control')).toContain('immutable');
    }
    expect((await visitor.get('/stories/nobody')).status).toBe(404);
  });

  test('is asked to sign in by everything that is private', async () => {
    const visitor = await backend.client().fetchToken();
    const answers = await Promise.all([
      visitor.get('/user'),
      visitor.get('/conversations'),
      visitor.get('/transactions'),
      visitor.post('/check-in'),
      visitor.post('/logout'),
      visitor.say({ story_id: story }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 401]);
  });
});

describe('a conversation', () => {
  test('begins with the first line, is answered, and is found again', async () => {
    const reader = await backend.reader();
    const { status, body } = await reader.say({ story_id: story, body: '你是谁？' });
    expect(status).toBe(201);
    expect(body.message).toMatchObject({ role: 'user', body: '你是谁？', seq: 1, status: 'completed' });
    expect(body.reply).toMatchObject({ role: 'assistant', seq: 2, status: 'pending', cost: price });
    expect(body.balance).toBe(rules.signUpGift - price);
    await backend.settled();
    const { data, meta } = await reader.latest({ story_id: story });
    expect(data.map(({ seq, status: state }) => [seq, state])).toEqual([
      [1, 'completed'],
      [2, 'completed'],
    ]);
    expect(data[1]?.body).toMatch(/\*.+\*[\s\S]*“.+”/);
    expect(meta).toMatchObject({
      conversation_id: body.conversation.id,
      version: 3,
      last_seq: 2,
      active_message_id: null,
      has_more: false,
    });
    const { body: page } = await reader.get<Page<ConversationDto>>('/conversations');
    expect(page.data[0]).toMatchObject({
      id: body.conversation.id,
      story: { id: story, title: '聂小倩' },
      last_seq: 2,
    });
    expect((await reader.get<{ data: StoryDto }>(`/stories/${story}`)).body.data.conversation_id).toBe(
      body.conversation.id,
    );
  });

  test('answers a repeated request from memory and charges once', async () => {
    const reader = await backend.reader();
    const line = { story_id: story, body: '在吗', client_id: randomUUID() };
    const answers = await Promise.all([
      reader.post('/messages', line),
      reader.post('/messages', line),
      reader.post('/messages', line),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(answers[1]?.body).toEqual(answers[0]?.body);
    expect((await reader.post('/messages', { ...line, body: '换了话' })).status).toBe(422);
    expect((await reader.get<{ data: UserDto }>('/user')).body.data.balance).toBe(rules.signUpGift - price);
  });

  test('takes one line at a time', async () => {
    const reader = await backend.reader();
    const first = await reader.say({ story_id: story, body: '沉默' });
    const second = await reader.say({ story_id: story });
    expect([first.status, second.status]).toEqual([201, 409]);
    expect((second.body as unknown as ErrorDto).code).toBe('conversation_busy');
    await backend.settled();
  });

  test('fails with its partial text and its price back when the storyteller fails or falls silent', async () => {
    for (const [word, code] of [
      ['咒语', 'storyteller_failed'],
      ['沉默', 'timeout'],
    ] as const) {
      const reader = await backend.reader();
      await reader.say({ story_id: story, body: word });
      await backend.settled();
      const { data } = await reader.latest({ story_id: story });
      expect(data[1]).toMatchObject({ status: 'failed', error: { code }, cost: 0 });
      expect(data[1]?.body.length).toBeGreaterThan(0);
      expect((await reader.get<{ data: UserDto }>('/user')).body.data.balance).toBe(rules.signUpGift);
    }
  });
});

describe('a conversation that has begun', () => {
  test('goes on in the same message, under a new revision', async () => {
    const reader = await backend.reader();
    const { body } = await reader.say({ story_id: story, body: '咒语' });
    await backend.settled();
    const before = (await reader.latest({ story_id: story })).data[1];
    const again = await reader.post<{ message: MessageDto; balance: number }>('/messages/continue', {
      conversation_id: body.conversation.id,
      client_id: randomUUID(),
    });
    expect(again.status).toBe(202);
    expect(again.body.message).toMatchObject({ id: body.reply.id, revision: 2, status: 'pending', error: null });
    await backend.settled();
    const after = (await reader.latest({ story_id: story })).data[1];
    expect(after).toMatchObject({ status: 'completed', revision: 2, cost: rules.continuePrice });
    expect(after?.body.startsWith(before?.body ?? '?')).toBe(true);
    expect(after?.body.length).toBeGreaterThan(before?.body.length ?? 0);
  });

  test('offers lines in the first person that a reader may send', async () => {
    const reader = await backend.reader();
    const { body } = await reader.say({ story_id: story });
    await backend.settled();
    const asked = await reader.post<{ data: SuggestionDto }>('/messages/suggestion', {
      conversation_id: body.conversation.id,
      count: 3,
      client_id: randomUUID(),
    });
    expect([asked.status, asked.body.data.status]).toEqual([202, 'pending']);
    await backend.settled();
    const ready = await reader.get<{ data: SuggestionDto }>(`/messages/suggestion/${asked.body.data.id}`);
    expect(ready.body.data).toMatchObject({ status: 'ready', error: null });
    expect(ready.body.data.items).toHaveLength(3);
    for (const { text } of ready.body.data.items) expect([...text].length).toBeLessThanOrEqual(20);
    now += rules.suggestionLifetimeSeconds * 1000;
    expect((await reader.get(`/messages/suggestion/${asked.body.data.id}`)).status).toBe(410);
  });

  test('is paged backwards by seq and caught up by version', async () => {
    const reader = await backend.reader();
    await reader.post('/check-in');
    for (let turn = 0; turn < 6; turn += 1) {
      await reader.say({ story_id: story, body: `第${turn}句` });
      await backend.settled();
    }
    const last = await reader.latest({ story_id: story, limit: 5 });
    const older = await reader.latest({ story_id: story, limit: 5, before: last.data[0]?.seq ?? 0 });
    expect([last.data.map(({ seq }) => seq), last.meta.has_more]).toEqual([[8, 9, 10, 11, 12], true]);
    expect([older.data.map(({ seq }) => seq), older.meta.has_more]).toEqual([[3, 4, 5, 6, 7], true]);
    const known = new Map<string, MessageDto>();
    let page: Latest = await reader.latest({ story_id: story, after: 0, limit: 3 });
    for (;;) {
      for (const message of page.data) known.set(message.id, message);
      if (!page.meta.has_more) break;
      page = await reader.latest({ story_id: story, after: page.meta.version, limit: 3 });
    }
    expect([...known.values()].map(({ seq }) => seq).sort((a, b) => a - b)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
    ]);
  });

  test('is deleted for good, with what was running paid back', async () => {
    const reader = await backend.reader();
    const { body } = await reader.say({ story_id: story, body: '沉默' });
    expect((await reader.delete(`/conversations/${body.conversation.id}`)).status).toBe(204);
    expect((await reader.delete(`/conversations/${body.conversation.id}`)).status).toBe(404);
    expect((await reader.get<{ data: UserDto }>('/user')).body.data.balance).toBe(rules.signUpGift);
    const { body: ledger } = await reader.get<Page<TransactionDto>>('/transactions?type=refund');
    expect(ledger.data.map(({ amount }) => amount)).toEqual([price]);
    expect((await reader.latest({ story_id: story })).data).toEqual([]);
  });
});

describe('points', () => {
  test('refuse a line that costs more than there is, and leave nothing behind', async () => {
    const reader = await backend.reader();
    for (let left = rules.signUpGift; left >= price; left -= price) {
      await reader.say({ story_id: story });
      await backend.settled();
    }
    const refused = await reader.say({ story_id: 'hua-pi' });
    expect([refused.status, refused.body]).toEqual([
      402,
      {
        message: '余额不足，请先充值',
        code: 'insufficient_balance',
        required: price,
        balance: rules.signUpGift % price,
      },
    ]);
    expect((await reader.latest({ story_id: 'hua-pi' })).meta.conversation_id).toBeNull();
  });

  test('are given once a day, more with each day in a row, in Shanghai time', async () => {
    const reader = await backend.reader();
    const checkIn = async () => (await reader.post<{ data: CheckInDto }>('/check-in')).body.data;
    now = Date.parse('2026-03-10T23:59:00+08:00');
    expect(await checkIn()).toMatchObject({
      date: '2026-03-10',
      streak: 1,
      awarded: 10,
      already_checked_in: false,
      balance: 110,
    });
    expect(await checkIn()).toMatchObject({ streak: 1, awarded: 0, already_checked_in: true, balance: 110 });
    now += 120_000;
    expect(await checkIn()).toMatchObject({ date: '2026-03-11', streak: 2, awarded: 12 });
    expect((await reader.get<{ data: UserDto }>('/user')).body.data).toMatchObject({
      checked_in_today: true,
      check_in_streak: 2,
    });
    now += 2 * dayMs;
    expect((await reader.get<{ data: UserDto }>('/user')).body.data).toMatchObject({
      checked_in_today: false,
      check_in_streak: 0,
    });
    expect(await checkIn()).toMatchObject({ streak: 1, awarded: 10 });
  });

  test('reward both sides of an invitation', async () => {
    const inviter = await backend.reader();
    const { invite_code } = (await inviter.get<{ data: UserDto }>('/user')).body.data;
    const invitee = backend.client();
    expect((await invitee.register({ invite_code: invite_code.toLowerCase() })).balance).toBe(
      rules.signUpGift + rules.inviteReward.invitee,
    );
    expect((await inviter.get<{ data: UserDto }>('/user')).body.data.balance).toBe(
      rules.signUpGift + rules.inviteReward.inviter,
    );
    expect((await backend.client().register({ invite_code: 'NOBODY' })).balance).toBe(rules.signUpGift);
  });
});

describe('an account', () => {
  test('by e-mail waits for the confirmation link', async () => {
    const reader = await backend.client().fetchToken();
    const form = { login: 'Ning@Example.org', password: '246810', name: '宁生' };
    const registered = await reader.post<Registered>('/register', form);
    expect([registered.status, registered.body.type]).toEqual([201, 'email']);
    expect((await reader.get('/user')).status).toBe(403);
    const elsewhere = await backend.client().fetchToken();
    const refused = await elsewhere.post<ErrorDto>('/login', form);
    expect([refused.status, refused.body.code]).toEqual([403, 'email_unverified']);
    expect((await elsewhere.post('/email/verification-notification/resend')).status).toBe(202);
    const link = newestLink();
    expect((await reader.get(`/email/verify${link.replace(/.$/, (last) => (last === '0' ? '1' : '0'))}`)).status).toBe(
      403,
    );
    expect((await backend.client().get(`/email/verify${link}`)).body).toEqual({ message: '邮箱已确认' });
    expect((await reader.get<{ data: UserDto }>('/user')).body.data).toMatchObject({
      username: 'ning@example.org',
      balance: rules.signUpGift,
    });
  });

  test('refuses a confirmation link that is too old', async () => {
    await backend.client().register({ login: 'late@example.org' });
    now += (rules.verificationLinkHours + 1) * 3_600_000;
    expect((await backend.client().get(`/email/verify${newestLink()}`)).status).toBe(403);
  });

  test('says at each field what is wrong', async () => {
    const reader = await backend.reader({ login: 'taken_name' });
    const visitor = await backend.client().fetchToken();
    const empty = await visitor.post<ErrorDto>('/register', {});
    expect([empty.status, Object.keys(empty.body.errors ?? {})]).toEqual([422, ['login', 'password', 'name']]);
    const taken = await visitor.post<ErrorDto>('/register', { login: 'TAKEN_name', password: '123456', name: '甲' });
    expect(taken.body).toEqual({ message: '这个账号已被注册', errors: { login: ['这个账号已被注册'] } });
    expect((await visitor.post<ErrorDto>('/login', { login: 'taken_name', password: 'wrong!' })).status).toBe(422);
    const long = await reader.say({ story_id: story, body: '长'.repeat(2001) });
    expect([long.status, Object.keys((long.body as unknown as ErrorDto).errors ?? {})]).toEqual([422, ['body']]);
  });

  test('is changed in its profile and keeps what was not named', async () => {
    const reader = await backend.reader();
    const changed = await reader.put<{ data: UserDto }>('/user', {
      name: '  燕赤霞 ',
      persona: '一名剑客',
      gender: 'male',
      avatar: '/api/media/avatars/fox.svg',
    });
    expect(changed.body.data).toMatchObject({
      name: '燕赤霞',
      persona: '一名剑客',
      gender: 'male',
      avatar: '/api/media/avatars/fox.svg',
    });
    expect((await reader.put<{ data: UserDto }>('/user', { persona: '' })).body.data).toMatchObject({
      name: '燕赤霞',
      persona: '',
    });
    expect((await reader.put('/user', { avatar: 'https://elsewhere.example/a.png' })).status).toBe(422);
    expect((await reader.put('/user', { persona: '字'.repeat(1001) })).status).toBe(422);
  });

  function newestLink(): string {
    const folder = join(backend.dataDir, 'mail');
    const files = readdirSync(folder).sort(
      (left, right) => Number(left.match(/-(\d+)\.eml/)?.[1]) - Number(right.match(/-(\d+)\.eml/)?.[1]),
    );
    const mail = readFileSync(join(folder, files.at(-1) ?? ''), 'utf8');
    const text = Buffer.from(mail.split('\r\n\r\n')[1] ?? '', 'base64').toString();
    return text.match(/\/email\/verify(\S+)/)?.[1] ?? '';
  }
});
