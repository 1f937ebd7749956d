import { afterEach, beforeEach, describe, expect, test } from '@rstest/core';
import { waitFor } from '@testing-library/react';
import { type ChannelView, get, type Health } from './api';
import { createConsole } from './createConsole';
import { language } from './language';
import { changesBy } from './texts';

const realFetch = globalThis.fetch;
const group = { visitors: 0, failedVisitors: 0, loads: 0, failures: {}, p75LoadMilliseconds: null };
const health: Health = { stable: group, candidates: [], builds: [] };

/** State of each channel, the requests made, and responses that can be held back. */
let seqs: Record<string, number>;
let asked: string[];
let gates: Map<string, Promise<void>>;
const CHANGES = ['activate', 'rollback', 'approve'];

function hold(path: string): () => void {
  let release = () => {};
  gates.set(path, new Promise((resolve) => (release = resolve)));
  return () => release();
}

beforeEach(() => {
  language.choose('zh');
  seqs = { production: 7, preview: 20 };
  asked = [];
  gates = new Map();
  globalThis.fetch = async (input) => {
    const url = new URL(String(input), 'http://localhost');
    const verb = url.pathname.replace('/v1/', '');
    const channel = url.searchParams.get('channel') ?? '';
    const stateOf = (seq?: number) => ({
      channel,
      seq,
      stable: null,
      candidate: null,
      lastGood: {},
      killed: [],
      expires: '',
    });
    const status = stateOf(seqs[channel]);
    const answers: Record<string, unknown> = { status, health };
    const answer = answers[verb] ?? [];
    asked.push(verb + url.search);
    await gates.get(verb + url.search);
    if (!CHANGES.includes(verb)) return Response.json(answer);
    const seq = (seqs[channel] ?? 0) + 1;
    // an approval is logged after the change it approves
    seqs[channel] = verb === 'approve' ? seq + 1 : seq;
    return Response.json({ changed: true, document: stateOf(seq) });
  };
});
afterEach(() => {
  globalThis.fetch = realFetch;
});

/** Opens the console, and records everything it shows. */
function openConsole() {
  const console = createConsole('production');
  const shown: string[] = [];
  console.subscribe(() => {
    const { snapshot: seen } = console.state();
    const line = seen ? `${seen.status.channel} ${seen.status.seq}` : 'nothing';
    if (shown.at(-1) !== line) shown.push(line);
  });
  return { console, shown };
}

describe('what the console shows', () => {
  test('is not turned round by a label or a reason', async () => {
    globalThis.fetch = async () => Response.json([{ name: 'stories', label: '\u202e故\u2066事' }]);
    expect(await get('names')).toEqual([{ name: 'stories', label: '故事' }]);
  });

  test('stays with the chosen channel when an answer about the former one comes late', async () => {
    const { console, shown } = openConsole();
    const release = hold('status?channel=production');
    const releaseChosen = hold('status?channel=preview');
    const late = console.refresh();
    const chosen = console.chooseChannel('preview');
    release();
    await late;
    expect(shown).toEqual(['nothing']);
    releaseChosen();
    await chosen;
    expect(shown).toEqual(['nothing', 'preview 20']);
  });

  test('never goes back to an older answer that was overtaken', async () => {
    const { console, shown } = openConsole();
    const release = hold('status?channel=production');
    const late = console.refresh();
    gates.clear();
    seqs.production = 8;
    await console.refresh();
    release();
    await late;
    expect(asked.filter((path) => path.startsWith('status'))).toHaveLength(2);
    expect(shown.at(-1)).toBe('production 8');
    expect(shown).not.toContain('production 7');
  });

  test('does not wait for the health figures, which are requested one at a time', async () => {
    const { console, shown } = openConsole();
    const release = hold('health?channel=production');
    await console.refresh();
    await console.refresh();
    expect(shown).toEqual(['production 7']);
    expect(console.state().health).toBeNull();
    expect(asked.filter((path) => path.startsWith('health'))).toHaveLength(1);
    release();
    await waitFor(() => expect(console.state().health).toEqual(health));
  });

  test("figures of a channel that was left never stand under the chosen one's name", async () => {
    const { console } = openConsole();
    const release = hold('health?channel=production');
    hold('health?channel=preview');
    await console.refresh();
    await console.chooseChannel('preview');
    release();
    // fetched again only after the slow response
    await waitFor(async () => {
      await console.refresh();
      expect(console.state().health).toBeNull();
      expect(asked.filter((path) => path === 'health?channel=preview')).toHaveLength(1);
    });
  });

  test('the log is requested again only when the state has changed', async () => {
    const { console } = openConsole();
    await console.refresh();
    await console.refresh();
    expect(asked.filter((path) => path.startsWith('log'))).toHaveLength(1);
    seqs.production = 8;
    await console.refresh();
    expect(asked.filter((path) => path.startsWith('log'))).toHaveLength(2);
  });
});

test('one request runs at a time: what is asked meanwhile is not sent', async () => {
  const { console } = openConsole();
  await console.refresh();
  const release = hold('override?channel=production');
  const first = console.override('a@1.0.0');
  await console.override('b@1.0.0');
  expect(console.state().isRunning).toBe(true);
  release();
  await first;
  expect(asked.filter((path) => path.startsWith('override'))).toHaveLength(1);
  expect(console.state().isRunning).toBe(false);
});

const question = (title: string) => ({ title, action: title, changes: [] });

test.each([
  ['rollback', 8],
  ['approve', 9],
])('the state that a change made by %s is shown before it is said to be done', async (verb, seq) => {
  const { console } = openConsole();
  await console.refresh();
  const told: string[] = [];
  console.subscribe(() => {
    const { toast, snapshot: seen } = console.state();
    if (toast?.kind === 'success') told.push(`${toast.text}: ${seen?.status.seq}`);
  });
  console.openQuestion(verb, { name: 'a' }, question('回退 a'));
  await console.confirmQuestion('');
  expect(told[0]).toBe(`完成，现在是状态 ${seq}: ${seq}`);
});

test.each([
  [502, '<h1>Bad Gateway</h1>'],
  [503, '{"message":"upstream timed out"}'],
  [504, ''],
])('a change that a proxy answers with %i is said to be unknown, not to have failed', async (status, body) => {
  const { console } = openConsole();
  await console.refresh();
  const served = globalThis.fetch;
  globalThis.fetch = async (input, options) =>
    String(input).includes('/rollback') ? new Response(body, { status }) : served(input, options);
  console.openQuestion('rollback', { name: 'a' }, question('回退 a'));
  await console.confirmQuestion('');
  const { notice } = console.state();
  expect(notice?.lines).toEqual([expect.stringContaining('没有收到答复')]);
  expect(notice?.title).not.toMatch(/没有成功|没有改变/);
});

test("the console's own refusal of a change keeps its words", async () => {
  const { console } = openConsole();
  await console.refresh();
  const served = globalThis.fetch;
  const refusal = { message: 'file:a failed: ENOSPC', cure: 'Wait.', details: [] };
  globalThis.fetch = async (input, options) =>
    String(input).includes('/rollback') ? Response.json(refusal, { status: 503 }) : served(input, options);
  console.openQuestion('rollback', { name: 'a' }, question('回退 a'));
  await console.confirmQuestion('');
  expect(console.state().notice?.title).toContain('发布存储暂时无法访问');
  expect(console.state().notice?.lines.join()).not.toContain('没有收到答复');
});

test('a switch that was left while the gate judges it does not block a rollback, and a toast reports its end', async () => {
  const { console } = openConsole();
  await console.refresh();
  const release = hold('activate?channel=production');
  console.openQuestion('activate', { builds: ['a@1.0.0'] }, question('上线 a'));
  const activated = console.confirmQuestion('');
  console.cancelQuestion();
  await console.rollback({ name: 'b', to: 3 });
  await console.confirmQuestion('');
  expect(console.state().toast?.text).toBe('完成，现在是状态 8');
  await console.rollback({ name: 'c', to: 3 });
  release();
  await activated;
  expect(console.state().toast?.text).toBe('上线 a · 完成，现在是状态 9');
  expect(console.state().question?.title).toBe('回退 c');
});

describe('a question that loads slowly', () => {
  type Opened = ReturnType<typeof openConsole>['console'];
  const told = '你已转到别处，所以刚才要打开的没有打开；还需要就再按一次';
  const turns: [string, string | undefined, (console: Opened) => unknown][] = [
    ['chooses another channel', told, (console) => console.chooseChannel('preview')],
    ['types or changes the view', told, (console) => console.turnAway()],
    [
      'asks and calls off another change',
      undefined,
      (console) => {
        console.openQuestion('activate', { builds: ['a@1.0.0'] }, question('上线 a'));
        console.cancelQuestion();
        console.openQuestion('activate', { builds: ['b@1.0.0'] }, question('上线 b'));
      },
    ],
  ];

  test.each(turns)('does not open over a manager who %s', async (_, toast, turn) => {
    const { console } = openConsole();
    await console.refresh();
    const release = hold('diff?channel=production&a=7&b=3');
    const asked = console.rollback({ name: 'b', to: 3 });
    await turn(console);
    release();
    await asked;
    expect(console.state().question?.title).not.toBe('回退 b');
    expect(console.state().isRunning).toBe(false);
    expect(console.state().toast?.text).toBe(toast);
    await console.rollback({ name: 'b', to: 3 });
    expect(console.state().question?.title).toBe('回退 b');
  });

  test('names the state of the other channel that its lines are about', async () => {
    const { console } = openConsole();
    await console.refresh();
    await console.promoteFrom('preview');
    expect(console.state().question?.body).toEqual({ from: 'preview', fromSeq: 20 });
  });
});

test('a check, which may take minutes, holds up no way back, and runs once for each build', async () => {
  const { console } = openConsole();
  await console.refresh();
  const release = hold('check?channel=production');
  const checks = ['a@1.0.0', 'a@1.0.0', 'b@1.0.0'].map(console.check);
  await console.rollback({ name: 'a', to: 3 });
  expect(console.state().question?.title).toBe('回退 a');
  release();
  await Promise.all(checks);
  expect(asked.filter((path) => path.startsWith('check'))).toHaveLength(2);
  expect(console.state().question?.title).toBe('回退 a');
});

test('a result that arrives while another is read waits until that one is closed', async () => {
  const { console } = openConsole();
  await console.refresh();
  const served = globalThis.fetch;
  globalThis.fetch = async (input, options) => {
    if (String(input).includes('/check')) return Response.json({ message: 'no', details: [] }, { status: 422 });
    return String(input).includes('/webhook')
      ? Response.json({ webhook: { id: 'w' }, secret: 's3cret' })
      : served(input, options);
  };
  await console.addWebhook('https://ci.example/hook');
  await console.check('a@1.0.0');
  expect(console.state().notice?.copy).toBe('s3cret');
  console.dismiss();
  await waitFor(() => expect(console.state().notice?.lines).toEqual(['a 1.0.0', 'no']));
  console.dismiss();
  expect(console.state().notice).toBeNull();
});

test('a reason that was typed is kept for its question while another one is asked and called off', async () => {
  const { console } = openConsole();
  await console.refresh();
  const served = globalThis.fetch;
  globalThis.fetch = async (input, options) =>
    String(input).includes('/rollback') ? new Response('', { status: 504 }) : served(input, options);
  console.openQuestion('rollback', { name: 'a' }, question('回退 a'));
  await console.confirmQuestion('封面不见了');
  console.openQuestion('activate', { builds: ['b@1.0.0'] }, question('上线 b'));
  console.storeReason('新的封面');
  console.cancelQuestion();
  console.openQuestion('activate', { builds: ['b@1.0.0'] }, question('上线 b'));
  expect(console.state().question?.typedReason).toBe('');
  console.openQuestion('rollback', { name: 'a' }, question('回退 a'));
  expect(console.state().question?.typedReason).toBe('封面不见了');
});

test('a switch names what it would change, with what is live and what is new', () => {
  const builds = ['chat@1.0.0+cccccccccccc', 'stories@1.0.0+aaaaaaaaaaaa'];
  const status = { stable: { builds } } as unknown as ChannelView;
  const wanted = ['stories@1.1.0+bbbbbbbbbbbb', 'chat@1.0.0+cccccccccccc', 'gifts@1.0.0+dddddddddddd'];
  expect(changesBy(status, wanted)).toEqual(['stories：1.0.0·aaaa → 1.1.0·bbbb', 'gifts：新增 → 1.0.0·dddd']);
});
