import { dictionarySchema, instantSchema, textSchema, vitalMetrics } from '@liaozhai/shared/contract';
import * as v from 'valibot';
import { parseBuildId } from './build.ts';
import { parseOrNull } from './documents.ts';

// Actions are encoded as data in the fields that signed documents always had. Older readers drop unknown fields, and
// then the signature no longer matches.
export const storedActionSchema = v.object({
  verb: textSchema(20),
  who: textSchema(120),
  /** Build ids, then `5%` (canary), `from:preview#12` or `into:…` (another channel), `+12` (ids left out); separated by blanks. */
  what: textSchema(2000),
  why: textSchema(500),
  at: instantSchema,
  /** `rollback` only: the target state, and the names that were rolled back (empty = all). */
  to: v.optional(v.pipe(v.number(), v.safeInteger())),
  names: v.optional(v.array(v.string())),
  /** Reasons for the change, each a JSON-encoded `Evidence`. */
  evidence: v.optional(v.pipe(v.array(textSchema(500)), v.maxLength(50))),
});

/** An action as the signed document holds it. */
export type StoredAction = v.InferOutput<typeof storedActionSchema>;

const finite = v.pipe(v.number(), v.finite());

/** Build ids, and the number of those left out because the document had no room. */
const listed = { builds: v.array(v.string()), more: v.optional(finite) };
const someListed = { ...listed, builds: v.pipe(listed.builds, v.minLength(1)) };

/** A state of another channel, which may be in another store. */
const foreignStateSchema = v.object({ channel: v.string(), seq: finite, store: v.optional(v.string()) });

export type ForeignState = v.InferOutput<typeof foreignStateSchema>;

/** Permission for a person's browser to run remotes from a dev server, given or revoked. */
const previewSchema = v.object({
  kind: v.picklist(['preview', 'preview-end']),
  person: v.string(),
  browser: v.string(),
  /** `stories@http://localhost:3101` */
  remotes: v.pipe(v.array(v.string()), v.minLength(1)),
  expires: v.optional(v.string()),
});

export type PreviewGrant = v.InferOutput<typeof previewSchema>;

const actionSchema = v.variant('kind', [
  /** The evidence contains the details, if any. */
  v.object({ kind: v.picklist(['init', 'renew', 'freeze', 'webhook', 'approval']) }),
  previewSchema,
  /** `alarm`: a build began to fail for everybody; nothing was switched. */
  v.object({ kind: v.picklist(['activate', 'abort', 'kill', 'withdraw', 'schedule', 'alarm']), ...someListed }),
  /** A change that waits for a second person. A change of the approval rule names no builds. */
  v.object({ kind: v.literal('proposal'), ...listed }),
  v.object({ kind: v.literal('promote'), ...someListed, from: v.optional(foreignStateSchema) }),
  v.object({ kind: v.literal('promoted'), ...someListed, into: foreignStateSchema }),
  v.object({ kind: v.literal('seed'), ...someListed, from: foreignStateSchema }),
  v.object({ kind: v.literal('canary'), ...someListed, percent: finite }),
  v.object({ kind: v.literal('rollback'), ...someListed, to: finite, names: v.optional(v.array(v.string()), []) }),
]);

/** What a change did, as data. User interfaces phrase it. */
export type Action = v.InferOutput<typeof actionSchema>;

const minute = v.pipe(finite, v.safeInteger(), v.minValue(0), v.maxValue(7 * 24 * 60 - 1));

export const windowSchema = v.variant('kind', [
  v.object({ kind: v.literal('once'), from: instantSchema, to: instantSchema }),
  /** Minutes since Monday 0:00 in the zone's local time; `to` before `from` spans the end of the week. */
  v.object({ kind: v.literal('weekly'), from: minute, to: minute, zone: textSchema(60, 1) }),
]);

const countsSchema = v.object({ visitors: finite, failedVisitors: finite });

const evidenceSchema = v.variant('kind', [
  /** A problem that the gate found in the change, or in a candidate that was dropped because of it. */
  v.object({ kind: v.literal('finding'), check: v.string(), problem: v.string(), forced: v.boolean() }),
  /** A build was removed from its candidate because another build of its name went live for everyone. */
  v.object({ kind: v.literal('overtaken'), build: v.string() }),
  /** The candidate ended because it does not pass the gate over the new stable set. */
  v.object({ kind: v.literal('candidateDropped'), ...listed }),
  /** The candidate ended because a rollback, kill, withdrawal or another candidate changed one of its names. */
  v.object({ kind: v.literal('candidateEnded'), ...listed }),
  /** A live build was removed, and `by` replaced it; null = no replacement. */
  v.object({ kind: v.literal('replaced'), build: v.string(), by: v.nullable(v.string()) }),
  v.object({ kind: v.literal('unseen') }),
  /** Former builds that a rollback skipped because they do not fit the live set. */
  v.object({ kind: v.literal('passedOver'), ...listed }),
  /** Health of a group of visitors when the automatic stop acted. */
  v.object({
    kind: v.literal('health'),
    group: v.picklist(['candidate', 'control']),
    visitors: finite,
    failedVisitors: finite,
    failures: dictionarySchema(v.string(), finite),
    p75LoadMilliseconds: v.nullable(finite),
  }),
  /** Reason for an alarm: the build's visitors of the last minutes, and the remote's visitors before. */
  v.object({ kind: v.literal('alarm'), minutes: finite, recent: countsSchema, before: countsSchema }),
  /** Reason for an automatic stop: the probability that the difference is due to chance. */
  v.object({ kind: v.literal('verdict'), pValue: finite, alpha: finite }),
  /** Reason for an automatic stop: a build's pages were slower. p75 in ms. */
  v.object({
    kind: v.literal('slower'),
    build: v.string(),
    metric: v.picklist(vitalMetrics),
    pages: finite,
    p75: finite,
    stablePages: finite,
    stableP75: finite,
    pValue: finite,
    alpha: finite,
  }),
  /** A change of a schedule; `steps` as in `5@now,25@1h`, `taken` is the number of applied steps. */
  v.object({
    kind: v.literal('schedule'),
    change: v.picklist(['set', 'paused', 'continued', 'cancelled', 'waits', 'ended', 'refused', 'revoked']),
    steps: v.string(),
    taken: finite,
    id: v.optional(v.string()),
  }),
  /** The change is a step of a schedule created by this person. */
  v.object({ kind: v.literal('step'), step: finite, of: finite, by: v.string() }),
  /** Reason why a step waits: too few visitors of a group. */
  v.object({ kind: v.literal('tooFew'), tried: finite, control: finite, enough: finite }),
  /** Reason why a step waits: more failures than chance makes likely. */
  v.object({ kind: v.literal('failing'), pValue: finite, limit: finite }),
  /** Reason why a step waits: a freeze window. */
  v.object({ kind: v.literal('frozen'), reason: v.string(), until: v.string() }),
  v.object({
    kind: v.literal('freeze'),
    change: v.picklist(['added', 'removed']),
    window: windowSchema,
    reason: v.string(),
  }),
  v.object({ kind: v.literal('webhook'), change: v.picklist(['added', 'removed']), address: v.string() }),
  /** The new approval rule: hours that a proposal waits for a second person; null = one person decides. */
  v.object({ kind: v.literal('approvalRule'), hours: v.nullable(finite) }),
  /** A change of this person's proposal; `before` and `after` are digests of the channel's state. */
  v.object({
    kind: v.literal('proposal'),
    id: v.string(),
    change: v.picklist(['proposed', 'approved', 'rejected', 'withdrawn', 'expired', 'interrupted']),
    what: v.picklist(['activate', 'canary', 'promote', 'schedule', 'approval']),
    by: v.string(),
    before: v.string(),
    after: v.string(),
  }),
  /** This person proposed the change; the person who carried it out approved it. */
  v.object({ kind: v.literal('approved'), proposal: v.string(), by: v.string() }),
  v.object({ kind: v.literal('freezeOverridden'), freeze: v.string(), reason: v.string() }),
]);

/** A problem of a build or set, as a check of the gate reports it. */
export interface Finding {
  check: string;
  problem: string;
}

/** A reason for a change, as data. */
export type Evidence = v.InferOutput<typeof evidenceSchema>;

/** Returns findings as evidence: `forced` if the change was made against them. */
export const findingsIn = (findings: readonly Finding[], forced: boolean): Evidence[] =>
  findings.map(({ check, problem }) => ({ kind: 'finding', check, problem, forced }));

/** An entry that this version cannot parse; it is shown verbatim. */
interface Sentence {
  kind: 'text';
  text: string;
}

export type ReadAction = (Action | Sentence) & { evidence: (Evidence | Sentence)[] };

const MAX_WHAT_CHARACTERS = 2000;
const MAX_EVIDENCE_CHARACTERS = 500;
const MAX_EVIDENCE_ENTRIES = 50;

/** Returns as many whole ids as fit, and the number of the rest. */
function fitBuilds(builds: readonly string[], room: number): { builds: string[]; more?: number } {
  const fitting = [...builds];
  const isTooLong = () => fitting.join(' ').length > room;
  while (isTooLong()) fitting.pop();
  return { builds: fitting, ...(fitting.length < builds.length ? { more: builds.length - fitting.length } : {}) };
}

/** Shortens a text to a length, with … at its end. */
export const truncate = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1)}…`;

const formatPreview = ({ person, browser, remotes, expires }: PreviewGrant): string =>
  [
    ...remotes,
    `browser:${browser}`,
    `person:${encodeURIComponent(person)}`,
    ...(expires ? [`until:${expires}`] : []),
  ].join(' ');

function formatAction(action: Action): string {
  if ('person' in action) return formatPreview(action);
  if (!('builds' in action)) return '';
  const qualifiers = [
    ...(action.kind === 'canary' ? [`${action.percent}%`] : []),
    ...('from' in action && action.from ? [`from:${formatForeignState(action.from)}`] : []),
    ...('into' in action ? [`into:${formatForeignState(action.into)}`] : []),
  ];
  const { builds, more = 0 } = fitBuilds(action.builds, MAX_WHAT_CHARACTERS - 40 - qualifiers.join(' ').length);
  return [...builds, ...qualifiers, ...(more > 0 ? [`+${more}`] : [])].join(' ');
}

/** `preview#12`, or `preview#12@<store>` in another store. */
const formatForeignState = ({ channel, seq, store }: ForeignState): string =>
  `${channel}#${seq}${store ? `@${encodeURIComponent(truncate(store, 100))}` : ''}`;

function parseForeignState(word: string): ForeignState | undefined {
  const [, channel, seq, store] = /^([a-z][a-z0-9-]*)#(\d+)(?:@(\S+))?$/.exec(word) ?? [];
  if (!channel) return undefined;
  return { channel, seq: Number(seq), ...(store ? { store: decodeURIComponent(store) } : {}) };
}

function encodeEvidence(evidence: Evidence): string {
  const text = JSON.stringify(evidence);
  const excess = text.length - MAX_EVIDENCE_CHARACTERS;
  if (excess <= 0) return text;
  if ('builds' in evidence)
    return JSON.stringify({ ...evidence, ...fitBuilds(evidence.builds, MAX_EVIDENCE_CHARACTERS / 2) });
  // JSON escapes make characters longer, so one cut may not be enough
  if (evidence.kind === 'finding')
    return encodeEvidence({ ...evidence, problem: truncate(evidence.problem, evidence.problem.length - excess) });
  return JSON.stringify({ ...evidence, failures: {} });
}

/** Returns the stored form of an action. Long lists and texts are cut to the limits of the document. */
export function toStoredAction(
  action: Action,
  { who, why, at, evidence = [] }: { who: string; why: string; at: string; evidence?: readonly Evidence[] },
): StoredAction {
  return {
    verb: action.kind,
    who: truncate(who, 120),
    what: formatAction(action),
    why: truncate(why, 500),
    at,
    ...(action.kind === 'rollback' ? { to: action.to, names: action.names } : {}),
    ...(evidence.length > 0 ? { evidence: evidence.slice(0, MAX_EVIDENCE_ENTRIES).map(encodeEvidence) } : {}),
  };
}

/** Parses the words of `what` to the fields of an action; null for free text. */
function parseFields(what: string) {
  const fields: Record<string, unknown> = {};
  const builds: string[] = [];
  const remotes: string[] = [];
  for (const word of what.split(' ').filter(Boolean)) {
    const [, key, value = ''] = /^(from|into|browser|person|until):(.*)$/.exec(word) ?? [];
    const [, percent, more] = /^(?:(\d+(?:\.\d+)?(?:e-\d+)?)%|\+(\d+))$/.exec(word) ?? [];
    if (key === 'from' || key === 'into') fields[key] = parseForeignState(value);
    else if (key === 'person') fields[key] = decodeURIComponent(value);
    else if (key) fields[key === 'until' ? 'expires' : key] = value;
    else if (percent) fields.percent = Number(percent);
    else if (more) fields.more = Number(more);
    else if (parseBuildId(word)) builds.push(word);
    else if (/^[a-z0-9-]+@https?:/.test(word)) remotes.push(word);
    else return null;
  }
  return { ...fields, builds, remotes };
}

function parseAction({ verb, what, to, names }: StoredAction): Action | Sentence {
  const fields = parseFields(what);
  const parsed = v.safeParse(actionSchema, fields && { ...fields, kind: verb, to, names });
  return parsed.success ? parsed.output : { kind: 'text', text: what };
}

const parseEvidence = (line: string): Evidence | Sentence =>
  parseOrNull(evidenceSchema, line) ?? { kind: 'text', text: line };

/** Parses a stored action; free text of earlier versions is returned as `text`. */
export const readAction = (stored: StoredAction): ReadAction => ({
  ...parseAction(stored),
  evidence: (stored.evidence ?? []).map(parseEvidence),
});
