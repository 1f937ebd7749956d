import { afterEach, beforeEach, expect } from '@rstest/core';
import { cleanup, render, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type {
  AgendaView,
  BuildSummary,
  ChannelView,
  Comparison,
  Health,
  KillEffect,
  LogEntry,
  Me,
  Preview,
  RefusalReason,
  Sharing,
} from '../api';
import { ConsolePage } from '../ConsolePage';
import { language } from '../language';

const realFetch = globalThis.fetch;
export const instant = (secondsAgo: number) => new Date(Date.now() - secondsAgo * 1000).toISOString();
export const chat = 'chat@1.0.0+cccccccccccc';
export const host = 'host@1.0.0+999999999999';
export const [old, next] = ['stories@1.0.0+aaaaaaaaaaaa', 'stories@1.1.0+bbbbbbbbbbbb'];
/** Successful responses from something other than the console. */
export const FOREIGN = [
  { what: 'a network’s sign-in page', body: '<!doctype html><title>Wi-Fi</title>' },
  { what: 'another service', body: '{"ok":true}' },
  { what: 'an empty answer', body: '' },
];
export const group = { visitors: 60, failedVisitors: 0, loads: 60, failures: {}, p75LoadMilliseconds: 300 };

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

export const summary = (id: string): BuildSummary => ({
  id,
  label: '',
  kind: 'remote',
  bytes: 2048,
  files: 3,
  provenance: { commit: null, at: instant(120), publisher: '小王' },
});

/** Fake server with its state, the requests it received, and responses that can be held back. */
export function openServer() {
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

/** The fake console of the current test. */
export let server: ReturnType<typeof openServer>;
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
export async function openPage() {
  render(<ConsolePage />);
  await screen.findByText(/^状态 7，/);
  await within(section('健康')).findByText('稳定版');
}

/** A person returns to the page, which requests the state. */
export const look = () => document.dispatchEvent(new Event('visibilitychange'));

export const openSettings = async () => {
  await userEvent.click(screen.getByRole('link', { name: '设置' }));
  await screen.findByRole('region', { name: '冻结期' });
};

export async function choose(menu: string, item: string) {
  await userEvent.click(await screen.findByRole('button', { name: `更多：${menu}` }));
  await userEvent.click(await screen.findByRole('menuitem', { name: item }));
}

export const section = (name: string) => screen.getByRole('region', { name });
export const button = (name: string | RegExp) => screen.getByRole<HTMLButtonElement>('button', { name });
export const dialog = () => screen.getByRole('alertdialog');
/** Text of the toasts, which are visible at any scroll position. */
export const said = () => screen.getByRole('region', { name: '提示' }).textContent;

export const agendaWith = (parts: Partial<AgendaView> = {}): AgendaView => ({
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
      mayContinue: true,
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
