import * as v from 'valibot';
import { FRAME, MAX_FRAMES, messageClass, scriptErrors } from './errorReports.ts';
import { remoteFailures } from './failures.ts';

// Documents exchanged between builds, release system, server and page. The release system adds the checks that need more than a
// browser has (semver ranges, hashes, signatures).

/** Longest path inside a build, in characters. */
export const MAX_PATH = 240;
const FILE_PATH = /^(?!.*(^|\/)\.)[A-Za-z0-9_@~+.()[\]-]+(\/[A-Za-z0-9_@~+.()[\]-]+)*$/;
const SEGMENT = String.raw`(?:(?!\.{1,2}(?:/|$))[\w.~-]+|:\w+\??|\*)`;
const ROUTE_PATH = new RegExp(`^/(?:${SEGMENT}(?:/${SEGMENT})*)?$`);
const NAME = /^[a-z][a-z0-9-]{0,39}$/;
const VERSION = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;
/** Versions of third-party packages may have build metadata, a leading `v` and blanks, as semver allows. */
const OTHERS_VERSION = /^\s*v?\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]*)?\s*$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z$/;

/**
 * Whether `text` may name a build or channel: lower-case letters, digits and dashes. Names are keys of records, so properties of
 * every object, such as "constructor", are excluded.
 */
export const isName = (text: string): boolean => NAME.test(text) && !(text in Object.prototype);

/** Whether `path` is valid inside a build: relative, POSIX, no hidden parts, nothing to escape in a URL. */
export const isFilePath = (path: string): boolean => path.length <= MAX_PATH && FILE_PATH.test(path);

/** Whether `text` is an existing instant, in UTC with seconds: `2026-11-21T00:00:00.000Z`. */
function isInstant(text: string): boolean {
  const time = INSTANT.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text.slice(0, 19));
}

/** Text with limits in code points, not UTF-16 units. */
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
 * An object whose keys are data. Not `v.record`, which drops the keys `constructor` and `prototype`: a document with such a key
 * would no longer match its signature.
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
/** '' accepts any version. */
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

const routeFlags = { requiresAuth: v.boolean(), keepAlive: v.boolean(), outsideShell: v.boolean() };

const routeSchema = v.object({
  name: textSchema(60, 1),
  path: v.pipe(v.string(), v.maxLength(200), v.regex(ROUTE_PATH, 'must be a path pattern such as /story/:id')),
  title: textSchema(60),
  ...routeFlags,
  ...chunkFiles,
});

const commonEntries = {
  name: nameSchema,
  label: textSchema(30, 1),
  /** Semver from package.json; `publish --version` overrides it. */
  version,
  sourceHash: v.pipe(v.string(), v.regex(/^[0-9a-f]{8,64}$/, 'must be 8 to 64 lower-case hex digits')),
  /** Version of Module Federation at build time. */
  federation: othersVersion,
  shared: v.object({
    provides: dictionarySchema(v.string(), othersVersion),
    requires: dictionarySchema(v.string(), range),
  }),
  entry: filePathSchema,
  css: v.optional(v.array(filePathSchema), []),
};

export const remoteDescriptionSchema = v.object({
  ...commonEntries,
  kind: v.literal('remote'),
  /** Required range of the shared runtime. */
  contract: range,
  /** The container's global variable, unique per build. */
  global: globalName,
  /** Missing for a classic script, which sets `global` to a container. */
  entryType: v.optional(v.literal('module')),
  /** Global array through which late chunks register, unique per build; missing if the build has none. */
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
  ...commonEntries,
  kind: v.literal('host'),
  /** Provided version of the shared runtime. */
  contract: othersVersion,
  template: filePathSchema,
  serviceWorker: v.optional(filePathSchema),
});

/** `liaozhai.json`: a build's description for the release system. Paths are relative to the dist folder. */
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
    v.object({ name: v.string(), path: v.string(), title: v.string(), ...routeFlags, preload: preloadSchema }),
  ),
  slots: v.array(v.object({ name: v.string(), order: v.optional(v.number()), preload: preloadSchema })),
});

/** `sets/<hash>.json`: one host build and one build of each remote, immutable. Paths are absolute from the origin's root. */
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
  /** Absolute path → integrity; an unlisted file never runs. */
  hashes: dictionarySchema(v.string(), v.string()),
});

/** Files that a route or slot needs before it renders. */
export type Preload = v.InferOutput<typeof preloadSchema>;
/** One build of a remote, as the page contains it. */
export type PageBuild = v.InferOutput<typeof pageBuildSchema>;
export type PageRoute = PageBuild['routes'][number];
export type SetBody = v.InferOutput<typeof setBodySchema>;

/** Modules that test whether the browser checks the integrity of ES modules: the server sets the same hash for both. */
export const MODULE_PROBES = { right: 'data:text/javascript,0', wrong: 'data:text/javascript,1' } as const;

/** The set that a page runs, inlined in its HTML and pinned until the page unloads. */
export interface PageSet {
  channel: string;
  seq: number;
  set: string;
  candidate: boolean;
  /** Sets of the candidates that this visitor is in; the page runs all of them combined. */
  candidateSets?: string[];
  override: {
    id: string;
    expires: string;
    /**
     * Remotes that this browser may run from dev servers; their files have no hashes. `problem` is added by the page: why it does
     * not use the dev server.
     */
    local?: { name: string; origin: string; problem?: string }[];
  } | null;
  /** Base64 SPKI of the ECDSA P-256 key that signs channel documents. */
  publicKey: string;
  host: { id: string; entry: string; contract: string; css: string[] };
  /** `lastGood` replaces the build if it fails: the stable build, else the previous one. */
  remotes: Record<string, PageBuild & { lastGood: PageBuild | null }>;
  /** Absolute path → integrity; an unlisted file never runs. */
  hashes: Record<string, string>;
  /** Builds that must not run. */
  killed: string[];
}

const liveSince = { since: instantSchema, by: textSchema(120) };

export const stableSchema = v.object({ set: setHash, builds: v.array(buildId), ...liveSince });

export const candidateSchema = v.object({
  set: setHash,
  /** Only the builds that differ from stable. */
  builds: v.pipe(v.array(buildId), v.minLength(1)),
  percent: v.pipe(v.number(), v.minValue(0), v.maxValue(100)),
  salt: textSchema(64, 8),
  ...liveSince,
});

/** `channels/<name>.json` without the action that led to it, which the release system describes. */
export const channelFields = {
  /** 2 if two persons must approve: older programs would drop that rule when writing, and refuse this format. */
  format: v.picklist([1, 2]),
  channel: nameSchema,
  seq: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  /** Makes the bytes of each document unique, so that a store's ETags never repeat. */
  nonce: v.string(),
  stable: v.nullable(stableSchema),
  /** The oldest active candidate; each one replaces builds of stable. */
  candidate: v.nullable(candidateSchema),
  /** Further candidates. Omitted while empty, since older readers do not know the field. */
  moreCandidates: v.optional(v.pipe(v.array(candidateSchema), v.minLength(1), v.maxLength(50))),
  lastGood: dictionarySchema(v.string(), buildId),
  killed: v.array(buildId),
  /** SHA-256 of each build's content, so that `build.json` needs no signature. */
  digests: dictionarySchema(buildId, digestSchema),
  previous: v.nullable(v.object({ seq: v.pipe(v.number(), v.safeInteger()), sha256: v.string() })),
  expires: instantSchema,
  sig: v.string(),
};

/** Body of a page's `POST /beacon` about loading a build. */
export const beaconSchema = v.object({
  build: textSchema(140),
  set: textSchema(40),
  candidate: v.boolean(),
  outcome: v.picklist(['loaded', 'failed']),
  failure: v.optional(v.picklist(remoteFailures)),
  /** Id of the failure, shown to the user for support. */
  problem: v.optional(v.pipe(v.string(), v.regex(/^[\w-]{8,64}$/))),
  /** From the request for the remote until its module is available. */
  loadMilliseconds: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(120_000))),
});

export type Beacon = v.InferOutput<typeof beaconSchema>;

/** Prefix of a performance measure per build, from the request for a component until it is ready. */
export const READY = 'ready ';

/** Measurements per build: Core Web Vitals, and the time from requesting a remote to its first ready component. */
export const vitalMetrics = ['lcp', 'inp', 'cls', 'load'] as const;

export type VitalMetric = (typeof vitalMetrics)[number];

/** Whether host and remote had both run in this browser before (warm), neither (cold), or one of them (mixed). */
export const cacheStates = ['cold', 'warm', 'mixed'] as const;

export type CacheState = (typeof cacheStates)[number];

/** Body of `POST /beacon` when a page is hidden: web vitals, each with the build that it is attributed to. */
export const vitalsReportSchema = v.object({
  vitals: v.pipe(
    v.array(
      v.object({
        build: textSchema(140),
        metric: v.picklist(vitalMetrics),
        /** ms; a score for `cls` */
        value: v.pipe(v.number(), v.minValue(0), v.maxValue(120_000)),
        cache: v.picklist(cacheStates),
      }),
    ),
    v.maxLength(30),
  ),
});

export type VitalsReport = v.InferOutput<typeof vitalsReportSchema>;

/** Body of `POST /beacon` about errors in the code of builds. */
export const errorsReportSchema = v.object({
  failed: v.pipe(
    v.array(
      v.object({
        build: textSchema(140),
        kind: v.picklist([...scriptErrors, ...remoteFailures]),
        /** Class of the error, e.g. `TypeError`. */
        name: v.pipe(v.string(), v.regex(/^[A-Z][A-Za-z]{2,39}$/)),
        message: v.nullable(
          v.pipe(
            v.string(),
            v.check((text) => messageClass(text) === text, 'must be a known class of messages'),
          ),
        ),
        /** Innermost first. */
        frames: v.pipe(v.array(v.pipe(v.string(), v.regex(FRAME))), v.maxLength(MAX_FRAMES)),
        /** Route pattern of the screen, never its URL. */
        route: v.pipe(v.string(), v.maxLength(200), v.regex(ROUTE_PATH)),
      }),
    ),
    v.minLength(1),
    v.maxLength(10),
  ),
});

export type ErrorReport = v.InferOutput<typeof errorsReportSchema>['failed'][number];

/** Spans of calls are named by their method. */
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

/** Id of W3C Trace Context; all zeros are invalid. */
const traceIdSchema = (length: number) => v.pipe(v.string(), v.regex(new RegExp(`^(?!0+$)[0-9a-f]{${length}}$`)));
const spanMilliseconds = v.pipe(v.number(), v.minValue(0), v.maxValue(900_000));

/** Body of a traced page's `POST /beacon/spans`. Times count back from the sending: the device's clock may be wrong. */
export const spansReportSchema = v.object({
  spans: v.pipe(
    v.array(
      v.object({
        trace: traceIdSchema(32),
        id: traceIdSchema(16),
        parent: v.optional(traceIdSchema(16)),
        name: v.picklist(pageSpanNames),
        /** ms from the start of the span to the sending of the report */
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

export const buildFileSchema = v.object({
  integrity: v.pipe(v.string(), v.regex(/^sha384-[\w+/]{64}$/, 'must be a sha384 integrity')),
  /** bytes */
  size: count,
});
