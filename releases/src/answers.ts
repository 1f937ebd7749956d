import { dictionarySchema, filePathSchema } from '@liaozhai/shared/contract';
import * as v from 'valibot';

// Schemas of the HTTP API's responses, as far as command line and console rely on them. Further fields are preserved, so that either
// side may be newer. The types of the server describe each field.

const text = v.string();
const texts = v.array(text);
const figure = v.number();
const table = <Entries extends v.ObjectEntries>(entries: Entries) => v.array(v.looseObject(entries));

const reasonSchema = v.variant('kind', [
  v.object({
    kind: v.literal('takenBack'),
    from: text,
    builds: v.array(v.object({ build: text, to: v.nullable(text) })),
  }),
  v.object({ kind: v.literal('killed'), builds: texts }),
  v.object({ kind: v.literal('unfit'), builds: texts, to: v.nullable(figure) }),
]);

/** Response to a failed request. */
export const failureSchema = v.object({
  message: text,
  cure: v.optional(text, ''),
  details: v.optional(texts, []),
  /** For the console's page. Unknown kinds of a newer console are dropped. */
  reason: v.fallback(v.optional(reasonSchema), undefined),
});
export type Failure = v.InferOutput<typeof failureSchema>;

const channelSchema = v.looseObject({
  channel: text,
  seq: figure,
  stable: v.nullable(v.looseObject({ set: text, builds: texts })),
  candidate: v.nullable(v.looseObject({ set: text, builds: texts, percent: figure })),
  moreCandidates: v.optional(table({ set: text, builds: texts, percent: figure })),
  lastGood: v.record(text, text),
  killed: texts,
  expires: text,
});

const agendaSchema = v.looseObject({
  schedules: table({
    name: text,
    builds: texts,
    steps: table({ percent: figure, minutes: figure }),
    taken: figure,
    next: v.looseObject({ percent: figure, due: text }),
    by: text,
    at: text,
  }),
  freezes: table({ id: text, window: v.looseObject({ kind: text }), reason: text, by: text }),
  frozen: v.nullable(v.looseObject({ until: text, reason: text })),
  approval: v.optional(v.nullable(v.looseObject({ hours: figure, by: text, at: text }))),
  proposals: v.optional(
    table({
      id: text,
      request: v.looseObject({ verb: text }),
      by: text,
      expires: text,
      builds: texts,
      changes: table({ name: text }),
    }),
  ),
  webhooks: v.optional(table({ id: text, shown: text, attempts: figure, undelivered: table({ id: text }) })),
});

const changeSchema = v.looseObject({
  changed: v.boolean(),
  document: channelSchema,
  proposal: v.optional(v.looseObject({ id: text })),
});

const group = { visitors: figure, failedVisitors: figure, loads: figure, failures: v.record(text, figure) };
const counts = v.looseObject({ visitors: figure, failedVisitors: figure });
const difference = { name: text, from: v.nullable(text), to: v.nullable(text) };
const sides = v.looseObject({ from: v.unknown(), to: v.unknown() });
const libraries = table({ name: text, copies: table({ version: text, build: text, remotes: texts }) });
const portions = table({ label: text, visitors: figure });

const healthSchema = v.looseObject({
  stable: v.looseObject(group),
  candidates: table({ builds: texts, tried: counts, control: counts, verdict: v.looseObject({ pValue: figure }) }),
  builds: table({
    ...group,
    build: text,
    group: text,
    minutes: figure,
    recent: counts,
    before: counts,
    alarm: v.boolean(),
  }),
  vitals: v.optional(table({ name: text, metrics: table({ metric: text }) })),
  errors: v.optional(
    table({
      build: text,
      name: text,
      frames: table({ at: text }),
      visitors: figure,
      of: figure,
      browsers: portions,
      routes: portions,
    }),
  ),
});

const LOOKING: Record<string, v.GenericSchema> = {
  me: v.looseObject({ role: text, name: v.nullish(text) }),
  channels: v.looseObject({ channels: texts, shown: text }),
  status: v.looseObject({ ...channelSchema.entries, agenda: v.optional(agendaSchema), now: v.optional(v.string()) }),
  names: table({ name: text, label: text }),
  builds: table({
    id: text,
    label: text,
    kind: text,
    bytes: figure,
    files: figure,
    provenance: v.looseObject({ at: text }),
  }),
  /** Id and paths are validated, because they become names of folders and files. */
  types: v.looseObject({
    id: v.pipe(text, v.regex(/^[a-z][a-z0-9-]*@[\w.+-]+$/)),
    files: dictionarySchema(filePathSchema, text),
  }),
  log: table({
    seq: figure,
    verb: text,
    who: text,
    at: text,
    action: v.looseObject({ kind: text, evidence: table({ kind: text }) }),
  }),
  sharing: v.looseObject({ stable: libraries, candidates: table({ builds: texts, libraries }) }),
  before: v.union([v.looseObject({ seq: figure }), v.looseObject({ refused: failureSchema })]),
  diff: table(difference),
  compare: table({
    ...difference,
    commits: table({ build: text }),
    files: sides,
    changedFiles: table({ path: text }),
    routes: v.looseObject({ added: texts, removed: texts }),
    contract: sides,
    libraries: table({ name: text, carries: sides, accepts: sides }),
    health: sides,
    damaged: texts,
  }),
  kill: v.looseObject({
    build: text,
    name: text,
    live: v.boolean(),
    instead: v.nullable(text),
    unfit: texts,
    whole: v.optional(v.nullable(figure), null),
    endsCandidate: v.boolean(),
    shown: texts,
    lost: texts,
  }),
  health: healthSchema,
  previews: table({ person: text, browser: text, expires: text }),
};

const ASKING: Record<string, v.GenericSchema> = {
  check: table({ check: text, problems: texts }),
  webhook: v.looseObject({ webhook: v.looseObject({ id: text }), secret: text }),
  'webhook-test': v.looseObject({ id: text }),
  override: v.looseObject({ query: text, address: v.nullable(text) }),
};

const SESSION: Record<string, v.GenericSchema> = {
  'GET /auth': v.looseObject({ offered: v.boolean(), signedIn: v.boolean() }),
  'POST /auth/logout': v.looseObject({ leave: v.nullable(text) }),
};

const anything = v.unknown();

function schemaFor(method: string, path: string): v.GenericSchema {
  const [, verb] = /^\/v1\/([^/?]+)/.exec(path) ?? [];
  if (verb === undefined) return SESSION[`${method} ${path}`] ?? anything;
  if (method === 'GET') return LOOKING[verb] ?? anything;
  return method === 'POST' ? (ASKING[verb] ?? changeSchema) : anything;
}

/** Parses a successful response by the request's method and path. Fails for a proxy's page or another version's response. */
export const readAnswer = (method: string, path: string, body: unknown) => v.safeParse(schemaFor(method, path), body);
