import * as v from 'valibot';
import { failureSchema, GATED_PATH, isOfConsole, parseResponse } from './answers.ts';
import { type BuildSummary, listBuilds, resolveBuilds } from './builds/catalog.ts';
import { type ExposedTypes, readTypes } from './builds/exposedTypes.ts';
import { publish, readPackage, recordOf } from './builds/publish.ts';
import { addFreeze, type FreezeRequest, removeFreeze } from './channel/changeAgenda.ts';
import type { Change } from './channel/changeChannel.ts';
import { compose, replan } from './channel/composeSet.ts';
import { currentDocument, type Difference, diff, type LogEntry, originsOf, readLog } from './channel/readChannel.ts';
import { type ChangeOptions, timeOf, type Writer } from './channel/writer.ts';
import {
  API_HEADER,
  API_LEVEL,
  apiLevelOf,
  conflict,
  forbidden,
  hasCode,
  type ReleaseError,
  reasonOf,
  refused,
  unreachable,
  usage,
} from './errors.ts';
import { type CheckResult, type GateCheck, makeGate } from './gate/gate.ts';
import { type Health, readHealth } from './health/autoStop.ts';
import { HealthReader } from './health/healthRecord.ts';
import type { ForwardRequest } from './model/agenda.ts';
import { buildFolder, mergeBuilds, type Provenance } from './model/build.ts';
import type { ChannelDocument } from './model/channel.ts';
import { canonicalJson } from './model/signing.ts';
import { type Comparison, compare } from './operations/compare.ts';
import {
  effectOfKill,
  type KillEffect,
  type KillOptions,
  kill,
  type RollbackOptions,
  rollback,
  type WithdrawOptions,
  withdraw,
} from './operations/goingBack.ts';
import {
  createOverride,
  endPreview,
  listPreviews,
  openPreview,
  type Preview,
  type PreviewRequest,
  pageOf,
} from './operations/override.ts';
import { abort, lastGoodAfter, type SwitchRequest } from './operations/switching.ts';
import { type AgendaView, viewAgenda } from './policies/agendaView.ts';
import { approve, type DecisionRequest, type RequestOutcome, reject, submit } from './policies/approval.ts';
import { type ScheduleRequest, type SteerRequest, steerSchedule } from './policies/schedule.ts';
import { webhookRulesFrom } from './policies/webhookAddress.ts';
import type { WebhookEvent } from './policies/webhookEvents.ts';
import { addWebhook, type ListedWebhook, removeWebhook, testWebhook } from './policies/webhooks.ts';
import { parseBody } from './requests.ts';
import { stableFallbacks } from './serve/renderPage.ts';

export interface PublishResult {
  id: string;
  created: boolean;
}

export interface OverrideResult {
  id: string;
  builds: string[];
  expires: string;
  /** Appended to any page's address. */
  query: string;
  /** Link to a page of the builds; null if the site's address is unknown. */
  address: string | null;
}

/** Operations on one channel, in a local store or through a console. */
export interface ReleaseClient {
  /**
   * `now` is the time to which `agenda` refers; `fallbacks` are the last good builds that fit what is live. All three are missing in
   * the response of an older console.
   */
  status(): Promise<ChannelDocument & { agenda?: AgendaView; now?: string; fallbacks?: string[] }>;
  builds(name?: string): Promise<BuildSummary[]>;
  /** Types of a remote's exposed modules: of the live build of `stories`, or of `stories@1.4.2`. */
  types(word: string): Promise<ExposedTypes>;
  log(limit: number): Promise<LogEntry[]>;
  health(): Promise<Health>;
  /** Returns which builds differ. Fast, because it does not compare contents. */
  diff(a: string, b: string): Promise<Difference[]>;
  /** Returns all differences, with health. */
  compare(a: string, b: string): Promise<Comparison[]>;
  publish(folder: string, version?: string): Promise<PublishResult>;
  check(builds: string[]): Promise<CheckResult[]>;
  /** Under the approval rule, `RequestOutcome` has the proposal that waits instead of the change. */
  activate(request: SwitchRequest & { builds: string[] }): Promise<RequestOutcome>;
  canary(request: SwitchRequest & { builds: string[]; percent: number; name?: string }): Promise<RequestOutcome>;
  /** `from`: another channel of the same store, whose stable set is made live here. */
  promote(request: SwitchRequest & { name?: string; from?: string }): Promise<RequestOutcome>;
  /** `name`: the remote of the candidate; default: every candidate. */
  abort(request: ChangeOptions & { name?: string }): Promise<Change>;
  /** `steps` as in `5@now,25@1h,100@4h`. */
  schedule(request: Omit<ScheduleRequest, 'steps' | 'approved'> & { steps: string }): Promise<RequestOutcome>;
  /** Sets the approval rule: hours that a proposal waits for a second person; null = one person decides. */
  approval(request: ChangeOptions & { hours: number | null }): Promise<RequestOutcome>;
  approve(request: DecisionRequest): Promise<Change>;
  reject(request: DecisionRequest): Promise<Change>;
  /** Withdraws a proposal of the caller. */
  retract(request: DecisionRequest): Promise<Change>;
  steerSchedule(to: 'pause' | 'continue' | 'cancel', request: SteerRequest): Promise<Change>;
  freeze(request: FreezeRequest): Promise<Change & { id: string }>;
  unfreeze(request: ChangeOptions & { id: string }): Promise<Change>;
  /** Only this call returns the secret. */
  addWebhook(url: string): Promise<{ webhook: ListedWebhook; secret: string }>;
  removeWebhook(request: ChangeOptions & { id: string }): Promise<Change>;
  testWebhook(id: string): Promise<WebhookEvent>;
  rollback(request: RollbackOptions): Promise<Change>;
  withdraw(request: WithdrawOptions & { name: string }): Promise<Change>;
  /** Returns what `kill` would do, without changing anything. `before`: the planned operation, for which permission is checked. */
  killEffect(build: string, before?: 'kill' | 'withdraw'): Promise<KillEffect>;
  kill(request: KillOptions & { build: string }): Promise<Change>;
  override(request: { builds: string[]; hours: number; why?: string }): Promise<OverrideResult>;
  /** Valid permissions to run remotes from dev servers. */
  previews(): Promise<Preview[]>;
  preview(request: PreviewRequest): Promise<Change>;
  endPreview(request: { browser: string; why?: string }): Promise<Change>;
}

export interface LocalClientOptions {
  /** The browser check, or null to skip it. */
  smoke: GateCheck | null;
  provenance: (folder: string) => Provenance | Promise<Provenance>;
  /** Address where the channel is served. */
  site?: string | null;
  /** Shared reader, so that the record is not read again for each client. */
  health?: HealthReader;
}

const pick = <Value>(from: Record<string, Value>, keys: readonly string[]): Record<string, Value> =>
  Object.fromEntries(Object.entries(from).filter(([key]) => keys.includes(key)));

/** Client that works on a store directly, as the writer. Refuses the requests that a console refuses. */
export function localClient(
  writer: Writer,
  { smoke, provenance, site = null, health }: LocalClientOptions,
): ReleaseClient {
  const { store, catalog, channel, key } = writer;
  const reader = health ?? new HealthReader(store, channel);
  const current = () => currentDocument(writer);
  const gate = () => makeGate(writer, { smoke });
  const ids = (words: readonly string[]) => resolveBuilds(store, words);
  const forward = (request: ForwardRequest, seq?: number) => submit(writer, request, { gate: gate(), seq });
  return {
    status: async () => {
      const document = await current();
      const agenda = await viewAgenda(writer, reader, document);
      const fallbacks = await stableFallbacks(catalog, document);
      return { ...document, agenda, fallbacks, now: (await timeOf(writer)).toISOString() };
    },
    builds: (name) => listBuilds(catalog, name),
    types: async (word) => readTypes(writer, (await current()).stable?.builds ?? [], word),
    health: async () => (await readHealth(writer, reader)).health,
    log: async (limit) => {
      const entries = await readLog(writer, await current(), limit);
      const origins = await originsOf(catalog, entries);
      return entries.map((entry) => ({
        ...entry,
        origins: pick(origins, 'builds' in entry.action ? entry.action.builds : []),
      }));
    },
    diff: async (a, b) => diff(writer, await current(), a, b),
    compare: (a, b) => compare(writer, reader, a, b),
    publish: async (folder, version) => {
      const { id, created } = await publish(store, await readPackage(folder, version), await provenance(folder));
      return { id, created };
    },
    check: async (builds) => checkBuilds(writer, await ids(parseBody('check', { builds }).builds), smoke),
    activate: async (request) => {
      const { builds, seq, ...body } = parseBody('activate', request);
      return forward({ verb: 'activate', ...body, builds: await ids(builds) }, seq);
    },
    canary: async (request) => {
      const { builds, seq, ...body } = parseBody('canary', request);
      return forward({ verb: 'canary', ...body, builds: await ids(builds) }, seq);
    },
    promote: async (request) => {
      const { seq, ...body } = parseBody('promote', request);
      return forward({ verb: 'promote', ...body }, seq);
    },
    schedule: async (request) => {
      const { builds, seq, ...body } = parseBody('schedule', request);
      return forward({ verb: 'schedule', ...body, builds: await ids(builds) }, seq);
    },
    approval: async (request) => {
      const { seq, ...body } = parseBody('approval', request);
      return forward({ verb: 'approval', ...body }, seq);
    },
    abort: async (request) => abort(writer, parseBody('abort', request)),
    approve: async (request) => approve(writer, parseBody('approve', request), gate()),
    reject: async (request) => reject(writer, parseBody('reject', request)),
    retract: async (request) => reject(writer, parseBody('retract', request), { own: true }),
    steerSchedule: async (to, request) => steerSchedule(writer, to, parseBody(to, request)),
    freeze: async (request) => addFreeze(writer, parseBody('freeze', request)),
    unfreeze: async (request) => {
      const { id, ...options } = parseBody('unfreeze', request);
      return removeFreeze(writer, id, options);
    },
    addWebhook: async (url) => addWebhook(writer, parseBody('webhook', { url }).url, webhookRulesFrom()),
    removeWebhook: async (request) => {
      const { id, ...options } = parseBody('webhook-remove', request);
      return removeWebhook(writer, id, options);
    },
    testWebhook: async (id) => testWebhook(writer, parseBody('webhook-test', { id }).id, webhookRulesFrom()),
    rollback: async (request) => rollback(writer, parseBody('rollback', request)),
    withdraw: async (request) => {
      const { name, ...options } = parseBody('withdraw', request);
      return withdraw(writer, name, options);
    },
    killEffect: async (build) => effectOfKill(writer, (await ids([build])).join()),
    kill: async (request) => {
      const { build, ...options } = parseBody('kill', request);
      return kill(writer, (await ids([build])).join(), options);
    },
    override: async (request) => {
      const { builds, hours, why } = parseBody('override', request);
      const created = await createOverride(writer, await ids(builds), hours, why);
      const query = `?override=${created.id}`;
      const address = site && `${site}${await pageOf(writer, created.builds)}${query}`;
      return { id: created.id, builds: created.builds, expires: created.expires, query, address };
    },
    previews: () => listPreviews(store, channel, key.publicKey, writer.now()),
    preview: async (request) => openPreview(writer, parseBody('preview', request)),
    endPreview: async (request) => {
      const { browser, ...options } = parseBody('preview-end', request);
      return endPreview(writer, browser, options);
    },
  };
}

/** Runs the gate on the channel's set with these builds, without switching. */
async function checkBuilds(writer: Writer, builds: string[], smoke: GateCheck | null): Promise<CheckResult[]> {
  const document = await currentDocument(writer);
  const stable = mergeBuilds(document.stable?.builds ?? [], builds);
  const changed = builds.length > 0 ? builds : stable;
  const lastGood = lastGoodAfter(document, builds);
  const next = await compose(writer, document, replan(document, { stable, lastGood, candidates: [] }));
  let checkResults: CheckResult[] = [];
  const onResults = (results: CheckResult[]) => {
    checkResults = results;
  };
  const runGate = makeGate(writer, { smoke, onResults });
  await runGate({ current: document, next, part: 'stable', judged: next.stable, changed });
  return checkResults;
}

/** Request timeouts in seconds. A switch may wait for earlier ones, each with its browser check; a file may be large. */
const TIMEOUT_SECONDS = 60;
const LONG_TIMEOUT_SECONDS = 290;

export interface HttpClientOptions {
  origin: string;
  token: string;
  channel: string;
  provenance: (folder: string) => Provenance | Promise<Provenance>;
}

const OLDER_CONSOLE = 'That console is older than this command line: update it.';

/** Returns the refusal for a feature that an older console lacks. */
export const unsupportedByConsole = (what: string) => refused(`this console knows no ${what}`, OLDER_CONSOLE);

function toReleaseError(response: Response, path: string, body: unknown): ReleaseError {
  const { status, headers } = response;
  const parsed = v.safeParse(failureSchema, body);
  if (status === 404 && !parsed.success) return noConsoleError(response);
  const { message, cure, details } = parsed.success
    ? parsed.output
    : { message: `the console answered ${status}`, cure: '', details: [] };
  const isOlder = apiLevelOf(headers) < API_LEVEL;
  if (status === 404 && parsed.success && isOlder) return unsupportedByConsole(`\`${verbIn(path)}\``);
  if (status === 409) return conflict(message, cure);
  if (status === 400) return usage(message, isOlder ? OLDER_CONSOLE : cure);
  if (status === 422) return refused(message, cure, details);
  if (status === 401 || status === 403) return forbidden(message, cure || 'Ask whoever gave out RELEASES_TOKEN.');
  return unreachable(
    message,
    cure || 'Check --store and RELEASES_TOKEN; a console older than this command line is to be updated.',
  );
}

const verbIn = (path: string): string => /^\/v1\/([^/?]+)/.exec(path)?.[1] ?? path;

/** For a response that is not from a console's API. */
const noConsoleError = ({ url }: Response) =>
  unreachable(
    `what answers at ${new URL(url).origin} is no console`,
    "Check --store or RELEASES_STORE, which is the console's address and not the site's, and the proxies before it.",
  );

function unreadableError(response: Response, path: string, body: unknown): ReleaseError {
  if (!(body instanceof Object)) return noConsoleError(response);
  const { headers } = response;
  const cure = apiLevelOf(headers) < API_LEVEL ? OLDER_CONSOLE : 'Update this command line, or the console.';
  return refused(`this console answers \`${verbIn(path)}\` in another form`, cure);
}

const isChange = (method: string, path: string): boolean =>
  method === 'POST' && path.startsWith('/v1/') && verbIn(path) !== 'check';

/** For a change without a readable answer of the console. */
const unknownOutcome = (path: string, { message }: ReleaseError) =>
  unreachable(
    `it is not known whether \`${verbIn(path)}\` happened: ${message}`,
    'Look with `status` before you repeat it.',
  );

/** Codes of errors before the request was sent. */
const UNSENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'];

type Send = <Answer>(method: string, path: string, body?: unknown) => Promise<Answer>;

/** Calls a console with a token or session; null sends no credentials. Throws the console's refusals. */
export function consoleSender({ origin, token }: { origin: string; token: string | null }): Send {
  return async <Answer>(method: string, path: string, body?: unknown) => {
    const isBytes = body instanceof Uint8Array;
    const headers = {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      'content-type': isBytes ? 'application/octet-stream' : 'application/json',
      [API_HEADER]: String(API_LEVEL),
    };
    const payload = body === undefined ? undefined : isBytes ? new Uint8Array(body) : JSON.stringify(body);
    const seconds = method === 'PUT' || GATED_PATH.test(path) ? LONG_TIMEOUT_SECONDS : TIMEOUT_SECONDS;
    const signal = AbortSignal.timeout(seconds * 1000);
    const orUnknown = (error: ReleaseError) => (isChange(method, path) ? unknownOutcome(path, error) : error);
    const response = await fetch(new URL(path, origin), {
      method,
      headers,
      body: payload,
      signal,
      redirect: 'error',
    }).catch((cause) => {
      const reason = signal.aborted ? `no answer within ${seconds} s` : reasonOf(cause);
      const error = unreachable(`${origin} does not answer: ${reason}`, 'Check --store and the network.');
      throw hasCode(cause.cause, ...UNSENT) ? error : orUnknown(error);
    });
    const responseBody: unknown = await response.json().catch(() => null);
    if (!response.ok) {
      const error = toReleaseError(response, path, responseBody);
      throw isOfConsole(response.status, responseBody) ? error : orUnknown(error);
    }
    const parsed = parseResponse(method, path, responseBody);
    if (!parsed.success) throw orUnknown(unreadableError(response, path, responseBody));
    return parsed.output as Answer;
  };
}

async function publishThroughConsole(
  send: Send,
  options: HttpClientOptions,
  folder: string,
  version?: string,
): Promise<PublishResult> {
  const builtPackage = await readPackage(folder, version);
  const record = recordOf(builtPackage, await options.provenance(folder));
  const root = `/v1/${buildFolder(record.id)}`;
  for (const [path, text] of builtPackage.maps) await send('PUT', `${root}/${path}`, Buffer.from(text));
  for (const [path, body] of builtPackage.files) await send('PUT', `${root}/${path}`, body);
  return send<PublishResult>('PUT', `${root}/build.json`, Buffer.from(canonicalJson(record)));
}

/** Client that works through a console's HTTP API, with the permissions of a token or session. */
export function httpClient(options: HttpClientOptions): ReleaseClient {
  const send = consoleSender(options);
  const channel = `channel=${encodeURIComponent(options.channel)}`;
  const get = <Answer>(path: string) => send<Answer>('GET', `/v1/${path}${path.includes('?') ? '&' : '?'}${channel}`);
  const post = <Answer = Change>(verb: string, body: unknown) => send<Answer>('POST', `/v1/${verb}?${channel}`, body);
  const encode = encodeURIComponent;
  return {
    status: () => get('status'),
    builds: (name) => get(name ? `builds?name=${encode(name)}` : 'builds'),
    types: (name) => get(`types?of=${encode(name)}`),
    log: (limit) => get(`log?limit=${limit}`),
    health: () => get('health'),
    diff: (a, b) => get(`diff?a=${encode(a)}&b=${encode(b)}`),
    compare: (a, b) => get(`compare?a=${encode(a)}&b=${encode(b)}`),
    publish: (folder, version) => publishThroughConsole(send, options, folder, version),
    check: (builds) => post('check', { builds }),
    activate: (request) => post('activate', request),
    canary: (request) => post('canary', request),
    promote: (request) => post('promote', request),
    abort: (request) => post('abort', request),
    schedule: (request) => post('schedule', request),
    steerSchedule: (to, request) => post(to, request),
    approval: (request) => post('approval', request),
    approve: (request) => post('approve', request),
    reject: (request) => post('reject', request),
    retract: (request) => post('retract', request),
    freeze: (request) => post('freeze', request),
    unfreeze: (request) => post('unfreeze', request),
    addWebhook: (url) => post('webhook', { url }),
    removeWebhook: (request) => post('webhook-remove', request),
    testWebhook: (id) => post('webhook-test', { id }),
    rollback: (request) => post('rollback', request),
    withdraw: (request) => post('withdraw', request),
    killEffect: (build, before) => get(`kill?build=${encode(build)}${before ? `&before=${before}` : ''}`),
    kill: (request) => post('kill', request),
    override: (request) => post('override', request),
    previews: () => get('previews'),
    preview: (request) => post('preview', request),
    endPreview: (request) => post('preview-end', request),
  };
}
