import { describe, expect, rs, test } from '@rstest/core';
import { act, cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { LogEntry, ProposalView } from './api';
import { ConsolePage } from './ConsolePage';
import {
  agendaWith,
  button,
  chat,
  choose,
  dialog,
  FOREIGN,
  instant,
  look,
  next,
  old,
  openPage,
  openSettings,
  said,
  section,
  server,
} from './testing/consoleFixture';
import { texts } from './texts';

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
    await waitFor(() => expect(server.posted()[0]?.body).toEqual({ name: 'stories', why: '' }));
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
    look();
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
    server.percent = 0.1;
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

  test('a reason typed before the channel was frozen does not stand for that of an exception, and comes back after it', async () => {
    const frozen = { until: '2026-12-01T00:00:00.000Z', reason: '大促' };
    server.agenda = agendaWith({ schedules: [] });
    await openPage();
    const ask = async () => {
      await userEvent.click(button('全量上线 stories'));
      return within(dialog()).getByRole<HTMLInputElement>('textbox');
    };
    await userEvent.type(await ask(), '看过了');
    server.agenda = agendaWith({ schedules: [], frozen });
    server.failing.promote = [422, { message: 'production is frozen until 2026-12-01T00:00:00.000Z: 大促' }];
    await userEvent.click(within(dialog()).getByRole('button', { name: '全量上线' }));
    await userEvent.click(await screen.findByRole('button', { name: '知道了' }));
    expect((await ask()).value).toBe('');
    await userEvent.click(within(dialog()).getByRole('button', { name: '取消' }));
    server.agenda = agendaWith({ schedules: [] });
    look();
    await waitFor(() => expect(screen.queryByText(/冻结中/)).toBeNull());
    expect((await ask()).value).toBe('看过了');
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
      server.failing.approve = [
        422,
        { message: 'there is no proposal 0a1b2c3d', reason: { kind: 'gone', what: 'proposal' } },
      ];
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

  test('a webhook whose answer is lost may have been added, and its address stays', async () => {
    server.agenda = agendaWith({ schedules: [], webhooks: [] });
    await openPage();
    await openSettings();
    await userEvent.click(screen.getByText('新增通知', { selector: 'summary' }));
    const address = screen.getByLabelText<HTMLInputElement>('地址（https）');
    await userEvent.type(address, 'https://bot.example/hook');
    server.away = 'unreachable';
    await userEvent.click(button('新增通知'));
    expect(await screen.findByText(texts.confirm.unanswered)).toBeTruthy();
    expect(address.value).toBe('https://bot.example/hook');
  });

  test('windows are listed, added with a reason and taken away', async () => {
    const weekly = { kind: 'weekly' as const, from: 4 * 1440 + 1080, to: 480, zone: 'Asia/Shanghai' };
    const freeze = { id: '0a1b2c3d', window: weekly, reason: '周末', by: '小王', at: instant(60), open: true };
    server.agenda = agendaWith({ schedules: [], freezes: [freeze] });
    await openPage();
    await openSettings();
    expect(screen.getByText(/每周五 18:00 至 周一 08:00（Asia\/Shanghai）/)).toBeTruthy();
    await userEvent.click(screen.getByText('新增冻结期', { selector: 'summary' }));
    await userEvent.selectOptions(screen.getByLabelText('时区'), 'Europe/Berlin');
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

describe('what somebody else was faster to end', () => {
  const weekly = { kind: 'weekly' as const, from: 4 * 1440 + 1080, to: 480, zone: 'Asia/Shanghai' };
  const webhook = { id: '0a1b2c3d4e5f', shown: 'https://chat.example/…', by: '小王', at: instant(60), seq: 3 };
  const preview = { person: '张伟', browser: 'b'.repeat(32), remotes: ['chat@http://localhost:3102'] };

  test.each([
    ['unfreeze', 'freeze', '移除 周末', '移除', '这个冻结期已经移除了'],
    ['webhook-remove', 'webhook', /^移除 https/, '移除', '这个通知地址已经移除了'],
    ['webhook-test', 'webhook', /^试发 https/, null, '这个通知地址已经移除了'],
    ['preview-end', 'preview', '结束 张伟', '结束', '这个本地预览已经结束了'],
    ['cancel', 'schedule', '停掉计划', '停掉计划', '这个计划已经走完，或者已经停掉；记录里有它的结果'],
  ] as const)('is said in words, and leaves the list (%s)', async (verb, what, name, confirm, words) => {
    server.agenda = agendaWith({
      freezes: [{ id: '0a1b2c3d', window: weekly, reason: '周末', by: '小王', at: instant(60), open: true }],
      webhooks: [{ ...webhook, attempts: 0, problem: '', retry: null, undelivered: [] }],
    });
    const expires = instant(-3600);
    server.previews = [
      { ...preview, channel: 'production', who: '小王', why: '', at: instant(60), expires, revoked: null, sig: '' },
    ];
    server.failing[verb] = [422, { message: 'there is no webhook 0a1b2c3d', reason: { kind: 'gone', what } }];
    await openPage();
    if (what !== 'schedule') await openSettings();
    const pressed = await screen.findByRole('button', { name });
    await userEvent.click(pressed);
    server.agenda = agendaWith({ schedules: [] });
    server.previews = [];
    server.seqs.production = 8;
    if (confirm) await userEvent.click(within(dialog()).getByRole('button', { name: confirm }));
    expect(await screen.findByText(words)).toBeTruthy();
    expect(dialog().textContent).not.toContain('0a1b2c3d');
    await userEvent.click(button('知道了'));
    await waitFor(() => expect(screen.queryByRole('button', { name })).toBeNull());
  });
});

test('a change of which only a part was made is not said to have changed nothing', async () => {
  const message =
    'the first step was applied, in state 8, but the steps after it could not be stored: the store failed';
  server.failing.schedule = [422, { message, reason: { kind: 'partly' } }];
  await openPage();
  await userEvent.click(screen.getByText('定时扩大', { selector: 'summary' }));
  await userEvent.click(button('定时扩大 stories'));
  await userEvent.click(within(dialog()).getByRole('button', { name: '定时扩大' }));
  expect(await screen.findByText(/^第一步已经执行（状态 8），后面的步骤没能保存/)).toBeTruthy();
  expect(within(dialog()).getByRole('heading').textContent).toBe('只完成了一部分');
});

describe('the form of a freeze window', () => {
  const openForm = async () => {
    await openPage();
    await openSettings();
    await userEvent.click(screen.getByText('新增冻结期', { selector: 'summary' }));
  };
  const zoneShown = () => screen.getByLabelText<HTMLSelectElement>('时区').value;

  test.each([
    ['Asia/Shanghai', 'Asia/Shanghai'],
    ['EST5EDT', 'UTC'],
  ])('starts with the zone of the device (%s), if the server accepts it', async (timeZone, expected) => {
    const resolved = Intl.DateTimeFormat.prototype.resolvedOptions;
    Intl.DateTimeFormat.prototype.resolvedOptions = () => ({ ...resolved.call(new Intl.DateTimeFormat()), timeZone });
    try {
      await openForm();
      expect(zoneShown()).toBe(expected);
    } finally {
      Intl.DateTimeFormat.prototype.resolvedOptions = resolved;
    }
  });

  test('says before it asks that a weekly window is never open', async () => {
    await openForm();
    await userEvent.selectOptions(screen.getByLabelText('到'), '4');
    fireEvent.change(screen.getByLabelText('到（时间）'), { target: { value: '18:00' } });
    await userEvent.click(button('下一步'));
    expect(screen.getByText('开始和结束要是两个不同的时间')).toBeTruthy();
    expect(screen.queryByRole('alertdialog')).toBeNull();
    fireEvent.change(screen.getByLabelText('到（时间）'), { target: { value: '19:00' } });
    await userEvent.click(button('下一步'));
    expect(dialog().textContent).toContain('周五 18:00 至 周五 19:00');
    expect(screen.queryByText('开始和结束要是两个不同的时间')).toBeNull();
  });

  test.each([
    ['2099-12-02T08:00', '2099-12-01T08:00', '结束要晚于开始'],
    ['2020-12-01T08:00', '2020-12-02T08:00', '结束的时间已经过去'],
  ])('says before it asks that %s to %s is wrong', async (from, to, words) => {
    await openForm();
    await userEvent.selectOptions(screen.getByLabelText('何时'), 'once');
    fireEvent.change(screen.getByLabelText('从'), { target: { value: from } });
    fireEvent.change(screen.getByLabelText('到'), { target: { value: to } });
    await userEvent.click(button('下一步'));
    expect(screen.getByText(words)).toBeTruthy();
    expect(screen.queryByRole('alertdialog')).toBeNull();
  });
});

describe('a change', () => {
  test('is not confirmed by the second half of a double press that opened its question', async () => {
    await openPage();
    button('全量上线 stories').focus();
    await userEvent.keyboard('{Enter}');
    expect(dialog()).toBeTruthy();
    await userEvent.keyboard('{Enter}');
    await act(async () => {});
    expect(server.posted()).toEqual([]);
    await userEvent.keyboard('稳定一周了{Enter}');
    await waitFor(() => expect(server.posted()).toHaveLength(1));
  });

  test('is not asked over words that the manager types elsewhere', async () => {
    server.agenda = agendaWith({ schedules: [], webhooks: [] });
    await openPage();
    const release = server.hold('diff?channel=production&a=7&b=3');
    await userEvent.click(button('回退 stories'));
    await openSettings();
    await userEvent.click(screen.getByText('新增通知', { selector: 'summary' }));
    await userEvent.type(screen.getByLabelText('地址（https）'), 'https://bot');
    release();
    await act(async () => {});
    expect(screen.queryByRole('alertdialog')).toBeNull();
  });

  test('asks with its effects and a reason, and reports its outcome', async () => {
    await openPage();
    await userEvent.click(button('回退 stories'));
    expect(dialog().textContent).toContain('stories：1.1.0·bbbb → 1.0.0·aaaa');
    expect(dialog().textContent).not.toContain('chat');
    await userEvent.type(screen.getByLabelText('原因（会写入记录）'), '封面不见了{Enter}');
    await waitFor(() => expect(said()).toBe('完成，现在是状态 8'));
    expect(server.posted()).toEqual([
      { path: 'rollback?channel=production', body: { name: 'stories', why: '封面不见了', seq: 7 } },
    ]);
    look();
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
    look();
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
    look();
    await screen.findByText(/^状态 8，/);
  });

  test.each(FOREIGN)('a page to which $what answers says that this is not the console', async ({ body }) => {
    globalThis.fetch = async () => new Response(body);
    render(<ConsolePage />);
    expect((await screen.findByRole('alert')).textContent).toMatch(/收到的不是这个发布台的回答/);
  });

  test('is tied to the state of its question: a faster change of another team is reported and stays', async () => {
    await openPage();
    await userEvent.click(button('全量上线 stories'));
    expect(dialog().textContent).toContain('stories：1.0.0·aaaa → 1.1.0·bbbb');
    const action = { kind: 'rollback' as const, builds: [old], names: ['stories'], to: 6, evidence: [] };
    server.log = [{ seq: 8, verb: 'rollback', who: '小李', what: old, why: '', at: instant(1), action }];
    server.seqs.production = 8;
    look();
    await screen.findByText(/^状态 8/);
    await userEvent.click(within(dialog()).getByRole('button', { name: '全量上线' }));
    await waitFor(() => expect(dialog().textContent).toContain('状态刚刚变了'));
    expect(dialog().textContent).toContain('回退 stories 1.0.0·aaaa（同状态 6），小李');
    expect(server.posted()).toMatchObject([{ path: 'promote?channel=production', body: { seq: 7 } }]);
    expect(server.seqs.production).toBe(8);
    await userEvent.click(button('知道了'));
    expect(screen.queryByText('知道了')?.closest('dialog')?.open ?? false).toBe(false);
  });

  test('that the state forbids says what came between: of a schedule, whether it was set or paused', async () => {
    await openPage();
    await userEvent.click(button('全量上线 stories'));
    const evidence = [
      { kind: 'schedule' as const, change: 'paused' as const, steps: '10@now,25@1h', taken: 1, id: 'a' },
    ];
    const action = { kind: 'schedule' as const, builds: [chat], evidence };
    server.log = [{ seq: 8, verb: 'schedule', who: '小李', what: chat, why: '', at: instant(1), action }];
    server.seqs.production = 8;
    await userEvent.click(within(dialog()).getByRole('button', { name: '全量上线' }));
    await waitFor(() => expect(dialog().textContent).toContain('状态刚刚变了'));
    const line = '计划 chat 1.0.0·cccc，小李。暂停：10% 现在、25% 1 小时后，已走 1 步';
    expect(within(dialog()).getByText(line)).toBeTruthy();
  });

  test.each(['停掉计划', '暂停'])('that holds back is not refused because of another change (%s)', async (verb) => {
    server.agenda = agendaWith();
    await openPage();
    await userEvent.click(button(verb));
    server.seqs.production = 8;
    await userEvent.click(within(dialog()).getByRole('button', { name: verb }));
    await waitFor(() => expect(said()).toContain('完成，现在是状态 9'));
  });

  test('of a rollback was compared with the state it is posted for, on the requested channel', async () => {
    await openPage();
    const release = server.hold('before?channel=production&name=stories');
    await userEvent.click(button('回退 stories'));
    server.seqs.production = 8;
    look();
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

  test('checking a build lists each problem by its check, or reports that it passed', async () => {
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
      { path: 'promote?channel=production', body: { from: 'preview', fromSeq: 20, why: '', seq: 7 } },
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
      body: { from: 'production', name: 'stories', fromSeq: 7, why: '', seq: 20 },
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

  test('names the one in the same browser that it ends', async () => {
    server.previews = [listed];
    await openPage();
    await openSettings();
    const part = within(section('本地预览'));
    await userEvent.click(part.getByText('为一个人打开'));
    await userEvent.type(part.getByLabelText('给谁（会写入记录）'), '王五');
    const ends = '这个浏览器里 李华 的本地预览随之结束：stories@http://localhost:3101';
    for (const [asking, expected] of [
      ['c'.repeat(32), false],
      [browser, true],
    ] as const) {
      await userEvent.clear(part.getByLabelText('请求'));
      await userEvent.type(part.getByLabelText('请求'), `chat@http://localhost:3102 ${asking}`);
      await userEvent.click(part.getByRole('button', { name: '打开' }));
      expect(within(dialog()).queryByText(ends) !== null).toBe(expected);
      await userEvent.click(within(dialog()).getByRole('button', { name: '取消' }));
    }
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
    await waitFor(() => expect(said()).toMatch(/stories · 完成，现在是状态 8$/));
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
    ['one remote of several was rolled back', [], true],
    ['the only changed remote was rolled back', [''], false],
  ])('of the whole set is offered as the server knows one, where %s', async (_, ends, expected) => {
    const action = (kind: 'activate', builds: string[]): LogEntry['action'] => ({ kind, builds, evidence: [] });
    const back: LogEntry['action'] = { kind: 'rollback', builds: [old], to: 2, names: ['stories'], evidence: [] };
    const both = { ...first[0], seq: 3, action: action('activate', [next, chat]) } as LogEntry;
    server.log = [{ ...both, seq: 4, action: back }, both, ...first];
    server.lastGood = {};
    server.deadEnds = ends;
    await openPage();
    expect(screen.queryByRole('button', { name: '整体回退' }) !== null).toBe(expected);
  });

  test('is not offered where a remote came back as it was', async () => {
    const entry = { ...first[0], seq: 3 } as LogEntry;
    const again: LogEntry['action'] = { kind: 'activate', builds: [chat], evidence: [] };
    server.log = [{ ...entry, seq: 4, action: again }, { ...entry, action: { ...again, kind: 'withdraw' } }, ...first];
    server.lastGood = {};
    server.deadEnds = ['chat'];
    await openPage();
    expect(screen.queryByRole('button', { name: '回退 chat' })).toBeNull();
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

  test('that the server refuses is reported in the language of the page', async () => {
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

  test('to builds that the page knows to be killed is refused before anything is asked', async () => {
    server.killed = [old];
    await openPage();
    await userEvent.click(button('回退 stories'));
    expect(await screen.findByText(/^那时运行的 stories 1\.0\.0·aaaa 已被禁用/)).toBeTruthy();
    expect(dialog().textContent).not.toContain('将会改变');
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
    look();
    await screen.findByText(/^状态 8，/);
    expect(screen.queryByRole('button', { name: '恢复 gifts' })).toBeNull();
  });
});

test('a share being chosen survives a look at the same share, and gives way to another one', async () => {
  await openPage();
  const slider = () => screen.getByRole<HTMLInputElement>('slider', { name: '访客比例' });
  slide(slider(), 9);
  server.seqs.production = 8;
  look();
  await screen.findByText(/^状态 8，/);
  expect(slider().value).toBe('9');
  server.percent = 20;
  server.seqs.production = 9;
  look();
  await screen.findByText(/^状态 9，/);
  expect(slider().getAttribute('aria-valuetext')).toBe('20% 的访客');
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
    expect((await screen.findByText(/没有别的主程序可用$/)).textContent).toBeTruthy();
    expect(screen.queryByLabelText('请输入 host 确认')).toBeNull();
    await userEvent.click(button('知道了'));
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
