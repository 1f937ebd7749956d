import { dictionarySchema, instantSchema, textSchema, vitalMetrics } from '@liaozhai/shared/contract';
import * as v from 'valibot';
import { parseBuildId } from './build.ts';

// Signed documents keep the fields they have always had: readers before this form drop what they do not know, and a
// document without a signed field no longer matches its signature. So an action is written into these fields as data.
export const storedActionSchema = v.object({
  verb: textSchema(20),
  who: textSchema(120),
  /** Build ids, then `5%` for a canary, `from:preview#12` or `into:…` for another channel and `+12` for ids that found no room, separated by blanks. */
  what: textSchema(2000),
  why: textSchema(500),
  at: instantSchema,
  /** rollback only: the state gone back to, and the names that went (empty = all). */
  to: v.optional(v.pipe(v.number(), v.safeInteger())),
  names: v.optional(v.array(v.string())),
  /** What spoke for the change: JSON of an Evidence each. */
  evidence: v.optional(v.pipe(v.array(textSchema(500)), v.maxLength(50))),
});

/** An action as the signed document holds it. */
export type StoredAction = v.InferOutput<typeof storedActionSchema>;

/** Build ids, and how many more there were than the document has room for. */
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
interface Previewed {
  kind: 'preview' | 'preview-end';
  person: string;
  browser: string;
  /** `stories@http://localhost:3101` */
  remotes: string[];
  /** When it ends automatically. */
  expires?: string;
}

/** What a change did. The words for it are found where it is shown. */
export type Action =
  | { kind: 'init' | 'renew' }
  | Previewed
  | ({ kind: 'activate' | 'abort' | 'kill' | 'withdraw' } & ListedBuilds)
  /** A build began to fail for everybody; nothing was switched. */
  | ({ kind: 'alarm' } & ListedBuilds)
  | ({ kind: 'promote'; from?: ForeignState } & ListedBuilds)
  | ({ kind: 'promoted'; into: ForeignState } & ListedBuilds)
  | ({ kind: 'seed'; from: ForeignState } & ListedBuilds)
  /** Of what stands beside the channel; what it was stands in the evidence. */
  | { kind: 'freeze' | 'webhook' | 'approval' }
  | ({ kind: 'schedule' } & ListedBuilds)
  /** What waits for a second person, who may be one for a rule: then it names no builds. */
  | ({ kind: 'proposal' } & ListedBuilds)
  | ({ kind: 'canary'; percent: number } & ListedBuilds)
  | ({ kind: 'rollback'; to: number; names: string[] } & ListedBuilds);

/** One problem that the gate found. */
export interface Finding {
  check: string;
  problem: string;
}

const finite = v.pipe(v.number(), v.finite());

const minute = v.pipe(finite, v.safeInteger(), v.minValue(0), v.maxValue(7 * 24 * 60 - 1));

/** When nothing may be switched forward. */
export const windowSchema = v.variant('kind', [
  v.object({ kind: v.literal('once'), from: instantSchema, to: instantSchema }),
  /** Minutes since Monday 0:00 by the zone's own clocks; `to` before `from` goes over the end of the week. */
  v.object({ kind: v.literal('weekly'), from: minute, to: minute, zone: textSchema(60, 1) }),
]);

const countsSchema = v.object({ visitors: finite, failedVisitors: finite });

const evidenceSchema = v.variant('kind', [
  /** The gate's word against the change, or against a candidate that was dropped for it. */
  v.object({ kind: v.literal('finding'), check: v.string(), problem: v.string(), forced: v.boolean() }),
  /** A build left the candidate because another of its name went live for everyone. */
  v.object({ kind: v.literal('overtaken'), build: v.string() }),
  /** The candidate ended because it does not pass the gate over the new stable set. */
  v.object({ kind: v.literal('candidateDropped'), builds: v.array(v.string()), more: v.optional(finite) }),
  /** The candidate ended because a way back took a name of it. */
  v.object({ kind: v.literal('candidateEnded'), builds: v.array(v.string()), more: v.optional(finite) }),
  /** A build that everybody ran was taken away, and this one took its place; null = none did. */
  v.object({ kind: v.literal('replaced'), build: v.string(), by: v.nullable(v.string()) }),
  /** The gate opened no browser. */
  v.object({ kind: v.literal('unseen') }),
  /** Former builds that a rollback did not stop at: they do not fit what runs now. */
  v.object({ kind: v.literal('passedOver'), builds: v.array(v.string()), more: v.optional(finite) }),
  /** How a group of visitors fared when the automatic stop acted. */
  v.object({
    kind: v.literal('health'),
    group: v.picklist(['candidate', 'control']),
    visitors: finite,
    failedVisitors: finite,
    failures: dictionarySchema(v.string(), finite),
    p75LoadMilliseconds: v.nullable(finite),
  }),
  /** Why it alarmed: its visitors of the last minutes, and those of the same remote before. */
  v.object({ kind: v.literal('alarm'), minutes: finite, recent: countsSchema, before: countsSchema }),
  /** Why the automatic stop acted: chance explains the difference with this probability. */
  v.object({ kind: v.literal('verdict'), pValue: finite, alpha: finite }),
  /** The other reason why it acted: a build's pages were slower, by this p75 in ms of so many pages. */
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
  /** What became of a schedule; `steps` as in `5@now,25@1h`, of which so many are taken. */
  v.object({
    kind: v.literal('schedule'),
    change: v.picklist(['set', 'paused', 'continued', 'cancelled', 'waits', 'ended', 'refused', 'revoked']),
    steps: v.string(),
    taken: finite,
    id: v.optional(v.string()),
  }),
  /** The change is a step of a schedule that this person made. */
  v.object({ kind: v.literal('step'), step: finite, of: finite, by: v.string() }),
  /** Why a step waits: too few visitors of a group, */
  v.object({ kind: v.literal('tooFew'), tried: finite, control: finite, enough: finite }),
  /** or more failures than chance makes likely, */
  v.object({ kind: v.literal('failing'), pValue: finite, limit: finite }),
  /** or a freeze window. */
  v.object({ kind: v.literal('frozen'), reason: v.string(), until: v.string() }),
  v.object({
    kind: v.literal('freeze'),
    change: v.picklist(['added', 'removed']),
    window: windowSchema,
    reason: v.string(),
  }),
  v.object({ kind: v.literal('webhook'), change: v.picklist(['added', 'removed']), address: v.string() }),
  /** The rule by now: a proposal waits so many hours for a second person; null = one person decides. */
  v.object({ kind: v.literal('approvalRule'), hours: v.nullable(finite) }),
  /** What became of a proposal of this person; the digests are those of the state before and after it. */
  v.object({
    kind: v.literal('proposal'),
    id: v.string(),
    change: v.picklist(['proposed', 'approved', 'rejected', 'withdrawn', 'expired', 'interrupted']),
    what: v.picklist(['activate', 'canary', 'promote', 'schedule', 'approval']),
    by: v.string(),
    before: v.string(),
    after: v.string(),
  }),
  /** This person proposed the change, and the person who carried it out is the second one. */
  v.object({ kind: v.literal('approved'), proposal: v.string(), by: v.string() }),
  /** The change was made in a freeze window, for a reason. */
  v.object({ kind: v.literal('freezeOverridden'), freeze: v.string(), reason: v.string() }),
]);

/** What spoke for a change, as data. */
export type Evidence = v.InferOutput<typeof evidenceSchema>;

/** An entry that this version cannot read as data; it is shown as it is. */
interface Sentence {
  kind: 'text';
  text: string;
}

/** An action as it is read, with what spoke for it. */
export type ReadAction = (Action | Sentence) & { evidence: (Evidence | Sentence)[] };

const LONGEST_WHAT = 2000;
const LONGEST_EVIDENCE = 500;
const MOST_EVIDENCE = 50;

/** As many of the ids as fit, whole, and the number of those that do not. */
function fitting(builds: readonly string[], room: number): ListedBuilds {
  const fit = [...builds];
  const tooLong = () => fit.join(' ').length > room;
  while (tooLong()) fit.pop();
  return { builds: fit, ...(fit.length < builds.length ? { more: builds.length - fit.length } : {}) };
}

const cut = (text: string, length: number): string => (text.length <= length ? text : `${text.slice(0, length - 1)}…`);

const wordsOfPreview = ({ person, browser, remotes, expires }: Previewed): string =>
  [
    ...remotes,
    `browser:${browser}`,
    `person:${encodeURIComponent(person)}`,
    ...(expires ? [`until:${expires}`] : []),
  ].join(' ');

/** Null for a sentence. */
function previewIn(what: string): Omit<Previewed, 'kind'> | null {
  const words = what.split(' ');
  const named = (key: string) => words.find((word) => word.startsWith(`${key}:`))?.slice(key.length + 1);
  const [browser, person, expires] = [named('browser'), named('person'), named('until')];
  const remotes = words.filter((word) => /^[a-z0-9-]+@https?:/.test(word));
  if (!browser || !person || remotes.length === 0) return null;
  return { person: decodeURIComponent(person), browser, remotes, ...(expires ? { expires } : {}) };
}

function wordsOf(action: Action): string {
  if ('person' in action) return wordsOfPreview(action);
  if (!('builds' in action)) return '';
  const about = [
    ...(action.kind === 'canary' ? [`${action.percent}%`] : []),
    ...('from' in action && action.from ? [`from:${wordOfPlace(action.from)}`] : []),
    ...('into' in action ? [`into:${wordOfPlace(action.into)}`] : []),
  ];
  const { builds, more = 0 } = fitting(action.builds, LONGEST_WHAT - 40 - about.join(' ').length);
  return [...builds, ...about, ...(more > 0 ? [`+${more}`] : [])].join(' ');
}

/** `preview#12`, with another store's name behind it. */
const wordOfPlace = ({ channel, seq, store }: ForeignState): string =>
  `${channel}#${seq}${store ? `@${encodeURIComponent(cut(store, 100))}` : ''}`;

function placeIn(word: string): ForeignState | undefined {
  const [, channel, seq, store] = /^([a-z][a-z0-9-]*)#(\d+)(?:@(\S+))?$/.exec(word) ?? [];
  if (!channel) return undefined;
  return { channel, seq: Number(seq), ...(store ? { store: decodeURIComponent(store) } : {}) };
}

function storedEvidence(evidence: Evidence): string {
  const text = JSON.stringify(evidence);
  const excess = text.length - LONGEST_EVIDENCE;
  if (excess <= 0) return text;
  if ('builds' in evidence) return JSON.stringify({ ...evidence, ...fitting(evidence.builds, LONGEST_EVIDENCE / 2) });
  // escaped characters are longer in the text than in the problem, so one cut may not be enough
  if (evidence.kind === 'finding')
    return storedEvidence({ ...evidence, problem: cut(evidence.problem, evidence.problem.length - excess) });
  return JSON.stringify({ ...evidence, failures: {} });
}

/** An action as a document holds it; long lists and texts are cut to what there is room for. */
export function storeAction(
  action: Action,
  { who, why, at, evidence = [] }: { who: string; why: string; at: string; evidence?: readonly Evidence[] },
): StoredAction {
  return {
    verb: action.kind,
    who: cut(who, 120),
    what: wordsOf(action),
    why: cut(why, 500),
    at,
    ...(action.kind === 'rollback' ? { to: action.to, names: action.names } : {}),
    ...(evidence.length > 0 ? { evidence: evidence.slice(0, MOST_EVIDENCE).map(storedEvidence) } : {}),
  };
}

type ReadNamed = ListedBuilds & { percent?: number; from?: ForeignState; into?: ForeignState };

/** The ids, share, number of further ids and other channel that `what` holds; null for a sentence. */
function namedIn(what: string): ReadNamed | null {
  const named: ReadNamed = { builds: [] };
  for (const word of what.split(' ')) {
    const [, side, place = ''] = /^(from|into):(.*)$/.exec(word) ?? [];
    if (side === 'from' || side === 'into') {
      named[side] = placeIn(place);
      continue;
    }
    const [, percent, more] = /^(?:(\d+(?:\.\d+)?(?:e-\d+)?)%|\+(\d+))$/.exec(word) ?? [];
    if (percent) named.percent = Number(percent);
    else if (more) named.more = Number(more);
    else if (parseBuildId(word)) named.builds.push(word);
    else return null;
  }
  return named.builds.length > 0 ? named : null;
}

function actionOf({ verb, what, to, names = [] }: StoredAction): Action | Sentence {
  const sentence: Sentence = { kind: 'text', text: what };
  if (verb === 'init' || verb === 'renew' || verb === 'freeze' || verb === 'webhook' || verb === 'approval')
    return what === '' ? { kind: verb } : sentence;
  if (verb === 'preview' || verb === 'preview-end') {
    const preview = previewIn(what);
    return preview ? { kind: verb, ...preview } : sentence;
  }
  const read: ReadNamed = namedIn(what) ?? { builds: [] };
  const { percent, from, into, ...named } = read;
  if (verb === 'proposal') return { kind: verb, ...named };
  if (named.builds.length === 0) return sentence;
  if (verb === 'promote') return { kind: verb, ...named, ...(from ? { from } : {}) };
  if (verb === 'seed') return from ? { kind: verb, ...named, from } : sentence;
  if (verb === 'promoted') return into ? { kind: verb, ...named, into } : sentence;
  if (verb === 'canary') return percent === undefined ? sentence : { kind: verb, ...named, percent };
  if (verb === 'rollback') return to === undefined ? sentence : { kind: verb, ...named, to, names };
  const listed = (['activate', 'abort', 'kill', 'withdraw', 'schedule', 'alarm'] as const).find(
    (known) => known === verb,
  );
  return listed ? { kind: listed, ...named } : sentence;
}

function evidenceOf(line: string): Evidence | Sentence {
  try {
    const parsed = v.safeParse(evidenceSchema, JSON.parse(line));
    return parsed.success ? parsed.output : { kind: 'text', text: line };
  } catch (cause) {
    if (cause instanceof SyntaxError) return { kind: 'text', text: line };
    throw cause;
  }
}

/** What a document's action says; what was written as a sentence comes back as `text`. */
export const readAction = (stored: StoredAction): ReadAction => ({
  ...actionOf(stored),
  evidence: (stored.evidence ?? []).map(evidenceOf),
});
