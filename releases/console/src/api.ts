import * as v from 'valibot';
import { type Failure, failureSchema, GATED_PATH, isOfConsole, parseAnswer, parseResponse } from '../../src/answers';
import type { LogEntry } from '../../src/channel/readChannel';
import { API_HEADER, API_LEVEL, type RefusalReason } from '../../src/errors';
import type { ChannelDocument } from '../../src/model/channel';
import type { Grant } from '../../src/operations/tokens';
import type { AgendaView } from '../../src/policies/agendaView';

export type { BuildSummary } from '../../src/builds/catalog';
export type { Difference, LogEntry } from '../../src/channel/readChannel';
export type { RefusalReason } from '../../src/errors';
export type { SharedLibrary, Sharing } from '../../src/gate/sharedLibraries';
export type { BuildHealth, CandidateHealth, Health, Waiting } from '../../src/health/autoStop';
export type { ErrorHealth, Portion } from '../../src/health/errors';
export type { MetricVitals, NameVitals, VitalsSeries } from '../../src/health/vitals';
export type { ReadAction } from '../../src/model/action';
export type { FreezeWindow } from '../../src/model/agenda';
export type { Comparison } from '../../src/operations/compare';
export type { KillEffect } from '../../src/operations/goingBack';
export type { Preview } from '../../src/operations/override';
export type { AgendaView, ScheduleView } from '../../src/policies/agendaView';
export type { ProposalView } from '../../src/policies/approval';

export type ChannelView = ChannelDocument & { agenda?: AgendaView; now?: string; fallbacks?: string[] };

/** The caller: a token, or a person with the grants of all their groups. */
export interface Me extends Grant {
  person?: string;
  /** Purpose of the token. */
  label?: string;
  more?: readonly Grant[];
}

export const nameOf = (id: string): string => id.split('@')[0] ?? id;

/** All candidates, oldest first. */
export const candidatesOf = ({ candidate, moreCandidates = [] }: ChannelView) =>
  candidate ? [candidate, ...moreCandidates] : [];

const STABLE_SWITCHES: readonly string[] = ['activate', 'promote', 'rollback', 'kill', 'withdraw', 'seed'];
/** Actions that change what visitors run. */
const SWITCHES: readonly string[] = [...STABLE_SWITCHES, 'init', 'canary', 'abort'];
export const WAYS_BACK: readonly string[] = ['abort', 'rollback', 'kill', 'withdraw'];
const SERVED_NOTICE_MS = 3_600_000;

/**
 * Evaluates the newest switches. `stops`: automatic stops since the last switch by a person. `served`: what is live after a way
 * back, for one hour.
 */
export function servedBy({ stable }: ChannelView, log: readonly LogEntry[], now: Date) {
  const switches = log.filter(({ action }) => SWITCHES.includes(action.kind));
  const personIndex = switches.findIndex(({ action, who }) => action.kind !== 'abort' || who !== 'auto-stop');
  const stops = personIndex < 0 ? switches : switches.slice(0, personIndex);
  const [lastSwitch] = switches;
  const isRecent = lastSwitch && now.getTime() - Date.parse(lastSwitch.at) < SERVED_NOTICE_MS;
  if (!stable || !isRecent || !WAYS_BACK.includes(lastSwitch.action.kind)) return { stops, served: null };
  const actionBuilds = 'builds' in lastSwitch.action ? lastSwitch.action.builds : [];
  const names = actionBuilds.map(nameOf);
  const builds = stable.builds.filter((id) => names.includes(nameOf(id)));
  const withdrawn = lastSwitch.action.kind === 'withdraw' && builds.length === 0 ? actionBuilds : [];
  const shownBuilds = builds.length + withdrawn.length > 0 ? builds : stable.builds;
  const { seq, at } = lastSwitch;
  return { stops, served: { seq, set: stable.set, at, builds: shownBuilds, withdrawn } };
}

/** A kill counts only if it replaced a stable build. */
export const switchesStable = ({ action }: LogEntry): boolean =>
  STABLE_SWITCHES.includes(action.kind) &&
  (action.kind !== 'kill' || action.evidence.some(({ kind }) => kind === 'replaced'));

/** Withdrawn remotes that no later switch has changed, each with its log entry. */
export function withdrawnIn({ stable }: ChannelView, log: readonly LogEntry[]) {
  const seenNames = new Set((stable?.builds ?? []).map(nameOf));
  return log.filter(switchesStable).flatMap((entry) => {
    const builds = 'builds' in entry.action ? entry.action.builds : [];
    const newestBuilds = builds.filter((id) => !seenNames.has(nameOf(id)));
    for (const id of newestBuilds) seenNames.add(nameOf(id));
    return entry.action.kind === 'withdraw' ? newestBuilds.map((build) => ({ build, entry })) : [];
  });
}

/** Builds that raised an alarm, or whose canary was stopped automatically. */
export const alarmedIn = (log: readonly LogEntry[]): Set<string> =>
  new Set(
    log.flatMap(({ action, who }) =>
      action.kind === 'alarm' || (action.kind === 'abort' && who === 'auto-stop') ? action.builds : [],
    ),
  );

interface GoBackState {
  status: ChannelView;
  log: readonly LogEntry[];
  deadEnds: readonly string[];
}

/** Whether to offer a way back, for a name or the whole set. If the log is incomplete, a fallback or a killed build decides. */
export function mayGoBack({ status: { lastGood, killed }, log, deadEnds }: GoBackState, name = ''): boolean {
  if (deadEnds.includes(name)) return false;
  if (log.at(-1)?.seq !== 1)
    return name === '' || lastGood[name] !== undefined || killed.some((id) => nameOf(id) === name);
  let newestSeq = Number.POSITIVE_INFINITY;
  let count = 0;
  for (const entry of log) {
    const { seq, action } = entry;
    if (seq > newestSeq) continue;
    // newer entries were undone, so the next way back starts from the restored state
    const isRollback = action.kind === 'rollback' && (action.names.length === 0 || action.names.includes(name));
    if (isRollback) newestSeq = action.to;
    else if (mayChange(entry, name)) count += 1;
  }
  return count > 1;
}

function mayChange(entry: LogEntry, name: string): boolean {
  const { action } = entry;
  if (action.kind === 'text') return true;
  if (!switchesStable(entry)) return false;
  return !name || !('builds' in action) || (action.more ?? 0) > 0 || action.builds.some((id) => nameOf(id) === name);
}

/** Whether to offer switching a build of this name. The server checks the permission again. */
export const maySwitch = (me: Me, name?: string): boolean =>
  [me, ...(me.more ?? [])].some(
    (grant) => grant.role === 'manager' || (grant.role === 'deployer' && name !== undefined && grant.name === name),
  );

const TOKEN_KEY = 'liaozhai-console-token';

/** Status of a response that cannot be parsed, such as a proxy's page or another version's. */
export const UNREADABLE = 200;

/** A failed API call. `status` is 0 without a response; `lines` are the server's message, shown below `texts.refusal`. */
export class ApiFailure extends Error {
  /** @param reason set if the page has its own text for the refusal */
  constructor(
    readonly status: number,
    readonly lines: readonly string[] = [],
    readonly reason?: RefusalReason,
  ) {
    super(`the API answered ${status}`);
  }
}

/** Returns an `ApiFailure`. Rethrows any other error, which is a bug. */
export function failureOf(cause: unknown): ApiFailure {
  if (cause instanceof ApiFailure) return cause;
  throw cause;
}

const fragmentValue = (name: string): RegExpExecArray | null => new RegExp(`[#&]${name}=([\\w-]+)`).exec(location.hash);

/** Reads a value from the address's fragment, and removes it there. The view that the fragment names stays. */
function takeFromFragment(name: string): string | null {
  const [part = '', value = null] = fragmentValue(name) ?? [];
  const rest = location.hash.replace(part, '').replace(/^&/, '#');
  if (value) history.replaceState(null, '', location.pathname + location.search + rest);
  return value;
}

export const hasLinkToken = (): boolean => fragmentValue('token') !== null;

/** Moves a token from the address's fragment to this tab's storage. Returns the stored token, or null. */
export function readToken(): string | null {
  const linkToken = takeFromFragment('token');
  if (linkToken) sessionStorage.setItem(TOKEN_KEY, linkToken);
  return sessionStorage.getItem(TOKEN_KEY);
}

export const saveToken = (token: string): void => sessionStorage.setItem(TOKEN_KEY, token);
export const forgetToken = (): void => sessionStorage.removeItem(TOKEN_KEY);
/** Removes the token and everything typed. */
export const forgetEverything = (): void => sessionStorage.clear();

/** What is typed into a form or a question of a channel, by the names of its fields. */
type Draft = Readonly<Record<string, string>>;

const keyOf = (channel: string, form: string) => `liaozhai-console-draft ${channel} ${form}`;

/** Stores what is typed for a change that was not made yet. In `sessionStorage`, because signing in again unloads the page. */
export const saveDraft = (channel: string, form: string, draft: Draft): void =>
  sessionStorage.setItem(keyOf(channel, form), JSON.stringify(draft));

/** Returns null if nothing was typed into this form since its last change. */
export const readDraft = (channel: string, form: string): Draft | null =>
  JSON.parse(sessionStorage.getItem(keyOf(channel, form)) ?? 'null');

export const forgetDraft = (channel: string, form: string): void => sessionStorage.removeItem(keyOf(channel, form));

/** Request timeouts, in ms. A request that runs the gate may wait for a browser and for earlier requests. */
const REQUEST_TIMEOUT_MS = 15_000;
const GATE_TIMEOUT_MS = 180_000;

/** Sends the token if there is one. Otherwise sends the session cookie, with a header that other origins cannot send. */
async function send<Answer>(path: string, options: RequestInit & { method: 'GET' | 'POST' }): Promise<Answer> {
  const token = sessionStorage.getItem(TOKEN_KEY);
  const headers = {
    ...(token ? { authorization: `Bearer ${token}` } : { 'x-console': '1' }),
    'content-type': 'application/json',
    [API_HEADER]: String(API_LEVEL),
  };
  const credentials = token ? 'omit' : 'same-origin';
  const abortController = new AbortController();
  const { signal } = abortController;
  const timeoutMs = GATED_PATH.test(path) && options.method === 'POST' ? GATE_TIMEOUT_MS : REQUEST_TIMEOUT_MS;
  const timer = setTimeout(() => abortController.abort(), timeoutMs);
  const [response, answer] = await fetch(path, { ...options, headers, credentials, signal, cache: 'no-store' })
    .then(async (received): Promise<[Response, unknown]> => {
      const body: unknown = await received
        .text()
        .then(parseAnswer)
        .catch(() => null);
      // a response that the timeout cut off does not count
      signal.throwIfAborted();
      return [received, body];
    })
    .catch(() => {
      throw new ApiFailure(0);
    })
    .finally(() => clearTimeout(timer));
  if (response.ok) {
    const parsed = parseResponse(options.method, path, answer);
    if (!parsed.success) throw new ApiFailure(UNREADABLE);
    return parsed.output as Answer;
  }
  // a proxy's status does not say whether the console made the change
  if (options.method === 'POST' && !isOfConsole(response.status, answer))
    throw new ApiFailure(UNREADABLE, [`${response.status}`]);
  const failure = v.safeParse(failureSchema, answer);
  throw failure.success
    ? toApiFailure(response.status, failure.output)
    : new ApiFailure(response.status, [`${response.status}`]);
}

export const toApiFailure = (status: number, { message, cure, details, reason }: Failure) =>
  new ApiFailure(status, [message, ...details, ...(cure ? [cure] : [])], reason);

export const get = <Answer>(path: string): Promise<Answer> => send<Answer>(`/v1/${path}`, { method: 'GET' });
export const post = <Answer>(path: string, body: unknown): Promise<Answer> =>
  send<Answer>(`/v1/${path}`, { method: 'POST', body: JSON.stringify(body) });

export const pathOf = (verb: string, { channel }: { channel: string }): string =>
  `${verb}?channel=${encodeURIComponent(channel)}`;

/** Whether a provider is offered, and whether this browser has a session. */
export interface SessionStatus {
  offered: boolean;
  signedIn: boolean;
}

/** Loads the session status. If that fails, only tokens are offered. */
export const readSession = (): Promise<SessionStatus> =>
  send<SessionStatus>('/auth', { method: 'GET' }).catch((cause: unknown) => {
    failureOf(cause);
    return { offered: false, signedIn: false };
  });

/** Ends the console's session. Returns the address that ends the provider's session, or null. */
export const endSession = async (): Promise<string | null> =>
  (await send<{ leave: string | null }>('/auth/logout', { method: 'POST' })).leave;

/** Channel in the address, which a reload and a link preserve. */
export const readAddressChannel = (): string | null => new URLSearchParams(location.search).get('channel');

/** Address of the provider's sign-in, which returns to the channel and the view in the address. */
export function loginAddress(asSomebodyElse: boolean): string {
  const page = Object.entries({ channel: readAddressChannel(), view: location.hash.slice(1) });
  const parts = [
    ...page.flatMap(([name, value]) => (value ? `${name}=${encodeURIComponent(value)}` : [])),
    ...(asSomebodyElse ? ['again'] : []),
  ];
  return ['/auth/login', parts.join('&')].filter(Boolean).join('?');
}

/** Adds a history entry, so that Back returns to the previous channel. */
export function saveAddressChannel(channel: string): void {
  if (readAddressChannel() !== channel) history.pushState(null, '', `?channel=${encodeURIComponent(channel)}`);
}

/** Reads the kind of a sign-in failure from the address's fragment, and removes it there. */
export const readSignInFailure = (): string | null => takeFromFragment('sign-in');
