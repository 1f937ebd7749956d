import * as v from 'valibot';
import { failureSchema, GATED_PATH, isOfConsole, parseResponse } from './answers.ts';
import { type BuildSummary, listBuilds, resolveBuilds } from './builds/catalog.ts';
import { type ExposedTypes, readTypes } from './builds/exposedTypes.ts';
import { readPackage, recordOf } from './builds/package.ts';
import { type PublishedBuild, publish } from './builds/publish.ts';
import { addFreeze, removeFreeze } from './channel/changeAgenda.ts';
import type { Change } from './channel/changeChannel.ts';
import { compose, replan } from './channel/composeSet.ts';
import { currentDocument, type Difference, diff, type LogEntry, originsOf, readLog } from './channel/readChannel.ts';
import { timeOf, type Writer } from './channel/writer.ts';
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
import { type CheckResult, type GateCheck, judgeSet, makeGate } from './gate/gate.ts';
import { type Health, readHealth } from './health/autoStop.ts';
import { HealthReader } from './health/healthRecord.ts';
import type { ForwardRequest } from './model/agenda.ts';
import { buildFolder, mergeBuilds, type Provenance } from './model/build.ts';
import { type ChannelDocument, liveIn } from './model/channel.ts';
import { canonicalJson } from './model/signing.ts';
import { type Comparison, compare } from './operations/compare.ts';
import { effectOfKill, type KillEffect, kill, rollback, withdraw } from './operations/goingBack.ts';
import { createOverride, endPreview, listPreviews, openPreview, type Preview, pageOf } from './operations/override.ts';
import { abort, lastGoodAfter } from './operations/switching.ts';
import { type AgendaView, viewAgenda } from './policies/agendaView.ts';
import { approve, type RequestOutcome, reject, submit } from './policies/approval.ts';
import { steerSchedule } from './policies/schedule.ts';
import { webhookRulesFrom } from './policies/webhookAddress.ts';
import type { WebhookEvent } from './policies/webhookEvents.ts';
import { addWebhook, type ListedWebhook, removeWebhook, testWebhook } from './policies/webhooks.ts';
import { type Body, parseBody, VERBS, type Verb } from './requests.ts';
import { stableFallbacks } from './serve/renderPage.ts';

type PublishResult = Pick<PublishedBuild, 'id' | 'created'>;

export interface OverrideResult {
  id: string;
  builds: string[];
  expires: string;
  /** Appended to any page's address. */
  query: string;
  /** Link to a page of the builds; null if the site's address is unknown. */
  address: string | null;
}

/** Answers of the verbs that do not answer with a plain change. */
interface Answers extends Record<'activate' | 'canary' | 'promote' | 'schedule' | 'approval', RequestOutcome> {
  check: CheckResult[];
  freeze: Change & { id: string };
  /** Only this answer has the secret. */
  webhook: { webhook: ListedWebhook; secret: string };
  'webhook-test': WebhookEvent;
  override: OverrideResult;
}

/**
 * A method for each verb. Under the approval rule, `RequestOutcome` has the proposal that waits instead of the change. Without `name`,
 * `abort` ends every candidate.
 */
export type Changes = {
  [Name in Verb]: (request: Body<Name>) => Promise<Name extends keyof Answers ? Answers[Name] : Change>;
};

/** Operations on one channel, in a local store or through a console. */
export interface ReleaseClient extends Changes {
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
  /** Returns what `kill` would do, without changing anything. `before`: the planned operation, for which permission is checked. */
  killEffect(build: string, before?: 'kill' | 'withdraw'): Promise<KillEffect>;
  /** Valid permissions to run remotes from dev servers. */
  previews(): Promise<Preview[]>;
}

export interface LocalClientOptions {
  smoke: GateCheck | null;
  provenance: (folder: string) => Provenance | Promise<Provenance>;
  /** Address where the channel is served. */
  site?: string | null;
  /** Shared reader, so that the record is not read again for each client. */
  health?: HealthReader;
}

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
  const forward = async ({ seq, ...request }: ForwardRequest & { seq?: number }) => {
    const resolved = 'builds' in request ? { ...request, builds: await ids(request.builds) } : request;
    return submit(writer, resolved, { gate: gate(), seq });
  };
  const changes: Changes = {
    check: async ({ builds }) => checkBuilds(writer, await ids(builds), smoke),
    activate: (body) => forward({ verb: 'activate', ...body }),
    canary: (body) => forward({ verb: 'canary', ...body }),
    promote: (body) => forward({ verb: 'promote', ...body }),
    schedule: (body) => forward({ verb: 'schedule', ...body }),
    approval: (body) => forward({ verb: 'approval', ...body }),
    abort: (body) => abort(writer, body),
    approve: (body) => approve(writer, body, gate()),
    reject: (body) => reject(writer, body),
    retract: (body) => reject(writer, body, { own: true }),
    pause: (body) => steerSchedule(writer, 'pause', body),
    continue: (body) => steerSchedule(writer, 'continue', body),
    cancel: (body) => steerSchedule(writer, 'cancel', body),
    freeze: (body) => addFreeze(writer, body),
    unfreeze: ({ id, ...options }) => removeFreeze(writer, id, options),
    webhook: ({ url }) => addWebhook(writer, url, webhookRulesFrom()),
    'webhook-remove': ({ id, ...options }) => removeWebhook(writer, id, options),
    'webhook-test': ({ id }) => testWebhook(writer, id, webhookRulesFrom()),
    rollback: (body) => rollback(writer, body),
    withdraw: ({ name, ...options }) => withdraw(writer, name, options),
    kill: async ({ build, ...options }) => kill(writer, (await ids([build])).join(), options),
    override: async ({ builds, hours, why }) => {
      const { id, expires, ...created } = await createOverride(writer, await ids(builds), hours, why);
      const query = `?override=${id}`;
      const address = site && `${site}${await pageOf(writer, created.builds)}${query}`;
      return { id, builds: created.builds, expires, query, address };
    },
    preview: (body) => openPreview(writer, body),
    'preview-end': ({ browser, ...options }) => endPreview(writer, browser, options),
  };
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
      return Promise.all(entries.map(async (entry) => ({ ...entry, origins: await originsOf(catalog, entry) })));
    },
    diff: async (a, b) => diff(writer, await current(), a, b),
    compare: (a, b) => compare(writer, reader, a, b),
    publish: async (folder, version) => {
      const { id, created } = await publish(store, await readPackage(folder, version), await provenance(folder));
      return { id, created };
    },
    killEffect: async (build) => effectOfKill(writer, (await ids([build])).join()),
    previews: () => listPreviews(store, channel, key.publicKey, writer.now()),
    ...forEachVerb((verb, body) => changes[verb](parseBody(verb, body))),
  };
}

const forEachVerb = (act: <Name extends Verb>(verb: Name, body: Body<Name>) => Promise<unknown>) =>
  Object.fromEntries(VERBS.map((verb) => [verb, async (body: Body<Verb>) => act(verb, body)])) as Changes;

/** Runs the gate on the channel's set with these builds, without switching. */
async function checkBuilds(writer: Writer, builds: string[], smoke: GateCheck | null): Promise<CheckResult[]> {
  const document = await currentDocument(writer);
  const stable = mergeBuilds(liveIn(document), builds);
  const changed = builds.length > 0 ? builds : stable;
  const lastGood = lastGoodAfter(document, builds);
  const next = await compose(writer, document, replan(document, { stable, lastGood, candidates: [] }));
  return judgeSet(writer, { current: document, next, judged: next.stable, changed }, smoke);
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
  if (status === 401 || status === 403) return forbidden(message, cure || 'Ask the person who issued RELEASES_TOKEN.');
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

/** Client that works through a console's HTTP API, with the permissions of a token or session. */
export function httpClient(options: HttpClientOptions): ReleaseClient {
  const send = consoleSender(options);
  const channel = `channel=${encodeURIComponent(options.channel)}`;
  const get = <Answer>(path: string) => send<Answer>('GET', `/v1/${path}${path.includes('?') ? '&' : '?'}${channel}`);
  const encode = encodeURIComponent;
  return {
    status: () => get('status'),
    builds: (name) => get(name ? `builds?name=${encode(name)}` : 'builds'),
    types: (name) => get(`types?of=${encode(name)}`),
    log: (limit) => get(`log?limit=${limit}`),
    health: () => get('health'),
    diff: (a, b) => get(`diff?a=${encode(a)}&b=${encode(b)}`),
    compare: (a, b) => get(`compare?a=${encode(a)}&b=${encode(b)}`),
    publish: async (folder, version) => {
      const builtPackage = await readPackage(folder, version);
      const record = recordOf(builtPackage, await options.provenance(folder));
      const root = `/v1/${buildFolder(record.id)}`;
      for (const [path, text] of builtPackage.maps) await send('PUT', `${root}/${path}`, Buffer.from(text));
      for (const [path, body] of builtPackage.files) await send('PUT', `${root}/${path}`, body);
      return send('PUT', `${root}/build.json`, Buffer.from(canonicalJson(record)));
    },
    killEffect: (build, before) => get(`kill?build=${encode(build)}${before ? `&before=${before}` : ''}`),
    previews: () => get('previews'),
    ...forEachVerb((verb, body) => send('POST', `/v1/${verb}?${channel}`, body)),
  };
}
