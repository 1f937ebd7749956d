import { dictionarySchema, instantSchema, textSchema } from '@liaozhai/shared/contract';
import * as v from 'valibot';
import { parseBuildId } from './ids.ts';

// Signed documents keep the fields they have always had: readers before this form drop what they do not know, and a
// document without a signed field no longer matches its signature. So an action is written into these fields as data.
export const storedActionSchema = v.object({
  verb: textSchema(20),
  who: textSchema(120),
  /** Build ids, then `5%` for a canary and `+12` for ids that found no room, separated by blanks; once it was a sentence. */
  what: textSchema(2000),
  why: textSchema(500),
  at: instantSchema,
  /** rollback only: the state gone back to, and the names that went (empty = all). */
  to: v.optional(v.pipe(v.number(), v.safeInteger())),
  names: v.optional(v.array(v.string())),
  /** What spoke for the change: JSON of an Evidence each; once they were sentences. */
  evidence: v.optional(v.pipe(v.array(textSchema(500)), v.maxLength(50))),
});

/** An action as the signed document holds it. */
export type StoredAction = v.InferOutput<typeof storedActionSchema>;

/** Build ids, and how many more there were than the document has room for. */
interface Named {
  builds: string[];
  more?: number;
}

/** What a change did. The words for it are found where it is shown. */
export type Action =
  | { kind: 'init' | 'renew' }
  | ({ kind: 'activate' | 'promote' | 'abort' | 'kill' | 'withdraw' } & Named)
  | ({ kind: 'canary'; percent: number } & Named)
  | ({ kind: 'rollback'; to: number; names: string[] } & Named);

/** One problem that the gate found. */
export interface Finding {
  check: string;
  problem: string;
}

const finite = v.pipe(v.number(), v.finite());

const evidenceSchema = v.variant('kind', [
  /** The gate's word against the change, or against a candidate that was dropped for it. */
  v.object({ kind: v.literal('finding'), check: v.string(), problem: v.string(), forced: v.boolean() }),
  /** A build left the candidate because another of its name went live for everyone. */
  v.object({ kind: v.literal('overtaken'), build: v.string() }),
  /** The candidate ended because it does not pass the gate over the new stable set. */
  v.object({ kind: v.literal('candidateDropped'), builds: v.array(v.string()), more: v.optional(finite) }),
  /** How a group of visitors fared when the automatic stop acted. */
  v.object({
    kind: v.literal('health'),
    group: v.picklist(['candidate', 'control']),
    visitors: finite,
    failedVisitors: finite,
    failures: dictionarySchema(v.string(), finite),
    p75LoadMilliseconds: v.nullable(finite),
  }),
  /** Why the automatic stop acted: chance explains the difference with this probability. */
  v.object({ kind: v.literal('verdict'), pValue: finite, alpha: finite }),
]);

/** What spoke for a change, as data. */
export type Evidence = v.InferOutput<typeof evidenceSchema>;

/** What an entry from before actions were data says; it is shown as it is. */
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
function fitting(builds: readonly string[], room: number): Named {
  const kept = [...builds];
  const tooLong = () => kept.join(' ').length > room;
  while (tooLong()) kept.pop();
  return { builds: kept, ...(kept.length < builds.length ? { more: builds.length - kept.length } : {}) };
}

const cut = (text: string, length: number): string => (text.length <= length ? text : `${text.slice(0, length - 1)}…`);

function wordsOf(action: Action): string {
  if (!('builds' in action)) return '';
  const { builds, more = 0 } = fitting(action.builds, LONGEST_WHAT - 40);
  const percent = action.kind === 'canary' ? [`${action.percent}%`] : [];
  return [...builds, ...percent, ...(more > 0 ? [`+${more}`] : [])].join(' ');
}

function storedEvidence(evidence: Evidence): string {
  const text = JSON.stringify(evidence);
  const excess = text.length - LONGEST_EVIDENCE;
  if (excess <= 0) return text;
  if (evidence.kind === 'candidateDropped')
    return JSON.stringify({ ...evidence, ...fitting(evidence.builds, LONGEST_EVIDENCE / 2) });
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

/** The ids, share and number of further ids that `what` holds; null for a sentence. */
function namedIn(what: string): (Named & { percent?: number }) | null {
  const named: Named & { percent?: number } = { builds: [] };
  for (const word of what.split(' ')) {
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
  if (verb === 'init' || verb === 'renew') return what === '' ? { kind: verb } : sentence;
  const { percent, ...named } = namedIn(what) ?? { builds: [] };
  if (named.builds.length === 0) return sentence;
  if (verb === 'canary') return percent === undefined ? sentence : { kind: verb, ...named, percent };
  if (verb === 'rollback') return to === undefined ? sentence : { kind: verb, ...named, to, names };
  const listed = (['activate', 'promote', 'abort', 'kill', 'withdraw'] as const).find((known) => known === verb);
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
