import { afterEach, beforeEach, describe, expect, test } from '@rstest/core';
import { waitFor } from '@testing-library/react';
import { createActions } from './actions';
import { createLooking } from './looking';
import type { Health } from './model';

const realFetch = globalThis.fetch;
const group = { visitors: 0, failedVisitors: 0, loads: 0, failures: {}, p75LoadMilliseconds: null };
const health: Health = { stable: group, candidate: null, verdict: null };

/** The console's server: the state it is in, what it was asked, and answers that wait until they are let go. */
let seqs: Record<string, number>;
let asked: { path: string; body: Record<string, unknown> | null }[];
let gates: Map<string, Promise<unknown>>;

function hold(path: string): () => void {
  let release = () => {};
  gates.set(path, new Promise<void>((resolve) => (release = resolve)));
  return () => release();
}

function answerTo({ pathname, searchParams }: URL, body: Record<string, unknown> | null): [number, unknown] {
  const channel = searchParams.get('channel') ?? '';
  const seq = seqs[channel] ?? 0;
  const verb = pathname.replace('/v1/', '');
  if (body)
    return body.seq === seq ? [200, { changed: true, document: { seq: seq + 1 } }] : [409, { message: 'moved' }];
  if (verb === 'status') return [200, { channel, seq }];
  if (verb === 'before') return [200, { seq: 3 }];
  if (verb === 'health') return [200, health];
  return [200, []];
}

beforeEach(() => {
  seqs = { production: 7, preview: 20 };
  asked = [];
  gates = new Map();
  globalThis.fetch = async (input, init) => {
    const url = new URL(String(input), 'http://localhost');
    const path = url.pathname.replace('/v1/', '') + url.search;
    const body = typeof init?.body === 'string' ? JSON.parse(init.body) : null;
    asked.push({ path, body });
    const [status, answer] = answerTo(url, body);
    await gates.get(path);
    return Response.json(answer, { status });
  };
});
afterEach(() => {
  globalThis.fetch = realFetch;
  document.body.replaceChildren();
});

/** The page as index.ts puts it together. */
function openPage() {
  const page = { channel: 'production', shown: [] as string[], said: '', figures: 0 };
  const looking = createLooking({
    channel: () => page.channel,
    show: ({ status }) => page.shown.push(`${status.channel} ${status.seq}`),
    showHealth: (found) => {
      page.figures += found ? 1 : 0;
    },
    failed: () => page.shown.push('failed'),
  });
  const say = (line: string) => {
    page.said = line;
  };
  const actions = createActions({ status: looking.status, say, refresh: looking.refresh });
  return { page, actions, ...looking };
}

const agree = () => document.querySelector<HTMLButtonElement>('dialog .danger, dialog .primary')?.click();

describe('what is agreed to in a dialog', () => {
  test('is tied to the state it was asked about: another team that was faster is told of, not overrun', async () => {
    const { page, actions, refresh } = openPage();
    await refresh();
    const switched = actions.change('activate', { builds: ['x'] }, { title: '', action: '', changes: ['1.2 → 1.1'] });
    seqs.production = 8;
    await refresh();
    agree();
    await waitFor(() => expect(page.said).toContain('状态刚刚变了'));
    expect(asked.find(({ body }) => body)).toEqual({
      path: 'activate?channel=production',
      body: { builds: ['x'], why: '', seq: 7 },
    });
    expect(document.querySelector('dialog')?.textContent).toContain('moved');
    agree();
    await switched;
  });

  test('of a rollback was compared with the very state it is posted for, on the channel it was asked for', async () => {
    const { page, actions, refresh } = openPage();
    await refresh();
    const release = hold('before?channel=production&name=stories');
    const rolledBack = actions.rollback({ name: 'stories', title: '' });
    seqs.production = 8;
    await refresh();
    release();
    await waitFor(() => expect(document.querySelector('dialog')).not.toBeNull());
    page.channel = 'preview';
    await refresh();
    agree();
    await waitFor(() => expect(page.said).toContain('状态刚刚变了'));
    expect(asked.map(({ path }) => path)).toContain('diff?channel=production&a=7&b=3');
    expect(asked.find(({ body }) => body)).toMatchObject({ path: 'rollback?channel=production', body: { seq: 7 } });
    agree();
    await rolledBack;
  });
});

describe('what the page shows', () => {
  test('stays with the chosen channel when an answer about the former one comes late', async () => {
    const { page, refresh, status } = openPage();
    const release = hold('status?channel=production');
    const releaseChosen = hold('status?channel=preview');
    const late = refresh();
    page.channel = 'preview';
    const chosen = refresh();
    release();
    await late;
    expect(page.shown).toEqual([]);
    releaseChosen();
    await chosen;
    expect(page.shown).toEqual(['preview 20']);
    expect(status()?.channel).toBe('preview');
  });

  test('never goes back to an older answer that was overtaken', async () => {
    const { page, refresh } = openPage();
    const release = hold('status?channel=production');
    const late = refresh();
    gates.clear();
    seqs.production = 8;
    await refresh();
    release();
    await late;
    expect(page.shown).toEqual(['production 8']);
  });

  test('does not wait for the health figures, which are asked for once at a time', async () => {
    const { page, refresh } = openPage();
    const release = hold('health?channel=production');
    await refresh();
    await refresh();
    expect(page).toMatchObject({ shown: ['production 7', 'production 7'], figures: 0 });
    expect(asked.filter(({ path }) => path.startsWith('health'))).toHaveLength(1);
    release();
    await waitFor(() => expect(page.figures).toBe(1));
  });
});
