import { afterEach, beforeEach, describe, expect, onTestFinished, rs, test } from '@rstest/core';
import { act, cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import {
  type AgendaView,
  type BuildSummary,
  type ChannelView,
  type Comparison,
  type Health,
  type KillEffect,
  type LogEntry,
  type Me,
  type Preview,
  type ProposalView,
  type RefusalReason,
  readToken,
  type Sharing,
} from './api';
import { ConsolePage } from './ConsolePage';
import { createLanguage, language } from './texts';

const realFetch = globalThis.fetch;
const instant = (secondsAgo: number) => new Date(Date.now() - secondsAgo * 1000).toISOString();
const chat = 'chat@1.0.0+cccccccccccc';
const host = 'host@1.0.0+999999999999';
const [old, next] = ['stories@1.0.0+aaaaaaaaaaaa', 'stories@1.1.0+bbbbbbbbbbbb'];
/** Successful responses from something other than the console. */
const FOREIGN = [
  { what: 'a network’s sign-in page', body: '<!doctype html><title>Wi-Fi</title>' },
  { what: 'another service', body: '{"ok":true}' },
  { what: 'an empty answer', body: '' },
];
const group = { visitors: 60, failedVisitors: 0, loads: 60, failures: {}, p75LoadMilliseconds: 300 };

function statusAt(seq: number, channel: string, percent = 10): ChannelView {
  const live = { since: instant(300), by: '小王' };
  return {
    format: 1,
    channel,
    seq,
    nonce: '',
    stable: { set: 'a'.repeat(40), builds: [chat, old], ...live },
    candidate: { set: 'b'.repeat(40), builds: [next], percent, salt: 'x', since: instant(60), by: '小李' },
    lastGood: { chat: 'chat@0.9.0+dddddddddddd', stories: 'stories@0.9.0+eeeeeeeeeeee' },
    killed: [],
    digests: {},
    action: { verb: 'canary', who: '小李', what: `${next} 10%`, why: '', at: instant(60) },
    previous: null,
    expires: '2027-01-01T00:00:00Z',
    sig: '',
  };
}

const summary = (id: string): BuildSummary => ({
  id,
  label: '',
  kind: 'remote',
  bytes: 2048,
  files: 3,
  provenance: { commit: null, at: instant(120), publisher: '小王' },
});

/** Fake server with its state, the requests it received, and responses that can be held back. */
function openServer() {
  const gates = new Map<string, Promise<void>>();
  const server = {
    me: { role: 'manager', name: null } as Me,
    token: 'lz_abc_def',
    seqs: { production: 7, preview: 20 } as Record<string, number>,
    candidate: true,
    more: [] as NonNullable<ChannelView['moreCandidates']>,
    percent: 10,
    log: [] as LogEntry[],
    names: [
      { name: 'chat', label: 'chat' },
      { name: 'stories', label: 'stories' },
    ],
    killed: [] as string[],
    builds: [summary(next), summary(old)],
    comparison: [] as Partial<Comparison>[],
    health: { stable: group, candidates: [], builds: [] } as Health,
    effect: {
      build: old,
      name: 'stories',
      live: true,
      instead: null,
      unfit: [],
      whole: null,
      endsCandidate: false,
      shown: ['/explore', 'slot story.chat'],
      lost: ['/explore', 'slot story.chat'],
    } as KillEffect,
    previews: [] as Preview[],
    sharing: { stable: [], candidates: [] } as Sharing,
    site: null as string | null,
    check: [] as { check: string; problems: string[] }[],
    agenda: undefined as AgendaView | undefined,
    /** Proposal that a change becomes. */
    proposal: null as { id: string } | null,
    /** Why promoting another channel's set is refused. */
    reason: null as RefusalReason | null,
    /** Why a rollback is refused. */
    refusal: null as RefusalReason | null,
    /** Why the previous state cannot be restored. */
    misfit: null as RefusalReason | null,
    /** Response to every call: 503, another response, or none. */
    away: false as boolean | 'unreachable' | readonly [number, object],
    /** Responses to requests of these verbs that fail. */
    failing: {} as Record<string, [number, object]>,
    nothingBefore: false,
    /** Names without an earlier build, '' for the whole set. */
    deadEnds: [] as string[],
    lastGood: statusAt(7, '').lastGood,
    /** The last good builds that fit what is live. */
    fallbacks: ['chat@0.9.0+dddddddddddd'],
    /** Seconds by which the server's clock is ahead of this device. */
    ahead: 0,
    /** Response of `/auth`; null for a console with tokens only. */
    session: null as { offered: boolean; signedIn: boolean } | null,
    asked: [] as { path: string; body: Record<string, unknown> | null }[],
    /** Holds back responses to a path until the returned function is called. */
    hold(path: string): () => void {
      let release = () => {};
      gates.set(path, new Promise((resolve) => (release = resolve)));
      return () => {
        gates.delete(path);
        release();
      };
    },
    posted: () => server.asked.filter(({ body }) => body !== null),
  };

  function change(channel: string, seq: number, body: Record<string, unknown>): [number, unknown] {
    if (server.proposal) return [202, { changed: false, document: statusAt(seq, channel), proposal: server.proposal }];
    if (server.reason?.kind === 'takenBack' && body.from === server.reason.from)
      return [422, { message: 'preview never had it', cure: 'use --force', details: [], reason: server.reason }];
    if (server.refusal)
      return [422, { message: 'it does not', cure: 'use --force', details: ['contract: ^2'], reason: server.refusal }];
    if (body.id !== undefined && !server.agenda?.proposals?.some(({ id }) => id === body.id))
      return [422, { message: `there is no proposal ${body.id}`, cure: 'List those that wait.' }];
    if (body.seq !== undefined && body.seq !== seq)
      return [409, { message: 'production is at state 8 by now', cure: 'Look again.' }];
    server.seqs[channel] = seq + 1;
    server.candidate = false;
    return [200, { changed: true, document: statusAt(seq + 1, channel) }];
  }

  function answerTo({ pathname, searchParams }: URL, body: Record<string, unknown> | null): [number, unknown] {
    const channel = searchParams.get('channel') ?? '';
    const seq = server.seqs[channel] ?? 0;
    const verb = pathname.replace('/v1/', '');
    const failure = server.failing[verb];
    if (failure) return failure;
    if (verb === 'before' && (server.nothingBefore || server.deadEnds.includes(searchParams.get('name') ?? '')))
      return [200, { refused: { message: 'nothing else was live before', cure: 'List with `log`.' } }];
    if (verb === 'before' && server.misfit)
      return [
        200,
        { refused: { message: 'unfit', cure: '--force', details: ['contract: ^2'], reason: server.misfit } },
      ];
    if (verb === 'check') return [200, server.check];
    if (verb === 'override')
      return [200, { query: '?override=abc', address: server.site && `${server.site}/?override=abc` }];
    if (verb === 'webhook') return [200, { webhook: { id: '0a1b2c3d4e5f' }, secret: 'whsec_shown_once' }];
    if (verb === 'webhook-test') return [200, { id: 'evt-1' }];
    if (body) return change(channel, seq, body);
    const status = {
      ...statusAt(seq, channel, server.percent),
      now: instant(-server.ahead),
      ...(server.candidate ? {} : { candidate: null }),
      moreCandidates: server.more,
      killed: server.killed,
      lastGood: server.lastGood,
      fallbacks: server.fallbacks,
      agenda: server.agenda,
    };
    const answers: Record<string, unknown> = {
      me: server.me,
      channels: { channels: Object.keys(server.seqs), shown: 'production' },
      status,
      names: server.names,
      log: server.log,
      builds: server.builds,
      health: server.health,
      before: { seq: 3 },
      previews: server.previews,
      sharing: server.sharing,
      kill: server.effect,
      compare: server.comparison,
      diff: [
        { name: 'stories', from: next, to: old },
        { name: 'chat', from: chat, to: null },
      ],
    };
    return [200, answers[verb]];
  }

  globalThis.fetch = async (input, init) => {
    const url = new URL(String(input), 'http://localhost');
    const path = url.pathname.replace('/v1/', '') + url.search;
    const body = typeof init?.body === 'string' ? JSON.parse(init.body) : null;
    server.asked.push({ path, body });
    const headers = new Headers(init?.headers);
    // a session counts only for the page, which sends the header and no token
    const hasSession = headers.get('x-console') === '1' && init?.credentials === 'same-origin';
    if (path === '/auth' && server.session && hasSession) return Response.json(server.session);
    if (path === '/auth/logout' && server.session && hasSession) {
      server.session.signedIn = false;
      return Response.json({ leave: null });
    }
    const allowed =
      headers.get('authorization') === `Bearer ${server.token}` || (hasSession && server.session?.signedIn === true);
    if (server.away === 'unreachable') throw new TypeError('Failed to fetch');
    const [status, answer] = server.away
      ? server.away === true
        ? [503, { message: 'the store is away' }]
        : server.away
      : allowed
        ? answerTo(url, body)
        : [401, { message: 'no valid token' }];
    const lost = new Promise<never>((_, reject) => {
      init?.signal?.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')));
    });
    await Promise.race([gates.get(path), lost]);
    return Response.json(answer, { status });
  };
  return server;
}

let server: ReturnType<typeof openServer>;
beforeEach(() => {
  language.choose('zh');
  location.hash = '';
  server = openServer();
  sessionStorage.clear();
  sessionStorage.setItem('liaozhai-console-token', server.token);
});
afterEach(async () => {
  cleanup();
  await waitFor(() => expect(history.state?.overlays).toBeUndefined());
  globalThis.fetch = realFetch;
});

/** Opens the page, signed in, and waits for the channel. */
async function openPage() {
  render(<ConsolePage />);
  await screen.findByText(/^状态 7，/);
  await within(section('健康')).findByText('稳定版');
}

const openSettings = async () => {
  await userEvent.click(screen.getByRole('link', { name: '设置' }));
  await screen.findByRole('region', { name: '冻结期' });
};

async function choose(menu: string, item: string) {
  await userEvent.click(await screen.findByRole('button', { name: `更多：${menu}` }));
  await userEvent.click(await screen.findByRole('menuitem', { name: item }));
}

const section = (name: string) => screen.getByRole('region', { name });
const button = (name: string | RegExp) => screen.getByRole<HTMLButtonElement>('button', { name });
const dialog = () => screen.getByRole('alertdialog');
/** Text of the toasts, which are visible at any scroll position. */
const said = () => screen.getByRole('region', { name: '提示' }).textContent;

const agendaWith = (parts: Partial<AgendaView> = {}): AgendaView => ({
  schedules: [
    {
      name: 'stories',
      builds: [next],
      steps: [
        { percent: 10, minutes: 0 },
        { percent: 25, minutes: 60 },
        { percent: 100, minutes: 240 },
      ],
      taken: 1,
      next: { percent: 25, due: instant(-1800) },
      waiting: null,
      paused: null,
      by: '小李',
      at: instant(60),
      why: '夜里放量',
    },
  ],
  freezes: [],
  frozen: null,
  webhooks: [],
  approval: null,
  proposals: [],
  watched: true,
  problem: null,
  ...parts,
});

describe('shared libraries', () => {
  const copy = (version: string, build: string, kib: number | null, ...remotes: string[]) => ({
    version,
    build,
    remotes,
    kib,
  });

  test('what runs and each candidate say what is loaded once or twice, by whom, and what that costs', async () => {
    const both = { name: 'chart.js', ofHost: null, copies: [copy('4.5.0', chat, 63.4, 'chat', 'stories')] };
    const apart = {
      name: 'chart.js',
      ofHost: null,
      copies: [copy('4.5.0', chat, 63.4, 'chat'), copy('3.9.1', next, 58.2, 'stories')],
    };
    const own = { name: 'react', ofHost: '19.3.1', copies: [copy('19.1.0', next, null, 'stories')] };
    server.sharing = { stable: [both], candidates: [{ builds: [next], libraries: [apart, own] }] };
    await openPage();
    const live = section('正在运行');
    expect(live.textContent).toContain('共享库1 个');
    expect(live.textContent).toContain('chart.js4.5.0：chat、stories（63.4 KiB）加载一次');
    const tried = section('灰度');
    expect(tried.textContent).toContain('共享库2 个，1 个重复加载，多 58.2 KiB');
    expect(tried.textContent).toContain('4.5.0：chat（63.4 KiB）3.9.1：stories（58.2 KiB）加载 2 次，多 58.2 KiB');
    expect(tried.textContent).toContain('react19.1.0：stories由主程序提供 19.3.1，自带的从不运行');
  });

  test('a set that shares nothing has no such list, and neither has one with a damaged build', async () => {
    server.failing.sharing = [422, { message: 'build.json is damaged' }];
    await openPage();
    expect(screen.queryByText(/共享库/)).toBeNull();
    delete server.failing.sharing;
    const before = server.asked.length;
    await waitFor(() => expect(server.asked.slice(before).some(({ path }) => path.startsWith('sharing'))).toBe(true));
    expect(screen.queryByText(/共享库/)).toBeNull();
  });

  test('a list that could not be loaded is reported and loaded later; the state is shown meanwhile', async () => {
    server.failing.sharing = [503, { message: 'the store is away' }];
    await openPage();
    const live = section('正在运行');
    expect(within(live).getByRole('alert').textContent).toBe('共享库：列表读取失败，稍后会自动重试');
    server.seqs.production = 8;
    await screen.findByText(/^状态 8，/);
    const both = { name: 'chart.js', ofHost: null, copies: [copy('4.5.0', chat, 63.4, 'chat', 'stories')] };
    server.sharing = { stable: [both], candidates: [] };
    delete server.failing.sharing;
    await waitFor(() => expect(live.textContent).toContain('共享库1 个'));
    expect(within(live).queryByRole('alert')).toBeNull();
  });
});

describe('what is planned', () => {
  test('the next step is shown with its time, and can be paused and cancelled', async () => {
    server.agenda = agendaWith();
    await openPage();
    const plan = within(screen.getByRole('region', { name: '计划 stories' }));
    expect(plan.getByText(/^下一步：25% 的访客，\d+分钟后$/)).toBeTruthy();
    await userEvent.click(plan.getByRole('button', { name: '暂停' }));
    expect(within(dialog()).getByRole('heading').textContent).toBe('暂停 · stories');
    expect(dialog().textContent).toContain('灰度保持现在的比例，到点也不扩大');
    await userEvent.click(within(dialog()).getByRole('button', { name: '暂停' }));
    await waitFor(() => expect(server.posted()[0]).toMatchObject({ body: { name: 'stories', seq: 7 } }));
    expect(server.posted()[0]?.path).toContain('pause');
  });

  test('a step that waits says why, and one that was refused too', async () => {
    const [planned] = agendaWith().schedules;
    if (!planned) throw new Error('nothing is planned');
    const waiting = { kind: 'tooFew', tried: 12, control: 90, enough: 30 } as const;
    server.agenda = agendaWith({ schedules: [{ ...planned, waiting, next: { percent: 25, due: instant(60) } }] });
    await openPage();
    expect(screen.getByText(/样本还不够：上一步或更换主程序以来，灰度 12 位/)).toBeTruthy();
    const paused = { by: 'gate', at: instant(5), refusal: 'routes: taken twice' };
    server.agenda = agendaWith({ schedules: [{ ...planned, paused }], watched: false });
    expect(await screen.findByText(/地址：taken twice/, {}, { timeout: 30_000 })).toBeTruthy();
    expect(screen.getByText(/计划不会前进/)).toBeTruthy();
    expect(button('继续')).toBeTruthy();
  });

  test('a candidate without a plan gets one', async () => {
    await openPage();
    await userEvent.click(screen.getByText('定时扩大', { selector: 'summary' }));
    const hours = screen.getByLabelText('2. 多久后');
    await userEvent.clear(hours);
    await userEvent.type(hours, '6');
    await userEvent.click(button('加一步'));
    await userEvent.click(button('去掉第 2 步'));
    await userEvent.click(button('定时扩大 stories'));
    expect(within(dialog()).getByText('所有人，7 小时后')).toBeTruthy();
    expect(within(dialog()).getByRole('heading').textContent).toBe('定时扩大 · stories');
    await userEvent.click(within(dialog()).getByRole('button', { name: '定时扩大' }));
    await waitFor(() =>
      expect(server.posted()[0]?.body).toMatchObject({ builds: [next], steps: '25@1h,100@7h', seq: 7 }),
    );
  });

  test('a share is planned as it is typed, and another step fits between its neighbours', async () => {
    await openPage();
    await userEvent.click(screen.getByText('定时扩大', { selector: 'summary' }));
    for (const [typed, read] of [
      ['.5', '0.5'],
      ['0.25', '0.25'],
      ['5.', '5'],
      ['40', '40'],
    ]) {
      await userEvent.clear(screen.getByLabelText('1. 访客 %'));
      await userEvent.type(screen.getByLabelText('1. 访客 %'), typed ?? '');
      await userEvent.click(button('定时扩大 stories'));
      expect(within(dialog()).getByText(`${read}%，1 小时后`)).toBeTruthy();
      await userEvent.click(within(dialog()).getByRole('button', { name: '取消' }));
    }
    await userEvent.click(button('加一步'));
    await userEvent.click(button('加一步'));
    await userEvent.click(button('定时扩大 stories'));
    await userEvent.click(within(dialog()).getByRole('button', { name: '定时扩大' }));
    await waitFor(() => expect(server.posted()[0]?.body).toMatchObject({ steps: '40@1h,70@4h,85@5h,100@6h' }));
  });

  test('a candidate of several builds is called by all their names', async () => {
    const builds = ['chat@1.1.0+111111111111', 'host@1.1.0+222222222222'];
    server.more = [{ set: 'c'.repeat(40), builds, percent: 5, salt: 'y', since: instant(30), by: '小李' }];
    await openPage();
    for (const verb of ['中止灰度', '全量上线']) {
      await userEvent.click(button(`${verb} chat、host`));
      expect(within(dialog()).getByRole('heading').textContent).toBe(`${verb} chat、host`);
      await userEvent.click(within(dialog()).getByRole('button', { name: '取消' }));
    }
  });

  test('a frozen channel says so, asks a manager for the reason of an exception, and lets ways back alone', async () => {
    server.agenda = agendaWith({ schedules: [], frozen: { until: '2026-12-01T00:00:00.000Z', reason: '大促' } });
    await openPage();
    expect(screen.getByText(/冻结中，至 .*：大促/)).toBeTruthy();
    await userEvent.click(button('全量上线 stories'));
    await userEvent.click(within(dialog()).getByRole('button', { name: '全量上线' }));
    expect(within(dialog()).getByText('请写明原因')).toBeTruthy();
    expect(server.posted()).toEqual([]);
    expect(within(dialog()).getAllByRole('textbox')).toHaveLength(1);
    await userEvent.type(within(dialog()).getByLabelText(/破例的理由/), '登录坏了');
    await userEvent.click(within(dialog()).getByRole('button', { name: '全量上线' }));
    await waitFor(() => expect(server.posted()[0]?.body).toMatchObject({ despiteFreeze: '登录坏了', why: '登录坏了' }));
    await userEvent.click(await screen.findByRole('button', { name: '回退 chat' }));
    await screen.findByRole('alertdialog');
    expect(within(dialog()).queryByLabelText(/破例的理由/)).toBeNull();
  });

  describe('where two persons decide', () => {
    const proposal: ProposalView = {
      id: '0a1b2c3d',
      request: { verb: 'activate', builds: [next], why: '新的列表' },
      by: '小李',
      at: instant(5),
      expires: instant(-600),
      seq: 6,
      before: 'a'.repeat(64),
      after: 'b'.repeat(64),
      builds: [next],
      changes: [{ name: 'stories', from: old, to: next }],
      own: false,
      outdated: false,
    };
    const approval = { hours: 24, by: '小王', at: instant(60) };
    const shown = (parts: Partial<ProposalView>) =>
      agendaWith({ schedules: [], approval, proposals: [{ ...proposal, ...parts }] });

    test('what waits is shown with what it changes, and approved without minding what else the log holds', async () => {
      server.agenda = shown({});
      await openPage();
      expect(screen.getByText('1 个提议等待另一个人批准')).toBeTruthy();
      await openSettings();
      await userEvent.click(button('看提议'));
      await waitFor(() => expect(document.activeElement?.textContent).toBe('等待批准'));
      const row = screen.getByRole('region', { name: '等待批准 上线 0a1b2c3d' });
      expect(within(row).getByText(/^stories：.* → /)).toBeTruthy();
      expect(within(row).getByText(/「新的列表」/)).toBeTruthy();
      await userEvent.click(button('批准 0a1b2c3d'));
      await userEvent.type(within(dialog()).getByLabelText(/原因/), '看过了');
      await userEvent.click(within(dialog()).getByRole('button', { name: '批准' }));
      await waitFor(() => expect(server.posted()[0]?.path).toContain('approve'));
      expect(server.posted()[0]?.body).toEqual({ id: '0a1b2c3d', why: '看过了' });
    });

    test('one that expired under an open question says so in the language of the page', async () => {
      server.agenda = shown({});
      await openPage();
      await userEvent.click(button('批准 0a1b2c3d'));
      server.agenda = agendaWith({ schedules: [], approval });
      await userEvent.click(within(dialog()).getByRole('button', { name: '批准' }));
      await screen.findByText('这个提议已经过期，或者已由别人处理；记录里有它的结果');
      expect(screen.queryByText(/there is no proposal/)).toBeNull();
      await userEvent.click(button('知道了'));
    });

    test.each([
      [{ own: true }, '这是你自己的提议，要另一个人批准', '撤回'],
      [{ outdated: true }, '通道已经变了，请在现在的状态上重新提议', '驳回'],
    ])('it cannot be approved where %o, and the button says why', async (parts, reason, away) => {
      server.agenda = shown(parts);
      await openPage();
      const approve = button('批准 0a1b2c3d');
      expect(approve.disabled).toBe(true);
      expect(document.getElementById(approve.getAttribute('aria-describedby') ?? '')?.textContent).toBe(reason);
      expect(button(`${away} 0a1b2c3d`).disabled).toBe(false);
    });

    test('a switch says before that it will wait, and afterwards that it does', async () => {
      server.agenda = agendaWith({ schedules: [], approval });
      server.proposal = { id: 'ffeeddcc' };
      await openPage();
      await userEvent.click(button('全量上线 stories'));
      expect(within(dialog()).getByText(/同意后会成为提议/)).toBeTruthy();
      await userEvent.click(within(dialog()).getByRole('button', { name: '全量上线' }));
      await waitFor(() => expect(said()).toContain('已提议（ffeeddcc），等另一个人批准'));
      await userEvent.click(button('中止灰度 stories'));
      expect(within(dialog()).queryByText(/同意后会成为提议/)).toBeNull();
    });
  });

  test('a webhook is added with its secret to note down, and one that fails says so', async () => {
    const webhook = { id: '0a1b2c3d4e5f', shown: 'https://chat.example/…', by: '小王', at: instant(60), seq: 3 };
    const failing = { ...webhook, attempts: 3, problem: 'answered 503', retry: instant(-60), undelivered: [] };
    server.agenda = agendaWith({ schedules: [], webhooks: [failing] });
    await openPage();
    await openSettings();
    expect(screen.getByText('已失败 3 次，还会重试：对方的状态码是 503')).toBeTruthy();
    await userEvent.click(screen.getByText('新增通知', { selector: 'summary' }));
    await userEvent.type(screen.getByLabelText('地址（https）'), 'https://bot.example/hook');
    await userEvent.click(button('新增通知'));
    expect(await screen.findByText('whsec_shown_once')).toBeTruthy();
    expect(within(dialog()).getByRole('button', { name: '复制' })).toBeTruthy();
    await userEvent.click(within(dialog()).getByRole('button', { name: '知道了' }));
    await userEvent.click(button('试发 https://chat.example/… 0a1b2c3d4e5f'));
    await waitFor(() => expect(said()).toContain('已送达'));
    expect(server.posted().map(({ body }) => body)).toEqual([{ url: 'https://bot.example/hook' }, { id: webhook.id }]);
  });

  test('windows are listed, added with a reason and taken away', async () => {
    const weekly = { kind: 'weekly' as const, from: 4 * 1440 + 1080, to: 480, zone: 'Asia/Shanghai' };
    const freeze = { id: '0a1b2c3d', window: weekly, reason: '周末', by: '小王', at: instant(60), open: true };
    server.agenda = agendaWith({ schedules: [], freezes: [freeze] });
    await openPage();
    await openSettings();
    expect(screen.getByText(/每周五 18:00 至 周一 08:00（Asia\/Shanghai）/)).toBeTruthy();
    await userEvent.click(screen.getByText('新增冻结期', { selector: 'summary' }));
    await userEvent.clear(screen.getByLabelText('时区'));
    await userEvent.type(screen.getByLabelText('时区'), 'Europe/Berlin');
    await userEvent.click(button('下一步'));
    await userEvent.click(within(dialog()).getByRole('button', { name: '新增冻结期' }));
    expect(within(dialog()).getByText('请写明原因')).toBeTruthy();
    expect(server.posted()).toEqual([]);
    await userEvent.type(within(dialog()).getByLabelText(/原因/), '没有人值班');
    await userEvent.click(within(dialog()).getByRole('button', { name: '新增冻结期' }));
    await waitFor(() =>
      expect(server.posted()[0]?.body).toMatchObject({
        window: { ...weekly, zone: 'Europe/Berlin' },
        why: '没有人值班',
      }),
    );
    await userEvent.click(await screen.findByRole('button', { name: '移除 周末' }));
    await userEvent.click(within(dialog()).getByRole('button', { name: '移除' }));
    await waitFor(() => expect(server.posted()[1]).toMatchObject({ body: { id: '0a1b2c3d' } }));
  });
});

describe('signing in', () => {
  test('the token of the address goes to this tab alone and leaves the address', () => {
    sessionStorage.clear();
    location.hash = '#token=lz_new_token';
    expect(readToken()).toBe('lz_new_token');
    expect(location.hash).toBe('');
    expect(readToken()).toBe('lz_new_token');
  });

  test('without a token one is asked for; a wrong one is told of, the right one opens the page', async () => {
    sessionStorage.clear();
    render(<ConsolePage />);
    await userEvent.type(await screen.findByLabelText('访问令牌'), 'lz_wrong');
    await userEvent.click(button('进入'));
    expect((await screen.findByRole('alert')).textContent).toContain('令牌无效');
    expect(sessionStorage).toHaveLength(0);
    await userEvent.type(screen.getByLabelText('访问令牌'), `${server.token}{Enter}`);
    expect(await screen.findByText(/^状态 7，/)).toBeTruthy();
    await userEvent.click(button('退出'));
    expect(await screen.findByLabelText('访问令牌')).toBeTruthy();
    expect(sessionStorage).toHaveLength(0);
  });

  test.each([
    ['where the page asks for a token', null],
    ['where another one is in use', 'lz_new'],
  ])('a link with a token, pasted over the open page, signs in %s', async (_, renewed) => {
    if (renewed) {
      await openPage();
      server.token = renewed;
    } else {
      sessionStorage.clear();
      render(<ConsolePage />);
      await screen.findByLabelText('访问令牌');
    }
    location.hash = `#token=${server.token}`;
    fireEvent(window, new Event('hashchange'));
    await waitFor(() => expect(sessionStorage.getItem('liaozhai-console-token')).toBe(server.token));
    expect(location.hash).toBe('');
    expect(await screen.findByText(/^状态 7，/)).toBeTruthy();
  });

  test('a token that ends while the page is open leads back to signing in', async () => {
    await openPage();
    server.token = 'another';
    expect((await screen.findByRole('alert')).textContent).toContain('令牌无效');
    expect(screen.queryByText(/状态 7/)).toBeNull();
  });

  test('a server that fails is named with its own words', async () => {
    server.away = true;
    render(<ConsolePage />);
    const told = (await screen.findByRole('alert')).textContent;
    expect(told).toContain('发布存储暂时无法访问');
    expect(told).toContain('the store is away');
    server.away = false;
    await userEvent.click(button('重试'));
    expect(await screen.findByText(/^状态 7，/)).toBeTruthy();
  });

  test.each([
    ['to sign in', false, '访问令牌'],
    ['where the server fails', true, '重试'],
  ])('the page %s has one main part with its heading', async (_, away, words) => {
    if (!away) sessionStorage.clear();
    server.away = away;
    render(<ConsolePage />);
    await screen.findByText(words);
    expect(within(screen.getByRole('main')).getByRole('heading', { level: 1 }).textContent).toBe('发布台');
    expect(within(screen.getByRole('main')).getByText(words)).toBeTruthy();
  });
});

describe('signing in as a person', () => {
  beforeEach(() => sessionStorage.clear());

  test('is offered beside the token where the console has a provider', async () => {
    server.session = { offered: true, signedIn: false };
    render(<ConsolePage />);
    expect((await screen.findByRole('link', { name: '单点登录' })).getAttribute('href')).toBe('/auth/login');
    await userEvent.type(screen.getByLabelText('访问令牌'), `${server.token}{Enter}`);
    expect(await screen.findByText(/^状态 7，/)).toBeTruthy();
  });

  test('shows who is at work and what the groups give together, and signs out for good', async () => {
    server.session = { offered: true, signedIn: true };
    const grant = { role: 'deployer', name: 'stories' } as const;
    server.me = { ...grant, person: '李华', more: [{ role: 'deployer', name: 'chat' }] };
    await openPage();
    expect(screen.getAllByText('李华 · 部署者 · stories、部署者 · chat')[0]).toBeTruthy();
    expect([button('回退 chat'), button('回退 stories')].every(Boolean)).toBe(true);
    expect(screen.queryByRole('button', { name: '整体回退' })).toBeNull();
    await userEvent.click(button('退出'));
    await screen.findByRole('link', { name: '单点登录' });
    expect(server.session.signedIn).toBe(false);
    expect(screen.queryByRole('alert')).toBeNull();
  });

  test('that ends while the page is open says that the session is over, not that a token is wrong', async () => {
    server.session = { offered: true, signedIn: true };
    await openPage();
    server.session.signedIn = false;
    expect((await screen.findByRole('alert')).textContent).toBe('登录已结束，请重新登录');
  });

  test('that ends while a reason is being typed keeps it for the same question after signing in again', async () => {
    server.session = { offered: true, signedIn: true };
    await openPage();
    const ask = () => userEvent.click(button('回退 chat'));
    const reason = async () => {
      await screen.findByRole('alertdialog');
      return within(dialog()).getByLabelText<HTMLInputElement>('原因（会写入记录）');
    };
    await ask();
    await userEvent.type(await reason(), '封面不见了');
    server.session.signedIn = false;
    await screen.findByText('登录已结束，请重新登录');
    cleanup();
    server.session.signedIn = true;
    await openPage();
    await ask();
    expect((await reason()).value).toBe('封面不见了');
    await userEvent.click(button('取消'));
    await userEvent.click(button('退出'));
    expect(sessionStorage.length).toBe(0);
  });

  test.each([
    ['away', /暂时无法访问.*访问令牌/, '/auth/login'],
    ['noAccess', /没有角色/, '/auth/login?again'],
    ['anything', /日志/, '/auth/login'],
  ])('that failed (%s) is told in words, once', async (failure, words, href) => {
    server.session = { offered: true, signedIn: false };
    location.hash = `#sign-in=${failure}`;
    render(<ConsolePage />);
    expect((await screen.findByRole('alert')).textContent).toMatch(words);
    expect(screen.getByRole('link', { name: '单点登录' }).getAttribute('href')).toBe(href);
    expect(location.hash).toBe('');
  });
});

describe('the language', () => {
  test('is switched in place, told to the browser, and remembered on this device', async () => {
    const entry = { seq: 6, verb: 'abort', who: '小王', what: old, why: 'slow', at: instant(7200) };
    server.log = [{ ...entry, action: { kind: 'abort', builds: [old], evidence: [] } }];
    await openPage();
    expect([document.documentElement.lang, document.title]).toEqual(['zh-CN', '发布台 · 聊斋']);
    await userEvent.click(button('English'));
    expect([document.documentElement.lang, document.title]).toEqual(['en', 'Release console · Liaozhai']);
    expect(section('Live').textContent).toContain('switched by 小王, 5 minutes ago');
    expect(section('Canary').textContent).toContain('10% of visitors');
    expect(section('Health').textContent).toContain('load time p75 300 ms');
    expect(section('Log').textContent).toContain('6 · Aborted stories 1.0.0·aaaa小王, 2 hours ago“slow”');
    // except the seal, the name of the other language, and people's names
    expect(document.body.textContent?.replace(/聊|中文|小[王李]/g, '')).not.toMatch(/\p{Script=Han}|[，。：（）「」]/u);
    expect(createLanguage().current()).toBe('en');
    await userEvent.click(button('中文'));
    expect(section('正在运行').textContent).toContain('状态 7');
    expect(createLanguage().current()).toBe('zh');
  });

  test('can be chosen before signing in, and words what the API refuses', async () => {
    sessionStorage.clear();
    render(<ConsolePage />);
    await userEvent.click(await screen.findByRole('button', { name: 'English' }));
    await userEvent.type(screen.getByLabelText('Access token'), 'lz_wrong{Enter}');
    expect((await screen.findByRole('alert')).textContent).toContain('no longer valid');
    server.away = true;
    await userEvent.type(screen.getByLabelText('Access token'), 'lz_other{Enter}');
    await waitFor(() => expect(screen.getByRole('alert').textContent).toContain('cannot be reached right now'));
  });

  test('of a question, its answer and a refusal is English as well', async () => {
    language.choose('en');
    render(<ConsolePage />);
    await userEvent.click(await screen.findByRole('button', { name: 'Roll back stories' }));
    await within(dialog()).findByText('stories: 1.1.0·bbbb → 1.0.0·aaaa');
    server.seqs.production = 8;
    await screen.findByText(/State 8/);
    await userEvent.click(within(dialog()).getByRole('button', { name: 'Roll back' }));
    await waitFor(() => expect(dialog().textContent).toContain('The state has just changed'));
    // shown once, without a toast
    expect(screen.getByRole('region', { name: 'Notices' }).textContent).toBe('');
    await userEvent.click(button('OK'));
  });

  test('English has its own punctuation in comparisons and in what a chart says', async () => {
    language.choose('en');
    const health = { from: { ...group, failedVisitors: 4, failures: { 'render-threw': 4 } }, to: group };
    const alike = { from: '^1.0.0', to: '^1.0.0' };
    server.comparison = [
      {
        ...{ name: 'stories', from: old, to: next, back: false, damaged: [], page: null, commits: [], health },
        ...{ files: { from: { count: 3, bytes: 20_480 }, to: { count: 3, bytes: 20_480 } }, changedFiles: [] },
        ...{ routes: { added: [], removed: [] }, contract: alike },
        libraries: [{ name: 'dayjs', carries: { from: '1.0.0', to: '1.2.0' }, accepts: { from: '1.0.0', to: null } }],
      },
    ];
    const felt = { pages: 1203, p75: 1240, points: Array<number>(12).fill(1200) };
    const metrics = [{ metric: 'lcp' as const, stable: { build: old, ...felt }, candidate: null, verdict: null }];
    server.health = {
      stable: group,
      candidates: [],
      builds: [],
      vitals: [{ name: 'stories', from: instant(0), stepMinutes: 5, metrics }],
    };
    render(<ConsolePage />);
    const builds = await screen.findByRole('region', { name: 'Builds' });
    await userEvent.click(await within(builds).findByText('stories', { selector: 'strong' }));
    await userEvent.click(await within(builds).findByRole('button', { name: `More: ${next}` }));
    await userEvent.click(await screen.findByRole('menuitem', { name: 'Compare with live' }));
    expect((await screen.findByRole('alertdialog')).textContent).toContain('^1.0.0 (the same)');
    expect(document.body.innerHTML.match(/.{0,40}[，。：；（）、「」].{0,20}/g)).toBeNull();
  });
});

describe('what the page shows', () => {
  test('what runs since when and by whom, the last good build, the share of the candidate', async () => {
    await openPage();
    expect(section('正在运行').textContent).toContain('5分钟前，由 小王 切换');
    expect(section('正在运行').textContent).toContain('备用 0.9.0·dddd');
    // it does not fit, so no page takes it
    expect(section('正在运行').textContent).not.toContain('eeee');
    expect(section('灰度').textContent).toContain('10% 的访客 · 由 小李 开始于1分钟前');
  });

  test.each([
    [
      { role: 'manager', name: null },
      [
        ...['回退 chat', '回退 stories', '整体回退'],
        ...['调整比例', '定时扩大 stories', '中止灰度 stories', '全量上线 stories'],
      ],
    ],
    [
      { role: 'deployer', name: 'stories' },
      ['回退 stories', '调整比例', '定时扩大 stories', '中止灰度 stories', '全量上线 stories'],
    ],
    [{ role: 'deployer', name: 'chat' }, ['回退 chat']],
    [{ role: 'publisher', name: 'stories' }, []],
    [{ role: 'viewer', name: null }, []],
  ] as [Me, string[]][])('%o is offered what the role may do', async (me, expected) => {
    server.me = me;
    await openPage();
    const offered = [section('正在运行'), section('灰度')].flatMap((part) => within(part).queryAllByRole('button'));
    const names = offered.map((one) => one.getAttribute('aria-label') ?? one.textContent ?? '');
    expect(names.filter((name) => !/^(?:更多：|加一步|去掉)/.test(name))).toEqual(expected);
  });

  test('names and reasons from the store stay text', async () => {
    const evil = '<img src=x onerror=alert(1)>';
    const action: LogEntry['action'] = { kind: 'text', text: evil, evidence: [{ kind: 'text', text: evil }] };
    server.log = [{ seq: 2, verb: 'activate', who: evil, what: evil, why: evil, at: instant(9), action }];
    await openPage();
    expect(section('记录').querySelector('img')).toBeNull();
    expect(section('记录').querySelector('ol')?.textContent?.split(evil)).toHaveLength(5);
  });

  test('the log, with a way back to every state in which something else was live', async () => {
    const entry = { verb: 'activate', who: '小王', what: '', why: '新列表', at: instant(9) };
    const evidence: LogEntry['action']['evidence'] = [{ kind: 'overtaken', build: next }];
    server.log = [7, 6, 1].map((seq) => ({ ...entry, seq, action: { kind: 'activate', builds: [old], evidence } }));
    const noted = (seq: number): LogEntry => ({
      ...entry,
      seq,
      verb: 'freeze',
      action: { kind: 'freeze', evidence: [] },
    });
    server.log = [noted(8), ...server.log.slice(0, 2), noted(5), ...server.log.slice(2)];
    await openPage();
    const log = within(section('记录'));
    expect(log.getByText('7 · 上线').parentElement?.textContent).toContain('7 · 上线 stories 1.0.0·aaaa');
    expect(log.getAllByText('stories 1.1.0·bbbb 退出灰度：stories 的另一个构建已对所有人上线')).toHaveLength(3);
    expect(log.getAllByRole('button').map((one) => one.getAttribute('aria-label'))).toEqual(['回到此状态 6']);
  });

  test('the candidate beside its control, and the verdict', async () => {
    const verdict = { test: '', pValue: 1e-9, alpha: 1e-4, enough: true, worse: true };
    const tried = { ...group, failedVisitors: 20, failures: { hang: 20 }, p75LoadMilliseconds: 512.4 };
    server.health = { stable: group, candidates: [{ builds: [next], tried, control: group, verdict }], builds: [] };
    await openPage();
    for (const part of ['20（33.3%）', '超时 20', '512毫秒', '明显变差', '将自动中止'])
      expect(section('健康').textContent).toContain(part);
  });

  test('what visitors felt, stable beside candidate: a chart with its figures in words, and who has too few pages', async () => {
    const felt = { pages: 1203, p75: 1240, points: [...Array(11).fill(1200), 1300] };
    const few = { pages: 9, p75: null, points: [...Array(10).fill(null), 2100, 2300] };
    const verdict = { tried: felt, control: felt, pValue: 1e-9, alpha: 1e-4, enough: true, slower: true };
    const lcp = { metric: 'lcp' as const, stable: { build: old, ...felt }, candidate: { build: next, ...few } };
    const vitals = [
      {
        name: 'chat',
        from: instant(0),
        stepMinutes: 120,
        metrics: [{ ...lcp, candidate: null, verdict: null }],
      },
      {
        name: 'stories',
        from: instant(0),
        stepMinutes: 5,
        metrics: [{ ...lcp, verdict }],
      },
    ];
    server.health = { stable: group, candidates: [], builds: [], vitals };
    await openPage();
    const shown = section('访客体验');
    await within(shown).findByText('stories');
    const [stories, chats] = [...shown.querySelectorAll('details')];
    expect([stories?.open, chats?.open]).toEqual([true, false]);
    const summaries = [stories, chats].map((each) => each?.querySelector('summary')?.textContent);
    expect(summaries).toEqual(['stories 1.0.0·aaaa → 1.1.0·bbbb', 'chat 1.0.0·aaaa']);
    for (const part of ['1.24秒（1,203 页）', '样本太少（9 页）', '明显变慢', '将自动中止'])
      expect(stories?.textContent).toContain(part);
    const chart = within(shown).getByRole('img', {
      name: /每点 5 分钟.*稳定版 1.2秒、.*、1.3秒。灰度版 –、.*2.1秒、2.3秒/,
    });
    expect(chart.querySelectorAll('polyline')).toHaveLength(2);
  });

  test('an error of a build as one sentence, which opens to what helps to mend it', async () => {
    const error = {
      ...{
        build: old,
        gone: false,
        name: 'TypeError',
        kind: 'uncaught',
        where: 'ChatLog.tsx:88',
        first: instant(0),
        last: instant(1),
      },
      message: 'undefined is not an object',
      frames: [{ at: 'src/components/ChatLog.tsx:88', name: 'newest' }],
      visitors: 31,
      of: 1000,
      browsers: [{ label: 'Safari 17', visitors: 31 }],
      routes: [
        { label: '/story/:id', visitors: 30 },
        { label: '/my', visitors: 1 },
      ],
    };
    const gone = { ...error, build: 'stories@0.9.0+eeeeeeeeeeee', gone: true };
    const lost = { ...error, kind: 'chunk-lost', where: null, frames: [], visitors: 1, of: 3 };
    server.health = { stable: group, candidates: [], builds: [], errors: [error, lost, gone] };
    await openPage();
    const health = within(section('健康'));
    const sentence = await health.findByText(
      /^stories 1\.0\.0·aaaa：3\.1% 的访客，全是 Safari 17，在 \/story\/:id 等 2 个页面，ChatLog\.tsx:88 的 TypeError，[\d:]+ 起$/,
    );
    expect(sentence.closest('details')?.textContent).toContain('at newest (src/components/ChatLog.tsx:88)');
    expect(sentence.closest('details')?.textContent).toContain('TypeError: undefined is not an object');
    expect(sentence.closest('details')?.textContent).toMatch(/Safari 17：\d+ 位、\/story\/:id：\d+ 位/);
    expect(health.getByText(/3 位访客中 1 位/).textContent).toContain('分块丢失');
    expect(health.getByText(/^stories 0\.9\.0·eeee（已不再运行）：/)).toBeTruthy();

    // a page loaded over plain HTTP has no clipboard
    const own = Object.getOwnPropertyDescriptor(navigator, 'clipboard');
    Object.defineProperty(navigator, 'clipboard', { configurable: true, value: undefined });
    onTestFinished(() => {
      if (own) Object.defineProperty(navigator, 'clipboard', own);
      else Reflect.deleteProperty(navigator, 'clipboard');
    });
    const [copy] = health.getAllByRole('button', { name: '复制', hidden: true });
    if (copy) fireEvent.click(copy);
    await waitFor(() => expect(copy?.textContent).toBe('没能复制，请长按上面的内容'));
  });

  test('every build with its failures, and an alarm for one that fails everybody', async () => {
    const failing = { ...group, failedVisitors: 40, failures: { hang: 40 } };
    const none = { visitors: 9, failedVisitors: 0 };
    const quiet = { minutes: 15, recent: none, before: none, beside: null };
    const fine = { build: chat, group: 'stable' as const, ...group, ...quiet };
    const recent = { visitors: 50, failedVisitors: 38 };
    const beside = { build: 'stories@0.9.0+eeeeeeeeeeee', visitors: 817, failedVisitors: 4 };
    const builds = [
      { ...fine, alarm: false },
      { ...fine, build: old, ...failing, recent, beside, alarm: true },
    ];
    server.health = { stable: group, candidates: [], builds };
    await openPage();
    const health = section('健康');
    expect((await within(health).findByRole('alert')).textContent).toContain('50 位访客中 38 位失败，此前 9 位中 0 位');
    expect(health.textContent).toMatch(
      /stories.*超时 40.*上一版 0.9.0·eeee：4 \/ 817 位失败.*40 \/ 60 位失败.*chat.*0 \/ 60/,
    );
    expect(screen.getByText('stories 1.0.0·aaaa 有问题')).toBeTruthy();
    // every figure names its period
    expect(health.textContent).toMatch(/稳定版 切换以来 60 位访客.*一天内stories.*chat/);
    await openSettings();
    await userEvent.click(button('看数据'));
    await waitFor(() => expect(document.activeElement?.textContent).toBe('健康'));
  });

  test('what a build was made from, with links to its change and its run, in the list and in the log', async () => {
    const change = 'https://gitee.com/team/stories/pulls/5';
    const provenance = {
      ...summary(next).provenance,
      commit: '0123456789ab',
      author: '王五',
      change,
      run: 'javascript:1',
    };
    server.builds = [{ ...summary(next), provenance }];
    const action: LogEntry['action'] = { kind: 'activate', builds: [next], evidence: [] };
    const entry = { seq: 6, verb: 'activate', who: '小王', what: next, why: '', at: instant(9), action };
    server.log = [{ ...entry, origins: { [next]: provenance } }];
    await openPage();
    await userEvent.click(within(section('构建')).getByText('stories', { selector: 'strong' }));
    await within(section('构建')).findByText(/提交 0123456789ab/);
    for (const part of [section('构建'), section('记录')]) {
      expect(part.textContent).toContain('提交 0123456789ab · 王五 · 变更');
      const links = within(part).getAllByRole('link');
      expect(links.map((link) => link.getAttribute('href'))).toEqual([change]);
    }
  });

  test('several candidates, each with its share and a way to end it alone', async () => {
    server.more = [
      {
        set: 'c'.repeat(40),
        builds: ['chat@1.1.0+ffffffffffff'],
        percent: 20,
        salt: 'yyyyyyyy',
        since: instant(30),
        by: '小赵',
      },
    ];
    await openPage();
    expect(section('灰度').textContent).toMatch(/10% 的访客.*小李.*stories.*20% 的访客.*小赵.*chat/);
    await userEvent.click(button('中止灰度 chat'));
    expect(dialog().textContent).toMatch(/中止灰度 chat.*chat：1\.1\.0·ffff → 1\.0\.0·cccc/);
    await userEvent.click(within(dialog()).getByRole('button', { name: '中止灰度' }));
    await waitFor(() => expect(server.posted()).toMatchObject([{ body: { name: 'chat', seq: 7 } }]));
  });

  test.each([
    ['a lost connection', null, '发布台没有响应，请检查网络'],
    ['a store that fails', [503, { message: 'the store failed: EIO' }], '存储出错：EIO'],
    [
      'a damaged channel',
      [422, { message: 'channel production is damaged', cure: 'Roll back.', details: ['seq: Invalid'] }],
      '通道 production 已损坏seq: Invalid请回退',
    ],
  ] as const)('%s is shown above the state last seen, until it can be read', async (_, answer, told) => {
    await openPage();
    server.away = answer ?? 'unreachable';
    const alert = await screen.findByRole('alert');
    expect(alert.textContent).toMatch(/^暂时无法读取状态.*下面是 \d+:\d\d:\d\d 看到的状态/);
    expect(alert.textContent).toContain(told);
    expect(screen.getByText(/状态 7/)).toBeTruthy();
    server.away = false;
    await waitFor(() => expect(screen.queryByRole('alert')).toBeNull());
  });

  test('a list of builds that was lost says so; a switch brings it back with what was published meanwhile', async () => {
    await openPage();
    server.away = true;
    const list = within(section('构建')).getByText('stories', { selector: 'strong' }).closest('details');
    if (!list) throw new Error('no list');
    await userEvent.click(within(list).getByText('stories'));
    await waitFor(() => expect(list.textContent).toContain('列表读取失败'));
    server.away = false;
    server.builds = [summary('stories@1.2.0+eeeeeeeeeeee'), { ...summary(old), problem: 'build.json is damaged' }];
    server.seqs.production = 8;
    await waitFor(() => expect(list.textContent).toContain('1.2.0'));
    expect(list.textContent).not.toContain('读取失败');
    const rows = [...list.querySelectorAll('li')];
    expect(rows.map((row) => row.textContent?.includes('已损坏'))).toEqual([false, true]);
    expect(rows.map((row) => row.querySelectorAll('button').length > 0)).toEqual([true, false]);
  });
});

describe('a change', () => {
  test('is asked about by what it changes, and made for a reason; its end is told', async () => {
    await openPage();
    await userEvent.click(button('回退 stories'));
    expect(dialog().textContent).toContain('stories：1.1.0·bbbb → 1.0.0·aaaa');
    expect(dialog().textContent).not.toContain('chat');
    await userEvent.type(screen.getByLabelText('原因（会写入记录）'), '封面不见了{Enter}');
    await waitFor(() => expect(said()).toBe('完成，现在是状态 8'));
    expect(server.posted()).toEqual([
      { path: 'rollback?channel=production', body: { name: 'stories', why: '封面不见了', seq: 7 } },
    ]);
    await screen.findByText(/^状态 8，/);
  });

  test('that is called off changes nothing, and the next question begins without its reason', async () => {
    await openPage();
    await userEvent.click(button('整体回退'));
    await userEvent.type(screen.getByLabelText('原因（会写入记录）'), '也许');
    await userEvent.click(button('取消'));
    expect(server.posted()).toEqual([]);
    await userEvent.click(button('中止灰度 stories'));
    expect(screen.getByLabelText<HTMLInputElement>('原因（会写入记录）').value).toBe('');
  });

  test('whose answer is lost is said to be uncertain, and never to have failed', async () => {
    await openPage();
    await userEvent.click(button('整体回退'));
    const online = globalThis.fetch;
    globalThis.fetch = async (input, init) => {
      await online(input, init);
      throw new TypeError('Failed to fetch');
    };
    await userEvent.click(within(dialog()).getByRole('button', { name: '回退' }));
    await waitFor(() => expect(dialog().textContent).toContain('可能已经执行，也可能没有'));
    globalThis.fetch = online;
    expect(server.posted()).toHaveLength(1);
    await screen.findByText(/^状态 8，/);
  });

  test.each(FOREIGN)('that is answered by $what is uncertain too, and the page goes on', async ({ body }) => {
    await openPage();
    await userEvent.click(button('整体回退'));
    const online = globalThis.fetch;
    globalThis.fetch = async (input, init) => {
      await online(input, init);
      return new Response(body);
    };
    await userEvent.click(within(dialog()).getByRole('button', { name: '回退' }));
    await waitFor(() => expect(dialog().textContent).toContain('可能已经执行，也可能没有'));
    globalThis.fetch = online;
    expect(server.posted()).toHaveLength(1);
    await screen.findByText(/^状态 8，/);
  });

  test.each(FOREIGN)('a page to which $what answers says that this is not the console', async ({ body }) => {
    globalThis.fetch = async () => new Response(body);
    render(<ConsolePage />);
    expect((await screen.findByRole('alert')).textContent).toMatch(/收到的不是这个发布台的回答/);
  });

  test('is tied to the state it was asked about: another team that was faster is told of, not overrun', async () => {
    await openPage();
    await userEvent.click(button('全量上线 stories'));
    expect(dialog().textContent).toContain('stories：1.0.0·aaaa → 1.1.0·bbbb');
    const action = { kind: 'rollback' as const, builds: [old], names: ['stories'], to: 6, evidence: [] };
    server.log = [{ seq: 8, verb: 'rollback', who: '小李', what: old, why: '', at: instant(1), action }];
    server.seqs.production = 8;
    await screen.findByText(/^状态 8/);
    await userEvent.click(within(dialog()).getByRole('button', { name: '全量上线' }));
    await waitFor(() => expect(dialog().textContent).toContain('状态刚刚变了'));
    expect(dialog().textContent).toContain('回退 stories 1.0.0·aaaa（同状态 6），小李');
    expect(server.posted()).toMatchObject([{ path: 'promote?channel=production', body: { seq: 7 } }]);
    expect(server.seqs.production).toBe(8);
    await userEvent.click(button('知道了'));
    expect(screen.queryByText('知道了')?.closest('dialog')?.open ?? false).toBe(false);
  });

  test('of a rollback was compared with the very state it is posted for, on the channel it was asked for', async () => {
    await openPage();
    const release = server.hold('before?channel=production&name=stories');
    await userEvent.click(button('回退 stories'));
    server.seqs.production = 8;
    await screen.findByText(/^状态 8，/);
    release();
    await waitFor(() => expect(dialog().textContent).toContain('1.0.0·aaaa'));
    await userEvent.click(within(dialog()).getByRole('button', { name: '回退' }));
    await waitFor(() => expect(dialog().textContent).toContain('状态刚刚变了'));
    expect(server.asked.map(({ path }) => path)).toContain('diff?channel=production&a=7&b=3');
    expect(server.posted()).toMatchObject([{ path: 'rollback?channel=production', body: { seq: 7 } }]);
  });

  test('of the share names the share that the slider stands for, and is offered only for another one', async () => {
    await openPage();
    expect(button('调整比例').disabled).toBe(true);
    const slider = screen.getByRole<HTMLInputElement>('slider', { name: '访客比例' });
    slide(slider, 8);
    expect(slider.getAttribute('aria-valuetext')).toBe('30% 的访客');
    await userEvent.click(button('调整比例'));
    expect(dialog().textContent).toMatch(/^调整比例 stories.*10% 的访客 → 30% 的访客/);
    expect(dialog().textContent).not.toContain('定时扩大');
    await userEvent.click(within(dialog()).getByRole('button', { name: '调整比例' }));
    await waitFor(() => expect(server.posted()).toMatchObject([{ body: { builds: [next], percent: 30, seq: 7 } }]));
  });

  test('of the share says that it ends the schedule', async () => {
    server.agenda = agendaWith();
    await openPage();
    slide(screen.getByRole<HTMLInputElement>('slider', { name: '访客比例' }), 8);
    await userEvent.click(button('调整比例'));
    expect(dialog().textContent).toContain('定时扩大随之结束');
  });

  test('checking a build tells every problem by its check, or that there is none', async () => {
    await openPage();
    await userEvent.click(within(section('构建')).getByText('stories', { selector: 'strong' }));
    const problem = `${next}: route /tasks belongs to the host already: choose another`;
    server.check = [{ check: 'routes', problems: [problem, 'as told'] }];
    await choose(next, '检查');
    await waitFor(() => expect(dialog().textContent).toContain('地址：stories 1.1.0·bbbb：页面 /tasks 已经属于主程序'));
    expect(dialog().textContent).toContain('as told');
    await userEvent.click(button('知道了'));
    server.check = [{ check: 'routes', problems: [] }];
    await choose(next, '检查');
    await waitFor(() => expect(said()).toBe('stories 1.1.0·bbbb 检查通过，可以上线'));
    await choose(next, '临时链接');
    await waitFor(() => expect(dialog().textContent).toContain('?override=abc'));
  });

  test('an override is a whole address, copied by its button', async () => {
    server.site = 'https://app.example';
    await openPage();
    await userEvent.click(within(section('构建')).getByText('stories', { selector: 'strong' }));
    await choose(next, '临时链接');
    const copy = await within(dialog()).findByRole('button', { name: '复制' });
    await userEvent.click(copy);
    await waitFor(() => expect(copy.textContent).toBe('已复制'));
    expect(await navigator.clipboard.readText()).toBe('https://app.example/?override=abc');
  });
});

test('what another channel runs is promoted after its differences were shown', async () => {
  await openPage();
  await choose('正在运行', '换成 preview 的全部构建');
  await waitFor(() => expect(dialog().textContent).toContain('stories：1.1.0'));
  expect(server.asked.some(({ path }) => path.startsWith('diff?channel=production&a=stable&b=preview%3Astable'))).toBe(
    true,
  );
  await userEvent.click(within(dialog()).getByRole('button', { name: '全量上线' }));
  await waitFor(() =>
    expect(server.posted()).toEqual([
      { path: 'promote?channel=production', body: { from: 'preview', why: '', seq: 7 } },
    ]),
  );
});

test('a set that would take back what runs is refused in the words of the page, which brings it there', async () => {
  server.reason = { kind: 'takenBack', from: 'preview', builds: [{ build: next, to: old }] };
  await openPage();
  await choose('正在运行', '换成 preview 的全部构建');
  await userEvent.click(within(dialog()).getByRole('button', { name: '全量上线' }));
  const bring = await screen.findByRole('button', { name: '把 stories 带到 preview' });
  expect(dialog().textContent).toMatch(/production 正在运行 stories 1\.1\.0.*preview 从未有过它.*会退回 1\.0\.0/);
  expect(dialog().textContent).not.toMatch(/--force|never had/);
  await userEvent.click(bring);
  await waitFor(() => expect(dialog().textContent).toContain('把 stories 带到 preview'));
  await within(dialog()).findByText(/stories：.*→ 1\.1\.0/);
  expect(location.search).toBe('?channel=preview');
  await userEvent.click(within(dialog()).getByRole('button', { name: '全量上线' }));
  await waitFor(() =>
    expect(server.posted().at(-1)).toEqual({
      path: 'promote?channel=preview',
      body: { from: 'production', name: 'stories', why: '', seq: 20 },
    }),
  );
  history.replaceState(null, '', '/');
});

describe('a preview from a dev server', () => {
  const browser = 'b'.repeat(32);
  const remotes = ['stories@http://localhost:3101'];

  test('is opened for a person by what their page shows, after a word of warning, in the log with the reason', async () => {
    await openPage();
    await openSettings();
    const part = within(section('本地预览'));
    await userEvent.click(part.getByText('为一个人打开'));
    await userEvent.type(part.getByLabelText('请求'), `${remotes[0]} ${browser}`);
    await userEvent.type(part.getByLabelText('给谁（会写入记录）'), '李华');
    await userEvent.click(part.getByRole('button', { name: '打开' }));
    for (const line of [remotes[0] ?? '', '李华', '没有经过检查'])
      await waitFor(() => expect(dialog().textContent).toContain(line));
    await userEvent.click(within(dialog()).getByRole('button', { name: '打开' }));
    await waitFor(() =>
      expect(server.posted()).toEqual([
        {
          path: 'preview?channel=production',
          body: { request: `${remotes[0]} ${browser}`, person: '李华', hours: 4, why: '', seq: 7 },
        },
      ]),
    );
  });

  const held = { browser, channel: 'production', remotes, person: '李华', why: '', at: instant(60), revoked: null };
  const listed = { ...held, expires: instant(-3600), who: '小王', sig: '' };

  test('is listed while it holds, and ended by its button', async () => {
    server.previews = [listed];
    await openPage();
    await openSettings();
    await waitFor(() => expect(section('本地预览').textContent).toContain('stories@http://localhost:3101'));
    await userEvent.click(button('结束 李华'));
    await userEvent.click(within(dialog()).getByRole('button', { name: '结束' }));
    await waitFor(() => expect(server.posted()[0]?.body).toMatchObject({ browser }));
  });

  test('is nothing to open or to end for who only looks', async () => {
    server.previews = [listed];
    server.me = { role: 'viewer', name: null };
    await openPage();
    await openSettings();
    await waitFor(() => expect(section('本地预览').textContent).toContain('李华'));
    expect(screen.queryByRole('button', { name: '结束 李华' })).toBeNull();
    expect(screen.queryByText('为一个人打开')).toBeNull();
  });
});

/** Moves a slider as a finger or an arrow key does. */
function slide(slider: HTMLInputElement, step: number) {
  act(() => {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(slider, String(step));
    slider.dispatchEvent(new Event('input', { bubbles: true }));
  });
}

describe('while a request runs', () => {
  test('its button is busy, no other can be pressed, and that it runs is said where it is seen', async () => {
    await openPage();
    const release = server.hold('before?channel=production&name=stories');
    await userEvent.click(button('回退 stories'));
    expect(button('回退 stories').getAttribute('aria-busy')).toBe('true');
    for (const name of ['回退 stories', '回退 chat', '整体回退', '中止灰度 stories', '全量上线 stories'])
      expect(button(name).disabled).toBe(true);
    expect(said()).toBe('正在执行……');
    await userEvent.click(button('回退 stories'));
    release();
    await screen.findByRole('alertdialog');
    expect(server.asked.filter(({ path }) => path.startsWith('before'))).toHaveLength(1);
    expect(said()).toBe('');
  });

  test('the question cannot be agreed to twice, and leaving it lets the request go on', async () => {
    await openPage();
    await userEvent.click(button('中止灰度 stories'));
    const release = server.hold('abort?channel=production');
    const agree = within(dialog()).getByRole<HTMLButtonElement>('button', { name: '中止灰度' });
    await userEvent.click(agree);
    expect(agree.getAttribute('aria-disabled')).toBe('true');
    expect(said()).toBe('正在执行……');
    await act(async () => history.back());
    await waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull());
    expect(said()).toBe('正在执行……');
    // the server refuses a decision on an outdated state
    expect(button('全量上线 stories').disabled).toBe(false);
    release();
    await waitFor(() => expect(said()).toBe('完成，现在是状态 8'));
    expect(server.posted()).toHaveLength(1);
  });

  test('a connection that hangs is given up as uncertain, and the reason typed stands there again', async () => {
    await openPage();
    await userEvent.click(button('回退 chat'));
    await screen.findByRole('alertdialog');
    await userEvent.type(within(dialog()).getByLabelText('原因（会写入记录）'), '封面不见了');
    server.hold('rollback?channel=production');
    rs.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      fireEvent.click(within(dialog()).getByRole('button', { name: '回退' }));
      await act(() => rs.advanceTimersByTimeAsync(14_000));
      expect(said()).toBe('正在执行……');
      await act(() => rs.advanceTimersByTimeAsync(2_000));
    } finally {
      rs.useRealTimers();
    }
    expect((await screen.findByText(/可能已经执行，也可能没有/)).textContent).toBeTruthy();
    await userEvent.click(button('知道了'));
    await userEvent.click(button('回退 chat'));
    const reason = () => within(dialog()).getByLabelText<HTMLInputElement>('原因（会写入记录）').value;
    await waitFor(() => expect(reason()).toBe('封面不见了'));
    await userEvent.click(button('取消'));
    await userEvent.click(button('整体回退'));
    await waitFor(() => expect(dialog().textContent).toContain('整体回退'));
    expect(reason()).toBe('');
  });
});

describe('what comes first', () => {
  const failing = { ...group, visitors: 40, failedVisitors: 12 };
  const verdict = { test: '', pValue: 1e-6, alpha: 1e-4, enough: true, worse: true };
  const entryOf = (seq: number, who: string, action: LogEntry['action'], at = instant(120)): LogEntry => ({
    ...{ seq, verb: action.kind, who, why: '', at, what: '', action },
  });

  test('a candidate that fails is named with its figures and can be aborted there', async () => {
    server.health = {
      stable: group,
      candidates: [{ builds: [next], tried: failing, control: group, verdict }],
      builds: [],
    };
    await openPage();
    const notice = within(screen.getAllByRole('alert')[0] as HTMLElement);
    expect(notice.getByText(/灰度 stories 1\.1\.0·bbbb 有问题/)).toBeTruthy();
    expect(notice.getByText('失败偏多：40 位访客中 12 位失败，稳定版 60 位中 0 位。将自动中止')).toBeTruthy();
    await userEvent.click(notice.getByRole('button', { name: '看数据' }));
    expect(document.activeElement).toBe(screen.getByRole('heading', { name: '健康' }));
    await userEvent.click(notice.getByRole('button', { name: '中止灰度 stories' }));
    await userEvent.click(within(dialog()).getByRole('button', { name: '中止灰度' }));
    await waitFor(() => expect(server.posted()).toMatchObject([{ body: { name: 'stories', seq: 7 } }]));
  });

  test.each([
    ['its former build', chat, [2, 3], '回退 chat'],
    ['the set without it, where it has no former build', chat, [2], '撤下 chat'],
    ['the former set, where the host has no former build', host, [2, 3], '整体回退'],
    ['nothing, where nothing but the host was live', host, [2], null],
  ] as const)('an alarm of what is live offers %s', async (_, build, states, expected) => {
    const counts = { visitors: 50, failedVisitors: 40 };
    const rise = { minutes: 15, recent: counts, before: counts, beside: null, alarm: true };
    server.health = { stable: group, candidates: [], builds: [{ build, group: 'stable', ...failing, ...rise }] };
    const live = (seq: number) => entryOf(seq, '小李', { kind: 'activate', builds: [chat], evidence: [] });
    server.log = [...states.map(live).reverse(), entryOf(1, '小李', { kind: 'init', evidence: [] })];
    await openPage();
    const notice = (await screen.findByText(/有问题$/)).closest('[role=alert]') as HTMLElement;
    const [, way = null] = within(notice).getAllByRole('button');
    expect(way && (way.getAttribute('aria-label') ?? way.textContent)).toBe(expected);
    if (!way) return;
    await userEvent.click(way);
    expect(await within(await screen.findByRole('alertdialog')).findByText(String(expected))).toBeTruthy();
  });

  test('failures that chance explains are no alarm', async () => {
    const few = { ...verdict, pValue: 0.2, enough: false, worse: false };
    server.health = {
      stable: group,
      candidates: [{ builds: [next], tried: failing, control: group, verdict: few }],
      builds: [],
    };
    await openPage();
    expect(screen.queryByText(/有问题/)).toBeNull();
  });

  test('the automatic stop tells what it ended and why, over what changes nothing for readers', async () => {
    const evidence = [{ kind: 'verdict', pValue: 1e-6, alpha: 1e-4 } as const];
    server.candidate = false;
    server.log = [
      entryOf(7, '小李', { kind: 'freeze', evidence: [] }, instant(10)),
      entryOf(6, 'auto-stop', { kind: 'abort', builds: [next], evidence }, instant(7200)),
    ];
    await openPage();
    expect(screen.getByText('已自动中止 stories 1.1.0·bbbb 的灰度，2小时前')).toBeTruthy();
    expect(within(screen.getAllByRole('alert')[0] as HTMLElement).getByText(/失败明显多于稳定版/)).toBeTruthy();
    expect(section('记录').textContent).toContain('自动中止，2小时前');
    expect(screen.getByLabelText('谁').textContent).toBe('谁自动中止小李');
    server.log = [entryOf(8, '小李', { kind: 'activate', builds: [next], evidence: [] }), ...server.log];
    server.seqs.production = 8;
    await waitFor(() => expect(screen.queryByText(/已自动中止/)).toBeNull(), { timeout: 30_000 });
  });

  test('after a rollback it says what visitors get now, and since when, for an hour', async () => {
    server.log = [entryOf(7, '小李', { kind: 'rollback', builds: [old], to: 3, names: ['stories'], evidence: [] })];
    await openPage();
    expect(screen.getByText('访客现在得到的是状态 7（集合 aaaaaaaa），2分钟前生效：stories 1.0.0·aaaa')).toBeTruthy();
    cleanup();
    const before = server.log;
    server.log = before.map((entry) => ({ ...entry, at: instant(4000) }));
    await openPage();
    expect(screen.queryByText(/访客现在得到/)).toBeNull();
    cleanup();
    // a phone whose clock is 70 minutes ahead
    server.ahead = -4200;
    server.log = before.map((entry) => ({ ...entry, at: instant(4200 + 120) }));
    await openPage();
    expect(screen.getByText(/访客现在得到的是状态 7（集合 aaaaaaaa），2分钟前生效/)).toBeTruthy();
  });

  test('the end of a canary of what nobody else has is no withdrawal', async () => {
    server.log = [entryOf(7, '小李', { kind: 'abort', builds: ['gifts@1.0.0+ffffffffffff'], evidence: [] })];
    await openPage();
    expect(screen.getByText(/^访客现在得到的是状态 7/).textContent).toContain('chat 1.0.0·cccc、stories 1.0.0');
  });
});

describe('the channel in the address', () => {
  afterEach(() => history.replaceState(null, '', '/'));

  test('is shown again by a reload, and going back goes to the one before', async () => {
    await openPage();
    await userEvent.selectOptions(screen.getByLabelText('通道'), 'preview');
    await screen.findByText(/^状态 20，/);
    expect(location.search).toBe('?channel=preview');
    cleanup();
    render(<ConsolePage />);
    expect((await screen.findByText(/^状态 20，/)).textContent).toBeTruthy();
    await act(async () => history.back());
    expect((await screen.findByText(/^状态 7，/)).textContent).toBeTruthy();
    expect(location.search).toBe('');
  });

  test('is what signing in at the provider leads back to', async () => {
    sessionStorage.clear();
    server.session = { offered: true, signedIn: false };
    history.replaceState(null, '', '?channel=preview#sign-in=noAccess');
    render(<ConsolePage />);
    const link = await screen.findByRole('link', { name: '单点登录' });
    expect(link.getAttribute('href')).toBe('/auth/login?channel=preview&again');
  });

  test('that does not exist is not taken for another one', async () => {
    history.replaceState(null, '', '?channel=prod');
    render(<ConsolePage />);
    expect((await screen.findByText(/没有通道「prod」/)).textContent).toContain('production');
    expect(screen.getByLabelText<HTMLSelectElement>('通道').value).toBe('prod');
    expect(screen.queryByRole('region', { name: '正在运行' })).toBeNull();
    await userEvent.selectOptions(screen.getByLabelText('通道'), 'production');
    expect(await screen.findByText(/^状态 7，/)).toBeTruthy();
    expect(screen.queryByText(/没有通道/)).toBeNull();
  });
});

describe('a way back', () => {
  const first: LogEntry[] = [
    {
      seq: 2,
      verb: 'activate',
      who: '小李',
      why: '',
      at: instant(60),
      what: '',
      action: { kind: 'activate', builds: [old, chat], evidence: [] },
    },
    { seq: 1, verb: 'init', who: '小李', why: '', at: instant(90), what: '', action: { kind: 'init', evidence: [] } },
  ];

  test('is not offered where nothing was live before, though an unused build was killed', async () => {
    const kill: LogEntry['action'] = { kind: 'kill', builds: [next], evidence: [] };
    server.log = [{ ...first[0], seq: 3, verb: 'kill', action: kill } as LogEntry, ...first];
    await openPage();
    expect(screen.queryByRole('button', { name: '回退 stories' })).toBeNull();
    expect(screen.queryByRole('button', { name: '整体回退' })).toBeNull();
  });

  test('is not offered where all that was live before was killed', async () => {
    server.log = [
      { ...first[0], seq: 3, action: { kind: 'activate', builds: [old], evidence: [] } } as LogEntry,
      { ...first[0], action: { kind: 'activate', builds: [next, chat], evidence: [] } } as LogEntry,
      ...first.slice(1),
    ];
    server.killed = [next];
    server.lastGood = {};
    server.deadEnds = ['', 'stories'];
    await openPage();
    expect(screen.queryByRole('button', { name: '回退 stories' })).toBeNull();
    expect(screen.queryByRole('button', { name: '整体回退' })).toBeNull();
  });

  test('is not offered where it has been gone to its end, and is where there is more', async () => {
    const entry = (seq: number, action: LogEntry['action']): LogEntry => ({
      ...{ seq, verb: action.kind, who: '小李', why: '', at: instant(60), what: '', action },
    });
    const second = entry(3, { kind: 'activate', builds: [next], evidence: [] });
    const back = entry(4, { kind: 'rollback', builds: [old], to: 2, names: ['stories'], evidence: [] });
    server.log = [back, second, ...first];
    await openPage();
    expect(screen.queryByRole('button', { name: '回退 stories' })).toBeNull();
    cleanup();
    server.log = [second, ...first];
    await openPage();
    expect(button('回退 stories')).toBeTruthy();
  });

  test.each([
    ['a remote has killed builds, none of which was live', { stories: chat }, ['chat'], [false, true, true]],
    ['nothing was live before', {}, ['', 'chat', 'stories'], [false, false, false]],
    ['each remote has a former build', {}, [], [true, true, true]],
  ] as const)(
    'is offered as the server knows one, where the log has more pages: %s',
    async (_, lastGood, ends, expected) => {
      const action: LogEntry['action'] = { kind: 'freeze', evidence: [] };
      server.log = Array.from({ length: 60 }, (_entry, at) => ({ ...first[1], seq: 107 - at, action }) as LogEntry);
      server.killed = [next, 'chat@0.8.0+eeeeeeeeeeee'];
      server.lastGood = lastGood;
      server.deadEnds = [...ends];
      await openPage();
      const names = ['回退 chat', '回退 stories', '整体回退'];
      expect(names.map((name) => screen.queryByRole('button', { name }) !== null)).toEqual(expected);
    },
  );

  test('names the canary that it ends', async () => {
    await openPage();
    await userEvent.click(button('回退 stories'));
    expect((await screen.findByText('stories 的灰度随之结束')).textContent).toBeTruthy();
    await userEvent.click(button('取消'));
    await userEvent.click(button('回退 chat'));
    await waitFor(() => expect(dialog().textContent).toContain('chat：移除'));
    expect(dialog().textContent).not.toContain('灰度随之结束');
  });

  test('that the server refuses is told in the words of the page', async () => {
    server.nothingBefore = true;
    await openPage();
    await userEvent.click(button('回退 stories'));
    expect(await within(await screen.findByRole('alertdialog')).findByText(/^stories之前没有运行过别的/)).toBeTruthy();
  });

  test('that does not fit what runs now leads to the state that does', async () => {
    server.refusal = { kind: 'unfit', builds: [old], to: 5 };
    await openPage();
    await userEvent.click(button('回退 stories'));
    await userEvent.click(within(dialog()).getByRole('button', { name: '回退' }));
    const told = await screen.findByText(/^stories 1\.0\.0·aaaa 与现在运行的版本不兼容，什么都没有改变。可以/);
    expect(told.closest('dialog')?.textContent).toContain('契约：^2');
    expect(told.closest('dialog')?.textContent).not.toContain('--force');
    server.refusal = null;
    await userEvent.click(button('回到此状态（状态 5）'));
    await userEvent.click(within(dialog()).getByRole('button', { name: '回退' }));
    await waitFor(() => expect(server.posted().at(-1)?.body).toMatchObject({ to: 5 }));
  });

  test.each<[string, number | null]>([
    ['where a whole state fits', 5],
    ['where none does', null],
  ])('that does not fit offers the set without the remote, %s', async (_, to) => {
    server.misfit = { kind: 'unfit', builds: [next], to };
    await openPage();
    await userEvent.click(button('回退 stories'));
    await userEvent.click(await screen.findByRole('button', { name: '撤下 stories' }));
    expect(dialog().textContent).toMatch(/^撤下 stories将会改变：stories：移除（1\.0\.0/);
  });

  test('of everything that does not fit takes nothing away', async () => {
    server.misfit = { kind: 'unfit', builds: [chat, next], to: null };
    await openPage();
    await userEvent.click(button('整体回退'));
    await screen.findByText(/与现在运行的版本不兼容/);
    expect(screen.queryByRole('button', { name: /^撤下/ })).toBeNull();
  });

  test('to builds that were killed is refused in the words of the page', async () => {
    server.refusal = { kind: 'killed', builds: [old] };
    await openPage();
    await userEvent.click(button('回退 stories'));
    await userEvent.click(within(dialog()).getByRole('button', { name: '回退' }));
    expect(await screen.findByText(/^那时运行的 stories 1\.0\.0·aaaa 已被禁用/)).toBeTruthy();
  });

  test('from a withdrawal stays in sight', async () => {
    const gone = 'gifts@1.0.0+ffffffffffff';
    const withdrawn: LogEntry = {
      ...{ seq: 7, verb: 'withdraw', who: '小李', why: '', at: instant(120), what: '' },
      action: { kind: 'withdraw', builds: [gone], evidence: [] },
    };
    server.log = [withdrawn, ...first];
    await openPage();
    expect(screen.getByText(/^访客现在得到的是状态 7.*：已撤下 gifts 1\.0\.0/)).toBeTruthy();
    expect(section('正在运行').textContent).toContain('gifts 1.0.0·ffff · 2分钟前由 小李 撤下');
    await userEvent.click(button('恢复 gifts'));
    expect(within(dialog()).getByRole('heading').textContent).toBe('恢复 gifts');
    await userEvent.click(within(dialog()).getByRole('button', { name: '恢复' }));
    await waitFor(() => expect(server.posted()[0]).toMatchObject({ body: { name: 'gifts', seq: 7 } }));
    cleanup();
    // restored, then removed by a rollback of the whole set
    const back = { kind: 'rollback' as const, to: 6, evidence: [] };
    server.log = [
      { ...withdrawn, seq: 9, action: { ...back, builds: [chat, old], names: [] } },
      { ...withdrawn, seq: 8, action: { ...back, builds: [gone], names: ['gifts'] } },
      ...server.log,
    ];
    render(<ConsolePage />);
    await screen.findByText(/^状态 8，/);
    expect(screen.queryByRole('button', { name: '恢复 gifts' })).toBeNull();
  });
});

test('who is signed in stands at the foot as well, where a phone has room for it', async () => {
  server.me = { role: 'manager', name: null, label: '李华的手机' };
  await openPage();
  expect(screen.getByRole('contentinfo').textContent).toContain('李华的手机 · 管理者');
});

describe('the place of the keyboard', () => {
  test('stays with its control when the page looks again and shows another state', async () => {
    await openPage();
    const control = button('回退 stories');
    control.focus();
    server.seqs.production = 8;
    await screen.findByText(/^状态 8，/);
    expect(document.activeElement).toBe(control);
  });

  test('comes back to a control that was busy, and after its question was called off', async () => {
    await openPage();
    button('回退 chat').focus();
    await userEvent.keyboard('{Enter}');
    await screen.findByRole('alertdialog');
    await userEvent.click(button('取消'));
    await waitFor(() => expect(document.activeElement).toBe(button('回退 chat')));
  });

  test('goes to the heading of the section when the control is no more', async () => {
    await openPage();
    button('全量上线 stories').focus();
    await userEvent.keyboard('{Enter}');
    await userEvent.click(within(dialog()).getByRole('button', { name: '全量上线' }));
    await within(section('灰度')).findByText(/没有进行中的灰度/);
    await waitFor(() => expect(document.activeElement?.textContent).toBe('灰度'));
    expect(document.activeElement?.tagName).toBe('H2');
  });

  test('is not taken back from where a person left it on purpose', async () => {
    await openPage();
    const control = button('回退 stories');
    control.focus();
    control.blur();
    server.seqs.production = 8;
    await screen.findByText(/^状态 8，/);
    expect(document.activeElement).toBe(document.body);
  });
});

test('the slider starts at the candidate’s share, also where that is none of its usual steps', async () => {
  server.percent = 60;
  await openPage();
  const slider = screen.getByRole<HTMLInputElement>('slider', { name: '访客比例' });
  expect(slider.getAttribute('aria-valuetext')).toBe('60% 的访客');
  expect(button('调整比例').disabled).toBe(true);
});

test('a share being chosen survives a look at the same share, and gives way to another one', async () => {
  await openPage();
  const slider = () => screen.getByRole<HTMLInputElement>('slider', { name: '访客比例' });
  slide(slider(), 9);
  server.seqs.production = 8;
  await screen.findByText(/^状态 8，/);
  expect(slider().value).toBe('9');
  server.percent = 20;
  server.seqs.production = 9;
  await screen.findByText(/^状态 9，/);
  expect(slider().getAttribute('aria-valuetext')).toBe('20% 的访客');
});

describe('by one hand at night', () => {
  test('names packages as people do, with their own name small beside it', async () => {
    server.names = [
      { name: 'stories', label: '故事' },
      { name: 'chat', label: '聊天' },
    ];
    await openPage();
    expect(within(section('正在运行')).getByText('故事').parentElement?.textContent).toBe('故事 stories');
    await userEvent.click(button('回退 故事'));
    expect(dialog().textContent).toMatch(/回退 故事.*故事：1\.1\.0/);
  });

  test('stands in the order of need, settings on a page of their own, and takes nothing away beside 回退', async () => {
    await openPage();
    const titles = screen.getAllByRole('heading', { level: 2 }).map((one) => one.textContent);
    expect(titles).toEqual(['正在运行', '健康', '灰度', '构建', '访客体验', '记录']);
    expect(within(section('正在运行')).queryByText(/撤下|禁用/)).toBeNull();
    await openSettings();
    expect(screen.getAllByRole('heading', { level: 2 }).map((one) => one.textContent)).toEqual([
      '冻结期',
      '双人批准',
      '通知',
      '本地预览',
    ]);
  });

  test('a build says where it stands, with one button and a menu for the rest', async () => {
    const killed = 'stories@0.8.0+eeeeeeeeeeee';
    server.killed = [killed];
    server.builds = [summary(next), summary(old), summary(killed)];
    await openPage();
    await userEvent.click(within(section('构建')).getByText('stories', { selector: 'strong' }));
    const rows = await within(section('构建')).findAllByRole('listitem');
    expect(rows.map((row) => [row.textContent, row.querySelectorAll('button').length])).toEqual([
      [expect.stringMatching(/^1\.1\.0·bbbb灰度 10%/), 2],
      [expect.stringMatching(/^1\.0\.0·aaaa运行中/), 1],
      [expect.stringMatching(/^0\.8\.0·eeee已禁用/), 1],
    ]);
    await userEvent.click(button(`更多：${old}`));
    expect(screen.getAllByRole('menuitem').map((item) => item.textContent)).toEqual(['检查', '撤下', '禁用']);
  });

  test('two builds stand beside each other, and either may be another one', async () => {
    const health = { from: { ...group, failedVisitors: 4, visitors: 817 }, to: null };
    const commit = { build: next, commit: '0123456789ab', author: '王五', at: instant(9) };
    server.comparison = [
      {
        ...{ name: 'stories', from: old, to: next, back: false, damaged: [], page: null, commits: [commit], health },
        ...{ files: { from: { count: 3, bytes: 20_480 }, to: { count: 3, bytes: 20_500 } } },
        changedFiles: [{ path: 'static/page.js', from: 100, to: 300 }],
        routes: { added: ['/drafts (members)'], removed: [] },
        contract: { from: '^1.0.0', to: '^1.1.0' },
        libraries: [{ name: 'dayjs', carries: { from: '1.0.0', to: '1.2.0' }, accepts: { from: null, to: null } }],
      },
    ];
    await openPage();
    await userEvent.click(within(section('构建')).getByText('stories', { selector: 'strong' }));
    await choose(next, '与线上版比较');
    const shown = (await screen.findByRole('alertdialog')).textContent ?? '';
    for (const part of ['4 / 817 位失败', '提交 0123456789ab · 王五', '+ /drafts（会员）', '^1.0.0 → ^1.1.0', '20 KiB'])
      expect(shown).toContain(part);
    expect(shown).toContain('自带 1.0.0 → 1.2.0');
    expect(shown, 'as large, with other bytes in it').not.toContain('20 KiB（相同）');
    await userEvent.selectOptions(screen.getByLabelText('从'), next);
    await waitFor(() => expect(server.asked.at(-1)?.path ?? '').toBeTruthy());
    expect(server.asked.map(({ path }) => path)).toContain(
      `compare?channel=production&a=${encodeURIComponent(next)}&b=${encodeURIComponent(next)}`,
    );
  });

  test('a new candidate says which one it ends', async () => {
    server.builds = [summary('stories@1.2.0+dddddddddddd'), summary(old)];
    await openPage();
    await userEvent.click(within(section('构建')).getByText('stories', { selector: 'strong' }));
    await choose('stories@1.2.0+dddddddddddd', '灰度 5%');
    expect(dialog().textContent).toContain('stories：1.0.0·aaaa → 1.2.0·ddddstories 的灰度随之结束');
  });

  test.each<[string, RefusalReason | null, string]>([
    ['the one of the state that a way back leads to', null, '3'],
    ['the one that does not fit what runs now', { kind: 'unfit', builds: [old], to: 2 }, encodeURIComponent(old)],
  ])('a live build is compared with its former one, %s', async (_, misfit, from) => {
    server.misfit = misfit;
    await openPage();
    await userEvent.click(button('更多：stories'));
    await userEvent.click(screen.getByRole('menuitem', { name: '与上一版比较' }));
    expect((await screen.findByRole('alertdialog')).textContent).toContain('比较 stories');
    expect(server.asked.map(({ path }) => path)).toContain(`compare?channel=production&a=${from}&b=stable`);
  });

  test('the log is of one package, person or kind, looked for further back than it is shown', async () => {
    const entry = { who: '小王', what: '', why: '', at: instant(9) };
    const of = (seq: number, verb: 'activate' | 'kill', who: string, build: string): LogEntry => ({
      ...{ ...entry, seq, verb, who },
      action: { kind: verb, builds: [build], evidence: [] },
    });
    server.log = [of(7, 'activate', '小王', old), of(6, 'kill', '小李', next), of(5, 'activate', '小李', chat)];
    await openPage();
    const seqs = () =>
      within(section('记录'))
        .getAllByRole('listitem')
        .map((item) => Number.parseInt(item.textContent ?? '', 10));
    await userEvent.selectOptions(screen.getByLabelText('谁'), '小李');
    expect(seqs()).toEqual([6, 5]);
    expect(server.asked.some(({ path }) => path.startsWith('log?limit=500'))).toBe(true);
    await userEvent.selectOptions(screen.getByLabelText('模块'), 'chat');
    expect(seqs()).toEqual([5]);
    await userEvent.selectOptions(screen.getByLabelText('类别'), 'kill');
    expect(within(section('记录')).getByText('没有这样的记录')).toBeTruthy();
  });
});

describe('banning a build', () => {
  async function openKill() {
    await openPage();
    await userEvent.click(within(section('构建')).getByText('stories', { selector: 'strong' }));
    await choose(old, '禁用');
    await within(dialog()).findByText(/永远不再运行/);
  }

  test('says what it takes away and that it is for good, and goes on only when the name is typed', async () => {
    await openKill();
    expect(document.activeElement).toBe(within(dialog()).getByLabelText('请输入 stories 确认'));
    expect(dialog().textContent).toContain('不能撤销');
    expect(dialog().textContent).toContain('所有人都将打不开：/explore 插槽 story.chat');
    await userEvent.click(within(dialog()).getByRole('button', { name: '禁用' }));
    expect(dialog().textContent).toContain('与 stories 不一致');
    expect(server.posted()).toEqual([]);
    await userEvent.type(within(dialog()).getByLabelText('请输入 stories 确认'), 'stories');
    await userEvent.click(within(dialog()).getByRole('button', { name: '禁用' }));
    await waitFor(() => expect(server.posted()).toMatchObject([{ body: { build: old, confirm: 'stories', seq: 7 } }]));
  });

  test('offers what can be undone first: withdrawing the only build, going back from another', async () => {
    await openKill();
    await userEvent.click(within(dialog()).getByRole('button', { name: '改为撤下 stories（可以撤销）' }));
    await waitFor(() => expect(dialog().textContent).toContain('stories：移除'));
    expect(dialog().textContent).toContain('所有人都将打不开：/explore 插槽 story.chat');
    expect(within(dialog()).getByLabelText('请输入 stories 确认')).toBeTruthy();
    await userEvent.click(within(dialog()).getByRole('button', { name: '取消' }));
    server.effect = { ...server.effect, name: 'host' };
    await choose(old, '禁用');
    await within(dialog()).findByLabelText('请输入 host 确认');
    expect(within(dialog()).queryByRole('button', { name: /^改为/ })).toBeNull();
    await userEvent.click(within(dialog()).getByRole('button', { name: '取消' }));
    server.effect = { ...server.effect, name: 'stories', instead: next, lost: [] };
    await waitFor(() => expect(button('回退 stories').disabled).toBe(false));
    await choose(old, '禁用');
    expect((await within(dialog()).findByText(/所有人改用 1.1.0/)).textContent).toBeTruthy();
    await userEvent.click(within(dialog()).getByRole('button', { name: '改为回退 stories（可以撤销）' }));
    await waitFor(() => expect(dialog().textContent).toMatch(/回退 stories将会改变：stories：1\.1\.0.*→ 1\.0\.0/));
  });

  test.each(['stories', 'host'])(
    'of %s offers the state that fits as a whole where no former build does',
    async (name) => {
      server.effect = {
        ...server.effect,
        name,
        unfit: ['contract: ^2'],
        whole: 5,
        lost: name === 'host' ? [] : ['/explore'],
      };
      await openKill();
      expect(dialog().textContent).toContain('契约：^2');
      await userEvent.click(within(dialog()).getByRole('button', { name: '改为回到此状态（状态 5）（可以撤销）' }));
      await waitFor(() => expect(dialog().textContent).toMatch(/^回到此状态（状态 5）将会改变/));
    },
  );
});
