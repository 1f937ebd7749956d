import { describe, expect, test } from '@rstest/core';
import { DAY_MS, isoTime } from '../src/clock.ts';
import { defaultPrices } from '../src/prices.ts';
import { rules } from '../src/rules.ts';
import type { Client } from './client.ts';
import { openBackend } from './testBackend.ts';
import type { CheckInDto, ErrorDto, Registered, UserDto } from './wire.ts';

let now = Date.parse('2026-03-01T10:00:00+08:00');
const backend = await openBackend({}, () => now);
const story = 'nie-xiaoqian';
const price = defaultPrices.storyPrices.long;

describe('points', () => {
  test('are not enough for a message: the message is refused and not stored', async () => {
    const reader = await backend.reader();
    for (let left = defaultPrices.signUpGift; left >= price; left -= price) {
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
        balance: defaultPrices.signUpGift % price,
      },
    ]);
    expect((await reader.latest({ story_id: 'hua-pi' })).meta.conversation_id).toBeNull();
  });

  test('are granted once per Shanghai day, more on each consecutive day', async () => {
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
    now += 2 * DAY_MS;
    expect((await reader.get<{ data: UserDto }>('/user')).body.data).toMatchObject({
      checked_in_today: false,
      check_in_streak: 0,
    });
    expect(await checkIn()).toMatchObject({ streak: 1, awarded: 10 });
  });

  test('are granted to both users of an invitation', async () => {
    const inviter = await backend.reader();
    const { invite_code } = (await inviter.get<{ data: UserDto }>('/user')).body.data;
    const invitee = backend.client();
    expect((await invitee.register({ invite_code: invite_code.toLowerCase() })).balance).toBe(
      defaultPrices.signUpGift + defaultPrices.inviteReward.invitee,
    );
    expect((await inviter.get<{ data: UserDto }>('/user')).body.data.balance).toBe(
      defaultPrices.signUpGift + defaultPrices.inviteReward.inviter,
    );
    expect((await backend.client().register({ invite_code: 'NOBODY' })).balance).toBe(defaultPrices.signUpGift);
  });
});

describe('an invitation', () => {
  interface Invitation {
    name: string;
    avatar: string;
    rewards: { inviter: number; invitee: number };
  }
  const codeOf = async (reader: Client) => (await reader.get<{ data: UserDto }>('/user')).body.data.invite_code;
  const invitation = async (code: string) =>
    (await backend.client().get<{ data: Invitation }>(`/invites/${code}`)).body;

  test('shows the inviter’s name and both rewards, and no private data', async () => {
    const inviter = await backend.reader({ name: '宁采臣', login: 'inviting_one' });
    const { data } = await invitation((await codeOf(inviter)).toLowerCase());
    expect(data).toEqual({
      name: '宁采臣',
      avatar: expect.stringMatching(/^\/api\/media\//),
      rewards: defaultPrices.inviteReward,
    });
    const unknown = await backend.client().get<ErrorDto>('/invites/NOBODY');
    expect([unknown.status, unknown.body]).toEqual([404, { message: '没有找到这个邀请' }]);
  });

  test('promises no reward to an inviter at the limit', async () => {
    const inviter = await backend.reader();
    const invite_code = await codeOf(inviter);
    for (let friend = 0; friend < rules.maxRewardedInvites; friend += 1) await backend.reader({ invite_code });
    expect((await invitation(invite_code)).data.rewards).toEqual({
      inviter: 0,
      invitee: defaultPrices.inviteReward.invitee,
    });
  });

  test('stores a reward notice for both users until a page announces it', async () => {
    const inviter = await backend.reader({ name: '宁采臣' });
    const friend = backend.client();
    const { gifts } = await friend.register({ name: '小倩', invite_code: await codeOf(inviter) });
    expect(gifts).toMatchObject([{ side: 'invitee', name: '宁采臣', points: defaultPrices.inviteReward.invitee }]);
    const waiting = async () => (await inviter.get<{ data: UserDto }>('/user')).body.data.gifts;
    const [gift] = await waiting();
    expect(gift).toMatchObject({ side: 'inviter', name: '小倩', points: defaultPrices.inviteReward.inviter });
    const announced = () =>
      inviter.post<{ data: unknown[] }>('/invites/gifts/announced', { ids: [gift?.id, 'another'] });
    expect((await announced()).body.data).toEqual([gift]);
    expect((await announced()).body.data).toEqual([]);
    expect(await waiting()).toEqual([]);
    expect(
      (
        await backend
          .client()
          .fetchToken()
          .then((guest) => guest.post('/invites/gifts/announced', { ids: [] }))
      ).status,
    ).toBe(401);
  });
});

describe('未成年人模式', () => {
  interface Minor {
    on: boolean;
    blocked: string | null;
    seconds_left: number;
    resumes_at: string | null;
    reset_at: string | null;
    rules: object;
  }
  const { minutesADay, extensionMinutes, pinTries, resetHours } = rules.minorMode;
  const at = (time: string) => {
    now = Date.parse(`${time}+08:00`);
  };
  const status = async (reader: Client) => (await reader.get<{ data: Minor }>('/user/minor')).body.data;
  const unlock = (reader: Client, form: object) => reader.post<{ data: Minor } & ErrorDto>('/user/minor/unlock', form);
  const onReader = async () => {
    const reader = await backend.reader();
    expect((await reader.put('/user/minor', { pin: '2580' })).status).toBe(200);
    return reader;
  };
  /** Reports use like a visible page. */
  const useFor = async (reader: Client, minutes: number) => {
    for (let minute = 0; minute < minutes; minute += 1) {
      now += 60_000;
      await reader.post('/user/minor/use');
    }
  };

  test('is off until a guardian sets a PIN of four digits', async () => {
    const reader = await backend.reader();
    expect(await status(reader)).toEqual({
      on: false,
      rules: { from: '22:00', to: '06:00', minutes_a_day: minutesADay, extension_minutes: extensionMinutes },
    });
    const refused = await reader.put<ErrorDto>('/user/minor', { pin: '12a4' });
    expect([refused.status, refused.body.errors]).toEqual([422, { pin: ['监护密码须为 4 位数字'] }]);
    at('2026-04-01T10:00:00');
    expect((await reader.put('/user/minor', { pin: '2580' })).status).toBe(200);
    expect((await reader.put('/user/minor', { pin: '0000' })).status).toBe(409);
    expect((await reader.get<{ data: { minor: Minor } }>('/user')).body.data.minor).toMatchObject({
      blocked: null,
      seconds_left: minutesADay * 60,
    });
  });

  test('counts minutes of use, and refuses chat from the limit until the next morning', async () => {
    at('2026-04-02T10:00:00');
    const reader = await onReader();
    await useFor(reader, minutesADay - 1);
    now += 30_000;
    expect((await reader.say({ story_id: story })).status).toBe(201);
    await backend.settled();
    expect(await status(reader)).toMatchObject({ blocked: null, seconds_left: 30 });
    await useFor(reader, 1);
    const refused = await reader.say({ story_id: story });
    expect([refused.status, refused.body]).toEqual([
      403,
      { message: `未成年人模式：今天的 ${minutesADay} 分钟已经用完`, code: 'minor_mode', reason: 'limit' },
    ]);
    expect(await status(reader)).toMatchObject({
      blocked: 'limit',
      seconds_left: 0,
      resumes_at: isoTime(Date.parse('2026-04-03T06:00:00+08:00')),
    });
    at('2026-04-03T06:00:00');
    expect((await reader.say({ story_id: story })).status).toBe(201);
    await backend.settled();
  });

  test('does not count time without use', async () => {
    at('2026-04-04T10:00:00');
    const reader = await onReader();
    now += 3_600_000;
    await reader.post('/user/minor/use');
    expect((await status(reader)).seconds_left).toBe(minutesADay * 60);
  });

  test('refuses chat at night, and ends the day’s time at its beginning', async () => {
    at('2026-04-05T21:50:00');
    const reader = await onReader();
    expect((await status(reader)).seconds_left).toBe(600);
    at('2026-04-05T22:00:00');
    expect((await reader.say({ story_id: story })).body).toMatchObject({ code: 'minor_mode', reason: 'night' });
    at('2026-04-06T05:59:59');
    expect(await status(reader)).toMatchObject({ blocked: 'night', resumes_at: isoTime(now + 1000) });
    const grown = await backend.reader();
    expect((await grown.say({ story_id: story })).status).toBe(201);
    await backend.settled();
  });

  test('is extended or turned off by the PIN only', async () => {
    at('2026-04-07T23:00:00');
    const reader = await onReader();
    const wrong = await unlock(reader, { pin: '0000' });
    expect([wrong.status, wrong.body.errors]).toEqual([422, { pin: [`监护密码不正确，还可以试 ${pinTries - 1} 次`] }]);
    expect((await unlock(reader, { pin: '2580' })).body.data).toMatchObject({
      blocked: null,
      seconds_left: extensionMinutes * 60,
    });
    expect((await reader.say({ story_id: story })).status).toBe(201);
    await backend.settled();
    now += extensionMinutes * 60_000;
    expect((await status(reader)).blocked).toBe('night');
    expect((await unlock(reader, { pin: '2580', off: true })).body.data.on).toBe(false);
    expect((await unlock(reader, { pin: '2580', off: true })).status).toBe(409);
  });

  test('refuses every PIN for a while after too many wrong ones', async () => {
    at('2026-04-08T23:00:00');
    const reader = await onReader();
    const guesses = await Promise.all(Array.from({ length: pinTries + 3 }, () => unlock(reader, { pin: '0000' })));
    expect(guesses.filter(({ status: code }) => code === 422)).toHaveLength(pinTries);
    const held = await unlock(reader, { pin: '2580' });
    expect(held.status).toBe(429);
    now += Number(held.headers.get('retry-after')) * 1000;
    expect((await unlock(reader, { pin: '2580' })).status).toBe(200);
  });

  test('is turned off by the password a day after a request; the PIN cancels the request', async () => {
    at('2026-04-09T23:00:00');
    const reader = await onReader();
    const reset = (password: string) => reader.post<{ data: Minor } & ErrorDto>('/user/minor/reset', { password });
    expect((await reset('wrong-one')).body.errors).toEqual({ password: ['密码不正确'] });
    expect((await reset('135790')).body.data).toMatchObject({
      on: true,
      reset_at: isoTime(now + resetHours * 3_600_000),
    });
    await unlock(reader, { pin: '2580' });
    expect((await status(reader)).reset_at).toBeNull();
    await reset('135790');
    now += resetHours * 3_600_000 - 1;
    expect((await reset('135790')).body.data.on).toBe(true);
    now += 1;
    expect((await reset('135790')).body.data.on).toBe(false);
  });
});

describe('an account', () => {
  test('with an e-mail address is created by the confirmation link', async () => {
    const reader = await backend.client().fetchToken();
    const form = { login: 'Ning@Example.org', password: '246810', name: '宁生' };
    const registered = await reader.post<Registered>('/register', form);
    expect([registered.status, registered.body.type]).toEqual([201, 'email']);
    expect((await reader.get('/user')).status).toBe(403);
    const elsewhere = await backend.client().fetchToken();
    const refused = await elsewhere.post<ErrorDto>('/login', form);
    expect([refused.status, refused.body.code]).toEqual([403, 'email_unverified']);
    expect((await elsewhere.post('/email/verification-notification/resend')).status).toBe(202);
    const link = linkSentTo('ning@example.org');
    expect((await reader.get(`/email/verify${link.replace(/.$/, (last) => (last === '0' ? '1' : '0'))}`)).status).toBe(
      403,
    );
    expect((await backend.client().get(`/email/verify${link}`)).body).toEqual({ message: '邮箱已确认' });
    expect((await reader.get<{ data: UserDto }>('/user')).body.data).toMatchObject({
      username: 'ning@example.org',
      balance: defaultPrices.signUpGift,
    });
  });

  test('is not created by an expired confirmation link', async () => {
    await backend.client().register({ login: 'late@example.org' });
    now += (rules.verificationLinkHours + 1) * 3_600_000;
    expect((await backend.client().get(`/email/verify${linkSentTo('late@example.org')}`)).status).toBe(403);
  });

  test('stores the accepted terms with the time', async () => {
    const agreed = await backend.client().register({ consent_version: '2026-11-22' });
    expect(agreed).toMatchObject({ consent_version: '2026-11-22', consented_at: isoTime(now) });
    expect(await backend.client().register()).toMatchObject({ consent_version: null, consented_at: null });
    expect((await backend.client().register({ consent_version: { odd: true } })).consent_version).toBeNull();
  });

  test('is refused with an error at each invalid field', async () => {
    const reader = await backend.reader({ login: 'taken_name' });
    const visitor = await backend.client().fetchToken();
    const empty = await visitor.post<ErrorDto>('/register', {});
    expect([empty.status, Object.keys(empty.body.errors ?? {})]).toEqual([422, ['login', 'password', 'name']]);
    const taken = await visitor.post<ErrorDto>('/register', { login: 'TAKEN_name', password: '123456', name: '甲' });
    expect(taken.body).toEqual({ message: '这个用户名已被注册', errors: { login: ['这个用户名已被注册'] } });
    expect((await visitor.post<ErrorDto>('/login', { login: 'taken_name', password: 'wrong!' })).status).toBe(422);
    const long = await reader.say({ story_id: story, body: '长'.repeat(2001) });
    expect([long.status, Object.keys((long.body as unknown as ErrorDto).errors ?? {})]).toEqual([422, ['body']]);
  });

  test('keeps the profile fields that a change omits', async () => {
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

  function linkSentTo(address: string): string {
    return (
      backend
        .mailsTo(address)
        .at(-1)
        ?.match(/\/email\/verify(\S+)/)?.[1] ?? ''
    );
  }
});
