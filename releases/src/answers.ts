import { clean, dictionarySchema, filePathSchema } from '@liaozhai/shared/contract';
import * as v from 'valibot';

// Schemas of the HTTP API's responses, as far as command line and console rely on them. Further fields are preserved, so that either
// side may be newer. The types of the server describe each field.

const text = v.string();
const texts = v.array(text);
const number = v.number();
const rowsOf = <Entries extends v.ObjectEntries>(entries: Entries) => v.array(v.looseObject(entries));

const reasonSchema = v.variant('kind', [
  v.object({
    kind: v.literal('takenBack'),
    from: text,
    builds: v.array(v.object({ build: text, to: v.nullable(text) })),
  }),
  v.object({ kind: v.literal('killed'), builds: texts }),
  v.object({ kind: v.literal('unfit'), builds: texts, to: v.nullable(number) }),
  v.object({ kind: v.literal('gone'), what: v.picklist(['proposal', 'freeze', 'webhook', 'preview', 'schedule']) }),
  v.object({ kind: v.literal('partly') }),
]);

/** Requests that run the gate or wait for a receiver, which may take minutes. */
export const GATED_PATH = /^\/v1\/(check|activate|canary|promote|schedule|approve|webhook-test)\b/;

export const failureSchema = v.object({
  message: text,
  cure: v.optional(text, ''),
  details: v.optional(texts, []),
  /** For the console's page. Unknown kinds of a newer console are dropped. */
  reason: v.fallback(v.optional(reasonSchema), undefined),
});
export type Failure = v.InferOutput<typeof failureSchema>;

/** Whether a console gave the response to a failed request. The message of a gateway has no details. */
export const isOfConsole = (status: number, body: unknown): boolean =>
  v.is(failureSchema, body) && (status < 500 || 'details' in body);

const channelSchema = v.looseObject({
  channel: text,
  seq: number,
  stable: v.nullable(v.looseObject({ set: text, builds: texts })),
  candidate: v.nullable(v.looseObject({ set: text, builds: texts, percent: number })),
  moreCandidates: v.optional(rowsOf({ set: text, builds: texts, percent: number })),
  lastGood: v.record(text, text),
  killed: texts,
  expires: text,
});

const agendaSchema = v.looseObject({
  schedules: rowsOf({
    name: text,
    builds: texts,
    steps: rowsOf({ percent: number, minutes: number }),
    taken: number,
    next: v.looseObject({ percent: number, due: text }),
    by: text,
    at: text,
  }),
  freezes: rowsOf({ id: text, window: v.looseObject({ kind: text }), reason: text, by: text }),
  frozen: v.nullable(v.looseObject({ until: text, reason: text })),
  approval: v.optional(v.nullable(v.looseObject({ hours: number, by: text, at: text }))),
  proposals: v.optional(
    rowsOf({
      id: text,
      request: v.looseObject({ verb: text }),
      by: text,
      expires: text,
      builds: texts,
      changes: rowsOf({ name: text }),
    }),
  ),
  webhooks: v.optional(rowsOf({ id: text, shown: text, attempts: number, undelivered: rowsOf({ id: text }) })),
});

const changeSchema = v.looseObject({
  changed: v.boolean(),
  document: channelSchema,
  proposal: v.optional(v.looseObject({ id: text })),
});

const group = { visitors: number, failedVisitors: number, loads: number, failures: v.record(text, number) };
const counts = v.looseObject({ visitors: number, failedVisitors: number });
const difference = { name: text, from: v.nullable(text), to: v.nullable(text) };
const sides = v.looseObject({ from: v.unknown(), to: v.unknown() });
const libraries = rowsOf({ name: text, copies: rowsOf({ version: text, build: text, remotes: texts }) });
const portions = rowsOf({ label: text, visitors: number });

const healthSchema = v.looseObject({
  stable: v.looseObject(group),
  candidates: rowsOf({ builds: texts, tried: counts, control: counts, verdict: v.looseObject({ pValue: number }) }),
  builds: rowsOf({
    ...group,
    build: text,
    group: text,
    minutes: number,
    recent: counts,
    before: counts,
    alarm: v.boolean(),
  }),
  vitals: v.optional(rowsOf({ name: text, metrics: rowsOf({ metric: text }) })),
  errors: v.optional(
    rowsOf({
      build: text,
      name: text,
      frames: rowsOf({ at: text }),
      visitors: number,
      of: number,
      browsers: portions,
      routes: portions,
    }),
  ),
});

const GET_SCHEMAS: Record<string, v.GenericSchema> = {
  me: v.looseObject({ role: text, name: v.nullish(text) }),
  channels: v.looseObject({ channels: texts, shown: text }),
  status: v.looseObject({
    ...channelSchema.entries,
    agenda: v.optional(agendaSchema),
    fallbacks: v.optional(texts),
    now: v.optional(v.string()),
  }),
  names: rowsOf({ name: text, label: text }),
  builds: rowsOf({
    id: text,
    label: text,
    kind: text,
    bytes: number,
    files: number,
    provenance: v.looseObject({ at: text }),
  }),
  /** Id and paths are validated, because they become names of folders and files. */
  types: v.looseObject({
    id: v.pipe(text, v.regex(/^[a-z][a-z0-9-]*@[\w.+-]+$/)),
    files: dictionarySchema(filePathSchema, text),
  }),
  log: rowsOf({
    seq: number,
    verb: text,
    who: text,
    at: text,
    action: v.looseObject({ kind: text, evidence: rowsOf({ kind: text }) }),
  }),
  sharing: v.looseObject({ stable: libraries, candidates: rowsOf({ builds: texts, libraries }) }),
  before: v.union([v.looseObject({ seq: number }), v.looseObject({ refused: failureSchema })]),
  diff: rowsOf(difference),
  compare: rowsOf({
    ...difference,
    commits: rowsOf({ build: text }),
    files: sides,
    changedFiles: rowsOf({ path: text }),
    routes: v.looseObject({ added: texts, removed: texts }),
    contract: sides,
    libraries: rowsOf({ name: text, carries: sides, accepts: sides }),
    health: sides,
    damaged: texts,
  }),
  kill: v.looseObject({
    build: text,
    name: text,
    live: v.boolean(),
    instead: v.nullable(text),
    unfit: texts,
    whole: v.optional(v.nullable(number), null),
    endsCandidate: v.boolean(),
    shown: texts,
    lost: texts,
  }),
  health: healthSchema,
  previews: rowsOf({ person: text, browser: text, expires: text }),
};

const POST_SCHEMAS: Record<string, v.GenericSchema> = {
  check: rowsOf({ check: text, problems: texts }),
  webhook: v.looseObject({ webhook: v.looseObject({ id: text }), secret: text }),
  'webhook-test': v.looseObject({ id: text }),
  override: v.looseObject({ query: text, address: v.nullable(text) }),
};

const SESSION_SCHEMAS: Record<string, v.GenericSchema> = {
  'GET /auth': v.looseObject({ offered: v.boolean(), signedIn: v.boolean() }),
  'POST /auth/logout': v.looseObject({ leave: v.nullable(text) }),
};

const anySchema = v.unknown();

function schemaFor(method: string, path: string): v.GenericSchema {
  const [, verb] = /^\/v1\/([^/?]+)/.exec(path) ?? [];
  if (verb === undefined) return SESSION_SCHEMAS[`${method} ${path}`] ?? anySchema;
  if (method === 'GET') return GET_SCHEMAS[verb] ?? anySchema;
  return method === 'POST' ? (POST_SCHEMAS[verb] ?? changeSchema) : anySchema;
}

/** Parses a body without the marks by which texts of others would reverse a sentence or a version on a page. */
export const parseAnswer = (source: string): unknown =>
  JSON.parse(source, (_, value: unknown) => (typeof value === 'string' ? clean(value) : value));

/** Parses a successful response by the request's method and path. Fails for a proxy's page or another version's response. */
export const parseResponse = (method: string, path: string, body: unknown) =>
  v.safeParse(schemaFor(method, path), body);
