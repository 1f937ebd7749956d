import * as v from 'valibot';
import { type Failure, failureSchema, readAnswer } from '../../src/answers';
import type { BuildSummary } from '../../src/builds/catalog';
import type { Difference, LogEntry } from '../../src/channel/readChannel';
import { API_HEADER, API_LEVEL, type RefusalReason } from '../../src/errors';
import type { SharedLibrary, Sharing } from '../../src/gate/sharedLibraries';
import type { BuildHealth, CandidateHealth, Health, Waiting } from '../../src/health/autoStop';
import type { ErrorHealth, Portion } from '../../src/health/errors';
import type { MetricVitals, NameVitals, VitalsSeries } from '../../src/health/vitals';
import type { ReadAction } from '../../src/model/action';
import type { FreezeWindow } from '../../src/model/agenda';
import type { ChannelDocument } from '../../src/model/channel';
import type { Comparison } from '../../src/operations/compare';
import type { KillEffect } from '../../src/operations/goingBack';
import type { Preview } from '../../src/operations/override';
import type { AgendaView, ScheduleView } from '../../src/policies/agendaView';
import type { ProposalView } from '../../src/policies/approval';

export type {
  AgendaView,
  BuildHealth,
  BuildSummary,
  CandidateHealth,
  Comparison,
  Difference,
  ErrorHealth,
  FreezeWindow,
  Health,
  KillEffect,
  LogEntry,
  MetricVitals,
  NameVitals,
  Portion,
  Preview,
  ProposalView,
  RefusalReason,
  ScheduleView,
  SharedLibrary,
  Sharing,
  VitalsSeries,
  Waiting,
};
export type ChannelView = ChannelDocument & { agenda?: AgendaView; now?: string };
export type ShownAction = ReadAction;
export type ShownEvidence = ReadAction['evidence'][number];

interface ShownGrant {
  role: 'viewer' | 'publisher' | 'deployer' | 'manager';
  name: string | null;
}

/** Who is at work: a token, or a person with what each of their groups gives. */
export interface Me extends ShownGrant {
  person?: string;
  /** What the token was made for. */
  label?: string;
  more?: readonly ShownGrant[];
}

export const nameOf = (id: string): string => id.split('@')[0] ?? id;

/** All candidates, oldest first. */
export const candidatesOf = ({ candidate, moreCandidates = [] }: ChannelView) =>
  candidate ? [candidate, ...moreCandidates] : [];

/** What changes what readers get; all else leaves it as it is. */
const SWITCHES: readonly string[] = [
  'init',
  'activate',
  'canary',
  'promote',
  'abort',
  'rollback',
  'kill',
  'withdraw',
  'seed',
];
const WAYS_BACK: readonly string[] = ['abort', 'rollback', 'kill', 'withdraw'];
const CONFIRMED_MS = 3_600_000;

/**
 * What the newest switch tells: the automatic stops since anybody else switched, and after a way back what is live in the place of
 * what was left, for an hour.
 */
export function servedBy({ stable }: ChannelView, log: readonly LogEntry[], now: Date) {
  const switches = log.filter(({ action }) => SWITCHES.includes(action.kind));
  const byPerson = switches.findIndex(({ action, who }) => action.kind !== 'abort' || who !== 'auto-stop');
  const stops = byPerson < 0 ? switches : switches.slice(0, byPerson);
  const [last] = switches;
  const isFresh = last && now.getTime() - Date.parse(last.at) < CONFIRMED_MS;
  if (!stable || !isFresh || !WAYS_BACK.includes(last.action.kind)) return { stops, served: null };
  const left = 'builds' in last.action ? last.action.builds : [];
  const names = left.map(nameOf);
  const builds = stable.builds.filter((id) => names.includes(nameOf(id)));
  const withdrawn = last.action.kind === 'withdraw' && builds.length === 0 ? left : [];
  const shown = builds.length + withdrawn.length > 0 ? builds : stable.builds;
  return { stops, served: { set: stable.set, at: last.at, builds: shown, withdrawn } };
}

/** What changes what everybody runs. */
const STABLE_SWITCHES: readonly string[] = ['activate', 'promote', 'rollback', 'kill', 'withdraw', 'seed'];
/** A kill does where it took a build from everybody. */
export const switchesStable = ({ action }: LogEntry): boolean =>
  STABLE_SWITCHES.includes(action.kind) &&
  (action.kind !== 'kill' || action.evidence.some(({ kind }) => kind === 'replaced'));

/** Remotes that were withdrawn, and that nothing has touched since, each with its log entry. */
export function withdrawnIn({ stable }: ChannelView, log: readonly LogEntry[]) {
  const seen = new Set((stable?.builds ?? []).map(nameOf));
  return log.filter(switchesStable).flatMap((entry) => {
    const builds = 'builds' in entry.action ? entry.action.builds : [];
    const newest = builds.filter((id) => !seen.has(nameOf(id)));
    for (const id of newest) seen.add(nameOf(id));
    return entry.action.kind === 'withdraw' ? newest.map((build) => ({ build, entry })) : [];
  });
}

/** Builds that failed so much that the console reported it, or ended their canary. */
export const alarmedIn = (log: readonly LogEntry[]): Set<string> =>
  new Set(
    log.flatMap(({ action, who }) =>
      action.kind === 'alarm' || (action.kind === 'abort' && who === 'auto-stop') ? action.builds : [],
    ),
  );

interface Before {
  status: ChannelView;
  log: readonly LogEntry[];
  deadEnds: readonly string[];
}

/** Whether to offer a way back, for a name or as a whole. Where the log is longer than what is shown, what is kept as a fallback tells. */
export function mayGoBack({ status: { lastGood, killed }, log, deadEnds }: Before, name?: string): boolean {
  if (deadEnds.includes(name ?? '')) return false;
  if (log.at(-1)?.seq !== 1)
    return name === undefined || lastGood[name] !== undefined || killed.some((id) => nameOf(id) === name);
  let newest = Number.POSITIVE_INFINITY;
  let count = 0;
  for (const entry of log) {
    const { seq, action } = entry;
    if (seq > newest) continue;
    // the person went back and goes further back from there
    const went = action.kind === 'rollback' && (!name || action.names.length === 0 || action.names.includes(name));
    if (went) newest = action.to;
    else if (mayChange(entry, name)) count += 1;
  }
  return count > 1;
}

function mayChange(entry: LogEntry, name?: string): boolean {
  const { action } = entry;
  if (action.kind === 'text') return true;
  if (!switchesStable(entry)) return false;
  return !name || !('builds' in action) || (action.more ?? 0) > 0 || action.builds.some((id) => nameOf(id) === name);
}

/** Whether to offer switching a build of this name; the server decides for itself. */
export const maySwitch = (me: Me, name?: string): boolean =>
  [me, ...(me.more ?? [])].some(
    (grant) => grant.role === 'manager' || (grant.role === 'deployer' && name !== undefined && grant.name === name),
  );

const TOKEN = 'liaozhai-console-token';

/** The status of an answer of success that cannot be read: a proxy's page, or another version's. */
export const UNREADABLE = 200;

/** What kept the API from doing what it was asked; 0 = there was no answer. `texts.refusal` has the sentence, `lines` are the server's own. */
export class ApiFailure extends Error {
  readonly status: number;
  readonly lines: readonly string[];
  /** What the refusal is about, where the page has words of its own. */
  readonly reason: RefusalReason | undefined;

  constructor(status: number, lines: readonly string[] = [], reason?: RefusalReason) {
    super(`the API answered ${status}`);
    this.status = status;
    this.lines = lines;
    this.reason = reason;
  }
}

/** The failure itself; any other error is a fault of ours and rethrown. */
export function failureOf(cause: unknown): ApiFailure {
  if (cause instanceof ApiFailure) return cause;
  throw cause;
}

const LINK_TOKEN = /[#&]token=([\w-]+)/;

/** Whether the address's fragment holds a token. */
export const hasLinkToken = (): boolean => LINK_TOKEN.test(location.hash);

/** Moves the token of the address's fragment to this tab's storage immediately and removes it from the address. */
export function readToken(): string | null {
  const [, found] = LINK_TOKEN.exec(location.hash) ?? [];
  if (found) {
    sessionStorage.setItem(TOKEN, found);
    history.replaceState(null, '', location.pathname + location.search);
  }
  return sessionStorage.getItem(TOKEN);
}

export const saveToken = (token: string): void => sessionStorage.setItem(TOKEN, token);
export const forgetToken = (): void => sessionStorage.removeItem(TOKEN);

const TYPED = 'liaozhai-console-typed';

/** What somebody wrote about a change that was not made yet, by the channel and the title of what asked for it. */
export interface Typed {
  channel: string;
  title: string;
  why: string;
}

/** Outlives the page, since signing in again leaves it. */
export const saveTyped = (typed: Typed): void => sessionStorage.setItem(TYPED, JSON.stringify(typed));
export const forgetTyped = (): void => sessionStorage.removeItem(TYPED);

/** What was typed when the same was asked and not answered. */
export function typedFor(channel: string, title: string): Typed | null {
  const typed = JSON.parse(sessionStorage.getItem(TYPED) ?? 'null') as Typed | null;
  return typed?.channel === channel && typed.title === title ? typed : null;
}

/** After so long a connection is taken for lost. What asks the gate may wait for a browser and for those before it. */
const LONGEST_MS = 15_000;
const LONGEST_JUDGED_MS = 180_000;
const JUDGED = /^\/v1\/(check|activate|canary|promote|schedule|approve|webhook-test)\b/;

/** With a token that alone counts; without one the session does, which needs a header that no other origin can send. */
async function send<Answer>(path: string, options: RequestInit & { method: 'GET' | 'POST' }): Promise<Answer> {
  const token = sessionStorage.getItem(TOKEN);
  const headers = {
    ...(token ? { authorization: `Bearer ${token}` } : { 'x-console': '1' }),
    'content-type': 'application/json',
    [API_HEADER]: String(API_LEVEL),
  };
  const credentials = token ? 'omit' : 'same-origin';
  const ending = new AbortController();
  const { signal } = ending;
  const longest = JUDGED.test(path) && options.method === 'POST' ? LONGEST_JUDGED_MS : LONGEST_MS;
  const timer = setTimeout(() => ending.abort(), longest);
  const [response, answer] = await fetch(path, { ...options, headers, credentials, signal, cache: 'no-store' })
    .then(async (came): Promise<[Response, unknown]> => {
      const body: unknown = await came.json().catch(() => null);
      // a truncated answer does not count
      signal.throwIfAborted();
      return [came, body];
    })
    .catch(() => {
      throw new ApiFailure(0);
    })
    .finally(() => clearTimeout(timer));
  if (response.ok) {
    const read = readAnswer(options.method, path, answer);
    if (!read.success) throw new ApiFailure(UNREADABLE);
    return read.output as Answer;
  }
  const failure = v.safeParse(failureSchema, answer);
  throw failure.success
    ? failed(response.status, failure.output)
    : new ApiFailure(response.status, [`${response.status}`]);
}

export const failed = (status: number, { message, cure, details, reason }: Failure) =>
  new ApiFailure(status, [message, ...details, ...(cure ? [cure] : [])], reason);

export const get = <Answer>(path: string): Promise<Answer> => send<Answer>(`/v1/${path}`, { method: 'GET' });
export const post = <Answer>(path: string, body: unknown): Promise<Answer> =>
  send<Answer>(`/v1/${path}`, { method: 'POST', body: JSON.stringify(body) });

/** The path of a call about a channel. */
export const pathOf = (verb: string, { channel }: { channel: string }): string =>
  `${verb}?channel=${encodeURIComponent(channel)}`;

/** Whether people sign in at a provider here, and whether this browser has a session. */
export interface SessionStatus {
  offered: boolean;
  signedIn: boolean;
}

/** A console that does not say offers tokens only. */
export const readSession = (): Promise<SessionStatus> =>
  send<SessionStatus>('/auth', { method: 'GET' }).catch((cause: unknown) => {
    failureOf(cause);
    return { offered: false, signedIn: false };
  });

/** Ends the session here. Returns where to go to end the provider's as well, if that is offered. */
export const endSession = async (): Promise<string | null> =>
  (await send<{ leave: string | null }>('/auth/logout', { method: 'POST' })).leave;

/** The channel that the address names, so that a reload and a link show it again. */
export const readChosen = (): string | null => new URLSearchParams(location.search).get('channel');

/** Where to sign in at the provider, which leads back to the channel that the address names. */
export function loginAddress(asSomebodyElse: boolean): string {
  const channel = readChosen();
  const parts = [
    ...(channel === null ? [] : [`channel=${encodeURIComponent(channel)}`]),
    ...(asSomebodyElse ? ['again'] : []),
  ];
  return ['/auth/login', parts.join('&')].filter(Boolean).join('?');
}

/** A step of its own, which going back takes back. */
export function saveChosen(channel: string): void {
  if (readChosen() !== channel) history.pushState(null, '', `?channel=${encodeURIComponent(channel)}`);
}

/** What the server found wrong with signing in, from the address's fragment, which it leaves. */
export function readSignInFailure(): string | null {
  const [, found = null] = /[#&]sign-in=(\w+)/.exec(location.hash) ?? [];
  if (found) history.replaceState(null, '', location.pathname + location.search);
  return found;
}
