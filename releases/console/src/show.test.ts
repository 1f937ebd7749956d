import { afterEach, beforeEach, expect, test } from '@rstest/core';
import { waitFor } from '@testing-library/react';
import type { Actions } from './actions';
import { createFrame } from './frame';
import type { BuildSummary, ChannelDocument, Me, Seen } from './model';
import { show } from './show';

const realFetch = globalThis.fetch;
const now = new Date('2026-11-03T12:00:00Z');
const later = new Date('2026-11-03T12:01:00Z');
const next = 'stories@1.1.0+bbbbbbbbbbbb';
const status: ChannelDocument = {
  format: 1,
  channel: 'production',
  seq: 7,
  nonce: '',
  stable: null,
  candidate: { set: 'b'.repeat(40), builds: [next], percent: 10, salt: 'x', since: '2026-11-03T11:59:00Z', by: '小李' },
  lastGood: {},
  killed: [],
  digests: {},
  action: { verb: 'canary', who: '小李', what: `${next} for 10 %`, why: '', at: '2026-11-03T11:59:00Z' },
  previous: null,
  expires: '2027-01-01T00:00:00Z',
  sig: '',
};
const seen: Seen = { status, log: [], names: ['stories'] };
const me: Me = { role: 'manager', name: null };
const actions: Actions = {
  change: async () => {},
  rollback: async () => {},
  check: async () => {},
  override: async () => {},
};

let answer: () => Response;
beforeEach(() => {
  globalThis.fetch = async () => answer();
});
afterEach(() => {
  globalThis.fetch = realFetch;
  document.body.replaceChildren();
});

function openFrame() {
  const frame = createFrame(() => {});
  document.body.append(frame.root);
  show(frame, seen, { me, actions, now });
  return frame;
}

test('a share being chosen survives the minute, while the times go on', () => {
  const frame = openFrame();
  const slider = frame.root.querySelector<HTMLInputElement>('input[type=range]');
  if (!slider) throw new Error('no slider');
  slider.value = '9';
  show(frame, seen, { me, actions, now: later });
  expect(frame.root.querySelector('input[type=range]')).toBe(slider);
  expect(slider.value).toBe('9');
  expect(frame.candidateSince.textContent).toBe('10% 的访客 · 2 分钟前起，由 小李 上线');
});

test('an open list that was lost says so, comes back by itself, and shows what was published meanwhile', async () => {
  const build = (version: string): BuildSummary => ({
    id: `stories@${version}+aaaaaaaaaaaa`,
    label: '',
    kind: 'remote',
    bytes: 1,
    files: 1,
    provenance: { commit: null, at: now.toISOString(), publisher: '小王' },
  });
  answer = () => Response.json({ message: 'the store is away' }, { status: 503 });
  const frame = openFrame();
  const list = frame.builds.querySelector('details');
  if (!list) throw new Error('no list');
  list.open = true;
  list.dispatchEvent(new Event('toggle'));
  await waitFor(() => expect(list.textContent).toContain('取不到这份列表'));
  answer = () => Response.json([build('1.2.0'), { ...build('1.1.0'), problem: 'build.json is damaged' }]);
  show(frame, seen, { me, actions, now: later });
  await waitFor(() => expect(list.textContent).toContain('1.2.0'));
  expect(list.textContent).not.toContain('取不到');
  expect([...list.querySelectorAll('li')].map((row) => row.textContent?.includes('已损坏'))).toEqual([false, true]);
});
