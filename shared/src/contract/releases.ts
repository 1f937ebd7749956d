import * as v from 'valibot';
import { FRAME, MOST_FRAMES, messageClass, scriptErrors } from './errorReports.ts';
import { remoteFailures } from './failures.ts';

// What builds, release system, server and page tell each other. Checks that need more than the browser has (semver
// ranges, hashes, signatures) are added by the release system where it reads a document.

/** Characters of a path inside a build. */
export const MAX_PATH = 240;
const FILE_PATH = /^(?!.*(^|\/)\.)[A-Za-z0-9_@~+.()[\]-]+(\/[A-Za-z0-9_@~+.()[\]-]+)*$/;
const SEGMENT = String.raw`(?:(?!\.{1,2}(?:/|$))[\w.~-]+|:\w+\??|\*)`;
const ROUTE_PATH = new RegExp(`^/(?:${SEGMENT}(?:/${SEGMENT})*)?$`);
const NAME = /^[a-z][a-z0-9-]{0,39}$/;
const VERSION = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;
/** Others' packages may carry build metadata, a leading v and blanks, as semver reads them. */
const OTHERS_VERSION = /^\s*v?\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]*)?\s*$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z$/;

/**
 * True for names of builds and channels: lower-case letters, digits and dashes. Records are keyed by them, which every
 * object's own "constructor" would answer.
 */
export const isName = (text: string): boolean => NAME.test(text) && !(text in Object.prototype);

/** True for a path inside a build: relative, POSIX, no hidden parts, nothing that a URL would have to escape. */
export const isFilePath = (path: string): boolean => path.length <= MAX_PATH && FILE_PATH.test(path);

/** True for an instant that exists, in UTC with seconds: `2026-11-21T00:00:00.000Z`. */
function isInstant(text: string): boolean {
  const time = INSTANT.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text.slice(0, 19));
}

/** Text of so many code points, however many UTF-16 units they take. */
export const textSchema = (maximum: number, minimum = 0) =>
  v.pipe(
    v.string(),
    v.check((text) => {
      const { length } = [...text];
      return length >= minimum && length <= maximum;
    }, `must have ${minimum} to ${maximum} characters`),
  );

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * An object whose keys are data. Not `v.record`, which drops the keys `constructor` and `prototype`, and a document that
 * names a build of that name would no longer match its signature.
 */
export const dictionarySchema = <Value extends v.GenericSchema>(key: v.GenericSchema<string>, value: Value) =>
  v.lazy((input): v.GenericSchema<unknown, Record<string, v.InferOutput<Value>>> => {
    if (!isObject(input)) return v.never('must be an object');
    const names = Object.keys(input).filter((name) => name !== '__proto__');
    return v.object(
      Object.fromEntries(
        names.map((name) => {
          const [problem] = v.safeParse(key, name).issues ?? [];
          return [name, problem ? v.never(problem.message) : value];
        }),
      ),
    );
  });

export const nameSchema = v.pipe(
  v.string(),
  v.check(isName, 'must be lower-case letters, digits and dashes, beginning with a letter, other than "constructor"'),
);
export const filePathSchema = v.pipe(v.string(), v.check(isFilePath, 'must be a plain relative path inside the build'));
const version = v.pipe(
  v.string(),
  v.regex(VERSION, 'must be a semantic version without build metadata, such as 1.4.2'),
);
const othersVersion = v.pipe(v.string(), v.regex(OTHERS_VERSION, 'must be a semantic version'));
/** An empty one is any version. */
const range = v.string();
const globalName = v.pipe(v.string(), v.regex(/^[A-Za-z_$][\w$]{2,120}$/, 'must be a JavaScript identifier'));
export const digestSchema = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hex'));
const setHash = v.pipe(v.string(), v.regex(/^[0-9a-f]{40}$/, 'must be the hash of a set'));
const buildId = textSchema(140);
export const instantSchema = v.pipe(v.string(), v.check(isInstant, 'must be an instant in UTC'));
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

const chunkFiles = {
  js: v.pipe(v.array(filePathSchema), v.maxLength(40)),
  css: v.pipe(v.array(filePathSchema), v.maxLength(40)),
};

const orderSchema = v.pipe(v.number(), v.safeInteger());

const routeSchema = v.object({
  name: textSchema(60, 1),
  path: v.pipe(v.string(), v.maxLength(200), v.regex(ROUTE_PATH, 'must be a path pattern such as /story/:id')),
  title: textSchema(60),
  requiresAuth: v.boolean(),
  keepAlive: v.boolean(),
  outsideShell: v.boolean(),
  ...chunkFiles,
});

const described = {
  name: nameSchema,
  label: textSchema(30, 1),
  /** Semver from package.json; `publish --version` overrides it. */
  version,
  sourceHash: v.pipe(v.string(), v.regex(/^[0-9a-f]{8,64}$/, 'must be 8 to 64 lower-case hex digits')),
  /** Version of Module Federation it was built with. */
  federation: othersVersion,
  shared: v.object({
    provides: dictionarySchema(v.string(), othersVersion),
    requires: dictionarySchema(v.string(), range),
  }),
  entry: filePathSchema,
  css: v.optional(v.array(filePathSchema), []),
};

export const remoteDescriptionSchema = v.object({
  ...described,
  kind: v.literal('remote'),
  /** The range of the shared runtime it needs. */
  contract: range,
  /** The container's global variable, unique per build. */
  global: globalName,
  /** Left out for a classic script, which sets `global` to a container. */
  entryType: v.optional(v.literal('module')),
  /** The global list by which late chunks arrive, unique per build; left out of a build without late chunks. */
  chunkGlobal: v.optional(globalName),
  exposes: v.pipe(v.array(textSchema(60, 1)), v.maxLength(20)),
  module: v.object(chunkFiles),
  routes: v.pipe(v.array(routeSchema), v.maxLength(200)),
  slots: v.pipe(
    v.array(v.object({ name: textSchema(60, 1), order: v.optional(orderSchema), ...chunkFiles })),
    v.maxLength(100),
  ),
});

export const hostDescriptionSchema = v.object({
  ...described,
  kind: v.literal('host'),
  /** The version of the shared runtime it provides. */
  contract: othersVersion,
  template: filePathSchema,
  serviceWorker: v.optional(filePathSchema),
});

/** `liaozhai.json`: what a build says of itself to the release system. Paths are relative to the dist folder. */
export const buildDescriptionSchema = v.variant('kind', [remoteDescriptionSchema, hostDescriptionSchema]);

export type RemoteDescription = v.InferOutput<typeof remoteDescriptionSchema>;
export type HostDescription = v.InferOutput<typeof hostDescriptionSchema>;
export type BuildDescription = v.InferOutput<typeof buildDescriptionSchema>;

const preloadSchema = v.object({ js: v.array(v.string()), css: v.array(v.string()) });

const pageBuildSchema = v.object({
  /** e.g. `stories@1.4.2+3f9c1a7b20de` */
  id: v.string(),
  label: v.string(),
  entry: v.string(),
  entryType: v.optional(v.literal('module')),
  global: v.string(),
  contract: v.string(),
  routes: v.array(
    v.object({
      name: v.string(),
      path: v.string(),
      title: v.string(),
      requiresAuth: v.boolean(),
      keepAlive: v.boolean(),
      outsideShell: v.boolean(),
      preload: preloadSchema,
    }),
  ),
  slots: v.array(v.object({ name: v.string(), order: v.optional(v.number()), preload: preloadSchema })),
});

/** One host build and one build of every remote: `sets/<hash>.json`, immutable. Paths are absolute from the origin's root. */
export const setBodySchema = v.object({
  format: v.literal(1),
  host: v.object({
    id: v.string(),
    entry: v.string(),
    contract: v.string(),
    federation: v.string(),
    css: v.array(v.string()),
    template: v.string(),
    templateIntegrity: v.string(),
    serviceWorker: v.nullable(v.string()),
  }),
  remotes: dictionarySchema(v.string(), pageBuildSchema),
  /** Absolute path → integrity; a file that is not listed never runs. */
  hashes: dictionarySchema(v.string(), v.string()),
});

/** Files that a route or slot takes to show. */
export type Preload = v.InferOutput<typeof preloadSchema>;
/** One build of one remote, as the page carries it. */
export type PageBuild = v.InferOutput<typeof pageBuildSchema>;
export type PageRoute = PageBuild['routes'][number];
export type SetBody = v.InferOutput<typeof setBodySchema>;

/** Modules by which a page tries whether its browser checks ES modules: the server names one and the same hash for both. */
export const MODULE_PROBES = { right: 'data:text/javascript,0', wrong: 'data:text/javascript,1' } as const;

/** The set a page runs, inlined in its HTML and pinned for the life of the page. */
export interface PageSet {
  channel: string;
  seq: number;
  set: string;
  candidate: boolean;
  /** The sets of the candidates this visitor is in; what runs is all of them put together. */
  candidateSets?: string[];
  override: {
    id: string;
    expires: string;
    /** Remotes that this browser, by leave, runs from dev servers; their files have no hashes. */
    local?: { name: string; origin: string }[];
  } | null;
  /** Base64 SPKI of the ECDSA P-256 key that signs channel documents. */
  publicKey: string;
  host: { id: string; entry: string; contract: string; css: string[] };
  /** `lastGood` takes the build's place when it fails: what everyone runs, else the build before. */
  remotes: Record<string, PageBuild & { lastGood: PageBuild | null }>;
  /** Absolute path → integrity; a file that is not listed never runs. */
  hashes: Record<string, string>;
  /** Builds that must not run anywhere. */
  killed: string[];
}

const liveSince = { since: instantSchema, by: textSchema(120) };

export const stableSchema = v.object({ set: setHash, builds: v.array(buildId), ...liveSince });

export const candidateSchema = v.object({
  set: setHash,
  /** Only the builds that stand over stable. */
  builds: v.pipe(v.array(buildId), v.minLength(1)),
  percent: v.pipe(v.number(), v.minValue(0), v.maxValue(100)),
  salt: textSchema(64, 8),
  ...liveSince,
});

/** `channels/<name>.json` without the action that led to it, which the release system describes. */
export const channelFields = {
  /** 2 where two persons decide: programs from before that rule would write the document without it, and refuse this one. */
  format: v.picklist([1, 2]),
  channel: nameSchema,
  seq: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  /** Makes every document's bytes unique, so that a store's content tags never repeat. */
  nonce: v.string(),
  stable: v.nullable(stableSchema),
  /** The oldest of the candidates that run at a time, each over stable. */
  candidate: v.nullable(candidateSchema),
  /** The further ones. Left out while empty: older readers know only documents without it. */
  moreCandidates: v.optional(v.pipe(v.array(candidateSchema), v.minLength(1), v.maxLength(50))),
  lastGood: dictionarySchema(v.string(), buildId),
  killed: v.array(buildId),
  /** SHA-256 of each named build's content, so that `build.json` needs no trust of its own. */
  digests: dictionarySchema(buildId, digestSchema),
  previous: v.nullable(v.object({ seq: v.pipe(v.number(), v.safeInteger()), sha256: v.string() })),
  expires: instantSchema,
  sig: v.string(),
};

/** The JSON a page posts to `/beacon`. */
export const beaconSchema = v.object({
  build: textSchema(140),
  set: textSchema(40),
  candidate: v.boolean(),
  outcome: v.picklist(['loaded', 'failed']),
  failure: v.optional(v.picklist(remoteFailures)),
  /** What the reader is shown of a failure, and tells support. */
  problem: v.optional(v.pipe(v.string(), v.regex(/^[\w-]{8,64}$/))),
  /** From asking for the remote to having its module. */
  loadMilliseconds: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(120_000))),
});

export type Beacon = v.InferOutput<typeof beaconSchema>;

/** Begins the name of the browser's own measure of a build, from asking for a component to its being ready. */
export const READY = 'ready ';

/** What pages measure of a build: Core Web Vitals, and from asking for a remote to its first component being ready. */
export const vitalMetrics = ['lcp', 'inp', 'cls', 'load'] as const;

export type VitalMetric = (typeof vitalMetrics)[number];

/** Whether host and remote had both run in this browser before (warm), neither had (cold), or one of them. */
export const cacheStates = ['cold', 'warm', 'mixed'] as const;

export type CacheState = (typeof cacheStates)[number];

/** The JSON that a page posts to `/beacon` when it is hidden: what its reader felt, each value with the build it is credited to. */
export const vitalsReportSchema = v.object({
  vitals: v.pipe(
    v.array(
      v.object({
        build: textSchema(140),
        metric: v.picklist(vitalMetrics),
        /** ms; for `cls` a score */
        value: v.pipe(v.number(), v.minValue(0), v.maxValue(120_000)),
        cache: v.picklist(cacheStates),
      }),
    ),
    v.maxLength(30),
  ),
});

export type VitalsReport = v.InferOutput<typeof vitalsReportSchema>;

/** The JSON that a page posts to `/beacon` of errors in the code of builds. */
export const errorsReportSchema = v.object({
  failed: v.pipe(
    v.array(
      v.object({
        build: textSchema(140),
        kind: v.picklist([...scriptErrors, ...remoteFailures]),
        /** The error's class: `TypeError` */
        name: v.pipe(v.string(), v.regex(/^[A-Z][A-Za-z]{2,39}$/)),
        message: v.nullable(
          v.pipe(
            v.string(),
            v.check((text) => messageClass(text) === text, 'must be a known class of messages'),
          ),
        ),
        /** The innermost first. */
        frames: v.pipe(v.array(v.pipe(v.string(), v.regex(FRAME))), v.maxLength(MOST_FRAMES)),
        /** Pattern of the screen, never its address. */
        route: v.pipe(v.string(), v.maxLength(200), v.regex(ROUTE_PATH)),
      }),
    ),
    v.minLength(1),
    v.maxLength(10),
  ),
});

export type ErrorReport = v.InferOutput<typeof errorsReportSchema>['failed'][number];

/** Calls go by their method. */
export const pageSpanNames = [
  'document load',
  'remote load',
  'reply first words',
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
] as const;

/** An id of W3C Trace Context; all zeros are invalid. */
const traceIdSchema = (length: number) => v.pipe(v.string(), v.regex(new RegExp(`^(?!0+$)[0-9a-f]{${length}}$`)));
const spanMilliseconds = v.pipe(v.number(), v.minValue(0), v.maxValue(900_000));

/** The JSON that a traced page posts to `/beacon/spans`. Times count back from the sending: the device's clock may be wrong. */
export const spansReportSchema = v.object({
  spans: v.pipe(
    v.array(
      v.object({
        trace: traceIdSchema(32),
        id: traceIdSchema(16),
        parent: v.optional(traceIdSchema(16)),
        name: v.picklist(pageSpanNames),
        /** ms from the beginning of the span to the sending of the report */
        ago: spanMilliseconds,
        took: spanMilliseconds,
        build: v.optional(textSchema(140)),
        /** pattern of a screen or call */
        route: v.optional(textSchema(240)),
        status: v.optional(v.pipe(v.number(), v.integer(), v.minValue(100), v.maxValue(599))),
      }),
    ),
    v.minLength(1),
    v.maxLength(50),
  ),
});

export type SpansReport = v.InferOutput<typeof spansReportSchema>;

/** A file of a stored build. */
export const buildFileSchema = v.object({
  integrity: v.pipe(v.string(), v.regex(/^sha384-[\w+/]{64}$/, 'must be a sha384 integrity')),
  /** bytes */
  size: count,
});
