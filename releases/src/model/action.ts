import { dictionarySchema, instantSchema, textSchema, vitalMetrics } from '@liaozhai/shared/contract';
import * as v from 'valibot';
import { jsonOrNull, parseBuildId } from './build.ts';

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

/** Build ids, and the number of those left out because the document had no room. */
interface ListedBuilds {
  builds: string[];
  more?: number;
}

/** A state of another channel, which may be in another store. */
export interface ForeignState {
  channel: string;
  seq: number;
  store?: string;
}

/** Permission for a person's browser to run remotes from a dev server, given or revoked. */
export interface PreviewGrant {
  kind: 'preview' | 'preview-end';
  person: string;
  browser: string;
  /** `stories@http://localhost:3101` */
  remotes: string[];
  expires?: string;
}

/** What a change did, as data. User interfaces phrase it. */
export type Action =
  | { kind: 'init' | 'renew' }
  | PreviewGrant
  | ({ kind: 'activate' | 'abort' | 'kill' | 'withdraw' } & ListedBuilds)
  /** A build began to fail for everybody; nothing was switched. */
  | ({ kind: 'alarm' } & ListedBuilds)
  | ({ kind: 'promote'; from?: ForeignState } & ListedBuilds)
  | ({ kind: 'promoted'; into: ForeignState } & ListedBuilds)
  | ({ kind: 'seed'; from: ForeignState } & ListedBuilds)
  /** The evidence contains the details. */
  | { kind: 'freeze' | 'webhook' | 'approval' }
  | ({ kind: 'schedule' } & ListedBuilds)
  /** A change that waits for a second person. A change of the approval rule names no builds. */
  | ({ kind: 'proposal' } & ListedBuilds)
  | ({ kind: 'canary'; percent: number } & ListedBuilds)
  | ({ kind: 'rollback'; to: number; names: string[] } & ListedBuilds);

export interface Finding {
  check: string;
  problem: string;
}

const finite = v.pipe(v.number(), v.finite());

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
  v.object({ kind: v.literal('candidateDropped'), builds: v.array(v.string()), more: v.optional(finite) }),
  /** The candidate ended because a rollback, kill, withdrawal or another candidate changed one of its names. */
  v.object({ kind: v.literal('candidateEnded'), builds: v.array(v.string()), more: v.optional(finite) }),
  /** A live build was removed, and `by` replaced it; null = no replacement. */
  v.object({ kind: v.literal('replaced'), build: v.string(), by: v.nullable(v.string()) }),
  /** The gate ran without a browser. */
  v.object({ kind: v.literal('unseen') }),
  /** Former builds that a rollback skipped because they do not fit the live set. */
  v.object({ kind: v.literal('passedOver'), builds: v.array(v.string()), more: v.optional(finite) }),
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
  /** The change was made in a freeze window, for a reason. */
  v.object({ kind: v.literal('freezeOverridden'), freeze: v.string(), reason: v.string() }),
]);

/** A reason for a change, as data. */
export type Evidence = v.InferOutput<typeof evidenceSchema>;

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
function fitBuilds(builds: readonly string[], room: number): ListedBuilds {
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

/** Returns null for free text. */
function parsePreview(what: string): Omit<PreviewGrant, 'kind'> | null {
  const words = what.split(' ');
  const findValue = (key: string) => words.find((word) => word.startsWith(`${key}:`))?.slice(key.length + 1);
  const [browser, person, expires] = [findValue('browser'), findValue('person'), findValue('until')];
  const remotes = words.filter((word) => /^[a-z0-9-]+@https?:/.test(word));
  if (!browser || !person || remotes.length === 0) return null;
  return { person: decodeURIComponent(person), browser, remotes, ...(expires ? { expires } : {}) };
}

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

type ParsedBuilds = ListedBuilds & { percent?: number; from?: ForeignState; into?: ForeignState };

/** Parses ids, share, number of further ids and other channel from `what`; null for free text. */
function parseBuilds(what: string): ParsedBuilds | null {
  const listedBuilds: ParsedBuilds = { builds: [] };
  for (const word of what.split(' ')) {
    const [, side, place = ''] = /^(from|into):(.*)$/.exec(word) ?? [];
    if (side === 'from' || side === 'into') {
      listedBuilds[side] = parseForeignState(place);
      continue;
    }
    const [, percent, more] = /^(?:(\d+(?:\.\d+)?(?:e-\d+)?)%|\+(\d+))$/.exec(word) ?? [];
    if (percent) listedBuilds.percent = Number(percent);
    else if (more) listedBuilds.more = Number(more);
    else if (parseBuildId(word)) listedBuilds.builds.push(word);
    else return null;
  }
  return listedBuilds.builds.length > 0 ? listedBuilds : null;
}

function parseAction({ verb, what, to, names = [] }: StoredAction): Action | Sentence {
  const sentence: Sentence = { kind: 'text', text: what };
  if (verb === 'init' || verb === 'renew' || verb === 'freeze' || verb === 'webhook' || verb === 'approval')
    return what === '' ? { kind: verb } : sentence;
  if (verb === 'preview' || verb === 'preview-end') {
    const preview = parsePreview(what);
    return preview ? { kind: verb, ...preview } : sentence;
  }
  const parsed: ParsedBuilds = parseBuilds(what) ?? { builds: [] };
  const { percent, from, into, ...listedBuilds } = parsed;
  if (verb === 'proposal') return { kind: verb, ...listedBuilds };
  if (listedBuilds.builds.length === 0) return sentence;
  if (verb === 'promote') return { kind: verb, ...listedBuilds, ...(from ? { from } : {}) };
  if (verb === 'seed') return from ? { kind: verb, ...listedBuilds, from } : sentence;
  if (verb === 'promoted') return into ? { kind: verb, ...listedBuilds, into } : sentence;
  if (verb === 'canary') return percent === undefined ? sentence : { kind: verb, ...listedBuilds, percent };
  if (verb === 'rollback') return to === undefined ? sentence : { kind: verb, ...listedBuilds, to, names };
  const listedKind = (['activate', 'abort', 'kill', 'withdraw', 'schedule', 'alarm'] as const).find(
    (known) => known === verb,
  );
  return listedKind ? { kind: listedKind, ...listedBuilds } : sentence;
}

function parseEvidence(line: string): Evidence | Sentence {
  const parsed = v.safeParse(evidenceSchema, jsonOrNull(line));
  return parsed.success ? parsed.output : { kind: 'text', text: line };
}

/** Parses a stored action; free text of earlier versions is returned as `text`. */
export const readAction = (stored: StoredAction): ReadAction => ({
  ...parseAction(stored),
  evidence: (stored.evidence ?? []).map(parseEvidence),
});
