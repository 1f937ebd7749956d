import { afterEach, describe, expect, rs, test } from '@rstest/core';
import type { Actions } from './actions';
import { readToken } from './api';
import { candidateSection } from './candidateSection';
import { confirmChange } from './confirm';
import { draw, element } from './element';
import { relativeTime, subjectOf, versionOf } from './format';
import { healthSection } from './healthSection';
import { liveSection } from './liveSection';
import { logSection } from './logSection';
import { type ChannelDocument, changesBy, type Me } from './model';

const now = new Date('2026-11-03T12:00:00Z');
const [old, next] = ['stories@1.0.0+aaaaaaaaaaaa', 'stories@1.1.0+bbbbbbbbbbbb'];
const status: ChannelDocument = {
  format: 1,
  channel: 'production',
  seq: 7,
  nonce: '',
  stable: { set: 'a'.repeat(40), builds: ['chat@1.0.0+cccccccccccc', old], since: '2026-11-03T11:55:00Z', by: '小王' },
  candidate: { set: 'b'.repeat(40), builds: [next], percent: 10, salt: 'x', since: '2026-11-03T11:59:00Z', by: '小李' },
  lastGood: {},
  killed: [],
  digests: {},
  action: { verb: 'canary', who: '小李', what: `${next} for 10 %`, why: '', at: '2026-11-03T11:59:00Z' },
  previous: null,
  expires: '2027-01-01T00:00:00Z',
  sig: '',
};
const manager: Me = { role: 'manager', name: null };
const viewer: Me = { role: 'viewer', name: null };
const noActions: Actions = {
  change: async () => {},
  rollback: async () => {},
  check: async () => {},
  override: async () => {},
};
const shown = (parts: (HTMLElement | null)[]): HTMLElement => {
  const place = element('div', {}, ...parts);
  document.body.replaceChildren(place);
  return place;
};
afterEach(() => document.body.replaceChildren());

describe('what the console says', () => {
  test('who switched what, when, in short names', () => {
    expect(relativeTime('2026-11-03T11:55:00Z', now)).toBe('5 分钟前');
    expect(versionOf(next)).toBe('1.1.0 · bbbb');
    expect(subjectOf(`${next} for 10 %`)).toBe('stories 1.1.0·bbbb（10% 的访客）');
    expect(subjectOf(`${old} as in state 4`)).toBe('stories 1.0.0·aaaa（同状态 4）');
  });

  test('what runs and since when; only who may switch gets buttons', () => {
    const forManager = shown(liveSection(status, manager, noActions, now));
    expect(forManager.textContent).toContain('状态 7 · 5 分钟前起，由 小王 上线');
    expect(forManager.querySelectorAll('button')).toHaveLength(3);
    expect(shown(liveSection(status, viewer, noActions, now)).querySelectorAll('button')).toHaveLength(0);
    const deployer: Me = { role: 'deployer', name: 'stories' };
    const own = shown(liveSection(status, deployer, noActions, now)).querySelectorAll('button');
    expect([...own].map((button) => button.getAttribute('aria-label'))).toEqual(['回退 stories']);
  });

  test('a name from the store stays text', () => {
    const evil = '<img src=x onerror=alert(1)>';
    const entry = {
      seq: 2,
      verb: 'activate',
      who: evil,
      what: evil,
      why: evil,
      at: status.action.at,
      evidence: [evil],
      action: { kind: 'text' as const, text: evil, evidence: [] },
    };
    const place = shown(logSection([entry], manager, noActions, now));
    expect(place.querySelector('img')).toBeNull();
    expect(place.textContent).toContain(evil);
  });

  test('the candidate beside its control, and the verdict', () => {
    const group = { visitors: 60, failedVisitors: 20, loads: 40, failures: { hang: 20 }, p75LoadMilliseconds: 512.4 };
    const verdict = { test: '', pValue: 1e-9, alpha: 1e-4, enough: true, worse: true };
    const text = shown(
      healthSection({ stable: { ...group, failedVisitors: 0, failures: {} }, candidate: group, verdict }),
    ).textContent;
    for (const part of ['20（33.3%）', '超时 20', '512 ms', '明显变差', '将自动中止']) expect(text).toContain(part);
  });

  test('what a switch would change', () => {
    expect(changesBy(status, [next, 'chat@1.0.0+cccccccccccc'])).toEqual(['stories：1.0.0 · aaaa → 1.1.0 · bbbb']);
  });
});

describe('what the console asks', () => {
  test('the slider names the share it stands for', async () => {
    const change = rs.fn(async () => {});
    const place = shown(candidateSection(status, manager, { ...noActions, change }));
    const slider = place.querySelector<HTMLInputElement>('input[type=range]');
    if (!slider) throw new Error('no slider');
    slider.value = '8';
    slider.dispatchEvent(new Event('input'));
    expect(slider.getAttribute('aria-valuetext')).toBe('30% 的访客');
    place.querySelector<HTMLButtonElement>('.slider button')?.click();
    expect(change).toHaveBeenCalledWith(
      'canary',
      { builds: [], percent: 30 },
      expect.objectContaining({ changes: ['10% 的访客 → 30% 的访客'] }),
    );
  });

  test('before a change it names what changes, and takes the reason along; calling off changes nothing', async () => {
    const ask = () => confirmChange({ title: '上线', action: '好', changes: ['stories：1 → 2'] });
    const answer = ask();
    const dialog = document.querySelector('dialog');
    expect(dialog?.textContent).toContain('stories：1 → 2');
    const why = dialog?.querySelector('input');
    if (why) why.value = '新列表';
    dialog?.querySelector<HTMLButtonElement>('.primary')?.click();
    expect(await answer).toEqual({ why: '新列表' });
    const second = ask();
    document.querySelector<HTMLButtonElement>('dialog button')?.click();
    expect(await second).toBeNull();
    expect(document.querySelector('dialog')).toBeNull();
  });

  test('the token of the address goes to this tab alone and leaves the address', () => {
    location.hash = '#token=lz_abc_def';
    expect(readToken()).toBe('lz_abc_def');
    expect(location.hash).toBe('');
    expect(readToken()).toBe('lz_abc_def');
    sessionStorage.clear();
  });

  test('a part is drawn anew only when its data changed, so focus stays', () => {
    const place = element('div');
    const render = (label: string) => [element('button', {}, label)];
    draw(place, 'a', render);
    const button = place.firstChild;
    draw(place, 'a', render);
    expect(place.firstChild).toBe(button);
    draw(place, 'b', render);
    expect(place.textContent).toBe('b');
  });
});
