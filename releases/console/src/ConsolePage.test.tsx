import { afterEach, describe, expect, onTestFinished, rs, test } from '@rstest/core';
import { act, cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { LogEntry, Me, RefusalReason } from './api';
import { ConsolePage } from './ConsolePage';
import { createLanguage, language } from './language';
import {
  agendaWith,
  button,
  chat,
  choose,
  dialog,
  group,
  host,
  instant,
  look,
  next,
  old,
  openPage,
  openSettings,
  section,
  server,
  summary,
} from './testing/consoleFixture';

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
    look();
    await waitFor(() => expect(server.asked.slice(before).some(({ path }) => path.startsWith('sharing'))).toBe(true));
    expect(screen.queryByText(/共享库/)).toBeNull();
  });

  test('a list that could not be loaded is reported and loaded later; the state is shown meanwhile', async () => {
    server.failing.sharing = [503, { message: 'the store is away' }];
    await openPage();
    const live = section('正在运行');
    expect(within(live).getByRole('alert').textContent).toBe('共享库：列表读取失败，稍后会自动重试');
    server.seqs.production = 8;
    look();
    await screen.findByText(/^状态 8，/);
    const both = { name: 'chart.js', ofHost: null, copies: [copy('4.5.0', chat, 63.4, 'chat', 'stories')] };
    server.sharing = { stable: [both], candidates: [] };
    delete server.failing.sharing;
    look();
    await waitFor(() => expect(live.textContent).toContain('共享库1 个'));
    expect(within(live).queryByRole('alert')).toBeNull();
  });
});

describe('the language', () => {
  test('is switched in place, set in the document, and remembered on this device', async () => {
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
    look();
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

  test('the candidate next to its control, and the verdict', async () => {
    const verdict = { pValue: 1e-9, alpha: 1e-4, hasVisitors: true, enough: true, worse: true };
    const tried = { ...group, failedVisitors: 20, failures: { hang: 20 }, p75LoadMilliseconds: 512.4 };
    server.health = { stable: group, candidates: [{ builds: [next], tried, control: group, verdict }], builds: [] };
    await openPage();
    for (const part of ['20（33.3%）', '超时 20', '512毫秒', '明显变差', '将自动中止'])
      expect(section('健康').textContent).toContain(part);
  });

  test.each([
    [false, '访客还不够，暂不判断'],
    [true, '失败很少，暂不判断'],
  ])('a candidate that cannot be judged says what is missing (enough visitors: %s)', async (hasVisitors, words) => {
    const verdict = { pValue: 1, alpha: 1e-4, hasVisitors, enough: false, worse: false };
    server.health = {
      stable: group,
      candidates: [{ builds: [next], tried: group, control: group, verdict }],
      builds: [],
    };
    await openPage();
    expect(within(section('健康')).getByText(words)).toBeTruthy();
  });

  test('the vitals of visitors, stable next to candidate: a chart with its figures in words, and builds with too few pages', async () => {
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
    look();
    const alert = await screen.findByRole('alert');
    expect(alert.textContent).toMatch(/^暂时无法读取状态.*下面是 \d+:\d\d:\d\d 看到的状态/);
    expect(alert.textContent).toContain(told);
    expect(screen.getByText(/状态 7/)).toBeTruthy();
    server.away = false;
    look();
    await waitFor(() => expect(screen.queryByRole('alert')).toBeNull());
  });

  test('the state is requested when a person returns to the page, before the timer', async () => {
    const timer = rs
      .spyOn(globalThis, 'setInterval')
      .mockImplementation(() => 0 as unknown as ReturnType<typeof setInterval>);
    await openPage();
    timer.mockRestore();
    server.seqs.production = 8;
    look();
    expect(await screen.findByText(/^状态 8，/)).toBeTruthy();
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
    look();
    await waitFor(() => expect(list.textContent).toContain('1.2.0'));
    expect(list.textContent).not.toContain('读取失败');
    const rows = [...list.querySelectorAll('li')];
    expect(rows.map((row) => row.textContent?.includes('已损坏'))).toEqual([false, true]);
    expect(rows.map((row) => row.querySelectorAll('button').length > 0)).toEqual([true, false]);
  });
});

describe('what comes first', () => {
  const failing = { ...group, visitors: 40, failedVisitors: 12 };
  const verdict = { pValue: 1e-6, alpha: 1e-4, hasVisitors: true, enough: true, worse: true };
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

  test('the automatic stop reports what it ended and why, above changes without an effect on readers', async () => {
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
    look();
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

  test('after another entry of the log it still says which state brought what visitors get', async () => {
    const rollback = entryOf(7, '小李', { kind: 'rollback', builds: [old], to: 3, names: ['stories'], evidence: [] });
    server.log = [rollback];
    await openPage();
    server.log = [entryOf(8, '小王', { kind: 'freeze', evidence: [] }), rollback];
    server.seqs.production = 8;
    look();
    await screen.findByText(/^状态 8，/);
    expect(screen.getByText(/^访客现在得到的是状态 7（/)).toBeTruthy();
  });

  test('the end of a canary of what nobody else has is no withdrawal', async () => {
    server.log = [entryOf(7, '小李', { kind: 'abort', builds: ['gifts@1.0.0+ffffffffffff'], evidence: [] })];
    await openPage();
    expect(screen.getByText(/^访客现在得到的是状态 7/).textContent).toContain('chat 1.0.0·cccc、stories 1.0.0');
  });
});

describe('the channel and the view in the address', () => {
  afterEach(() => history.replaceState(null, '', '/'));

  test('the channel is shown again by a reload, and going back goes to the one before', async () => {
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

  test('are what signing in at the provider leads back to', async () => {
    sessionStorage.clear();
    server.session = { offered: true, signedIn: false };
    history.replaceState(null, '', '?channel=preview#settings&sign-in=noAccess');
    render(<ConsolePage />);
    const link = await screen.findByRole('link', { name: '单点登录' });
    expect(link.getAttribute('href')).toBe('/auth/login?channel=preview&view=settings&again');
    expect(location.hash).toBe('#settings');
  });

  test('a channel that does not exist is not taken for another one', async () => {
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

test('who is signed in stands at the foot as well, where a phone has room for it', async () => {
  server.me = { role: 'manager', name: null, label: '李华的手机' };
  await openPage();
  expect(screen.getByRole('contentinfo').textContent).toContain('李华的手机 · 管理者');
});

test('the token of a local start has a Chinese name wherever it is at work', async () => {
  const who = 'local console (0123456789ab)';
  server.me = { role: 'manager', name: null, label: 'local console' };
  server.log = [
    { seq: 7, verb: 'renew', who, what: '', why: '', at: instant(9), action: { kind: 'renew', evidence: [] } },
  ];
  server.agenda = agendaWith({ schedules: agendaWith().schedules.map((each) => ({ ...each, by: who })) });
  await openPage();
  expect(document.body.textContent).toContain('由 本机发布台 (0123456789ab) 设于');
  expect(document.body.textContent).not.toContain('local console');
});

describe('the place of the keyboard', () => {
  test('stays with its control when the page looks again and shows another state', async () => {
    await openPage();
    const control = button('回退 stories');
    control.focus();
    server.seqs.production = 8;
    look();
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

  test('goes to the heading of the canaries when a schedule is no more', async () => {
    server.agenda = agendaWith();
    await openPage();
    button('停掉计划').focus();
    await userEvent.keyboard('{Enter}');
    server.agenda = undefined;
    await userEvent.click(within(dialog()).getByRole('button', { name: '停掉计划' }));
    await waitFor(() => expect(document.activeElement?.textContent).toBe('灰度'));
  });

  test('goes to the first heading when the notice is no more', async () => {
    const verdict = { pValue: 1e-6, alpha: 1e-4, hasVisitors: true, enough: true, worse: true };
    const tried = { ...group, failedVisitors: 20 };
    server.health = { stable: group, candidates: [{ builds: [next], tried, control: group, verdict }], builds: [] };
    await openPage();
    const [inNotice] = await screen.findAllByRole('button', { name: '中止灰度 stories' });
    inNotice?.focus();
    await userEvent.keyboard('{Enter}');
    await userEvent.click(within(dialog()).getByRole('button', { name: '中止灰度' }));
    await waitFor(() => expect(document.activeElement?.textContent).toBe('正在运行'));
  });

  test('is not taken back from where a person left it on purpose', async () => {
    await openPage();
    const control = button('回退 stories');
    control.focus();
    control.blur();
    server.seqs.production = 8;
    look();
    await screen.findByText(/^状态 8，/);
    expect(document.activeElement).toBe(document.body);
  });
});

test('the slider starts at the candidate’s share, also between its usual steps', async () => {
  server.percent = 60;
  await openPage();
  const slider = screen.getByRole<HTMLInputElement>('slider', { name: '访客比例' });
  expect(slider.getAttribute('aria-valuetext')).toBe('60% 的访客');
  expect(button('调整比例').disabled).toBe(true);
});

describe('by one hand at night', () => {
  test('names packages as people do, with their own name small next to it', async () => {
    server.names = [
      { name: 'stories', label: '故事' },
      { name: 'chat', label: '聊天' },
    ];
    await openPage();
    expect(within(section('正在运行')).getByText('故事').parentElement?.textContent).toBe('故事 stories');
    await userEvent.click(button('回退 故事'));
    expect(dialog().textContent).toMatch(/回退 故事.*故事：1\.1\.0/);
  });

  test('stands in the order of need, settings on a separate page, and loses nothing next to 回退', async () => {
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

  test('two builds stand next to each other, and either can be replaced', async () => {
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

  test.each([
    ['灰度 5%', 'a new candidate'],
    ['上线', 'a build for everyone'],
  ])('%s: %s says which candidate it ends', async (action) => {
    server.builds = [summary('stories@1.2.0+dddddddddddd'), summary(old)];
    await openPage();
    await userEvent.click(within(section('构建')).getByText('stories', { selector: 'strong' }));
    const build = 'stories@1.2.0+dddddddddddd';
    if (action === '上线') await userEvent.click(button(`上线 ${build}`));
    else await choose(build, action);
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
