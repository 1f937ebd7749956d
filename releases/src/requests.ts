import { textSchema } from '@liaozhai/shared/contract';
import * as v from 'valibot';
import { usage } from './errors.ts';
import { windowSchema } from './model/action.ts';
import { FORWARD_FIELDS } from './model/agenda.ts';
import { buildWordParts } from './model/build.ts';
import { issuesOf } from './model/documents.ts';
import type { PermissionRequest } from './operations/tokens.ts';
import { say } from './sentences.ts';

const build = textSchema(160);
const why = v.optional(textSchema(500));
const seq = v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(1)));
const reason = { why, seq };
const force = v.optional(v.boolean());
/** Any text: what is unknown is refused with advice, which a schema error would lack. */
const id = textSchema(80, 1);
const name = v.optional(id);
/** The name again, as typed. Another text is refused with the name to type. */
const confirm = v.optional(textSchema(80));
const hours = v.pipe(v.number(), v.gtValue(0), v.maxValue(168));

/** An object with exactly these fields. `strictObject` alone accepts an array if every field is optional. */
const bodySchema = <Entries extends v.ObjectEntries>(entries: Entries) =>
  v.pipe(
    v.unknown(),
    v.check((value) => !Array.isArray(value), 'must be an object'),
    v.strictObject(entries),
  );

/** Bodies of `POST /v1/<verb>`. */
export const BODIES = {
  check: bodySchema({ builds: v.pipe(v.array(build), v.maxLength(300)) }),
  activate: bodySchema({ ...FORWARD_FIELDS.activate, seq }),
  canary: bodySchema({ ...FORWARD_FIELDS.canary, seq }),
  promote: bodySchema({ ...FORWARD_FIELDS.promote, seq }),
  schedule: bodySchema({ ...FORWARD_FIELDS.schedule, seq }),
  approval: bodySchema({ ...FORWARD_FIELDS.approval, seq }),
  approve: bodySchema({ id, why }),
  reject: bodySchema({ id, why }),
  retract: bodySchema({ id, why }),
  pause: bodySchema({ name, ...reason }),
  continue: bodySchema({ name, ...reason }),
  cancel: bodySchema({ name, ...reason }),
  freeze: bodySchema({ window: windowSchema, why: textSchema(200), seq }),
  unfreeze: bodySchema({ id, ...reason }),
  webhook: bodySchema({ url: textSchema(2000, 1) }),
  'webhook-remove': bodySchema({ id, ...reason }),
  'webhook-test': bodySchema({ id }),
  abort: bodySchema({ name, ...reason, force }),
  rollback: bodySchema({ name, to: seq, ...reason, force }),
  withdraw: bodySchema({ name: id, confirm, ...reason }),
  kill: bodySchema({ build, confirm, ...reason, force }),
  override: bodySchema({ builds: FORWARD_FIELDS.activate.builds, hours: v.optional(hours, 2), why }),
  preview: bodySchema({
    request: textSchema(1200, 3),
    person: textSchema(60, 1),
    hours: v.optional(hours, 4),
    ...reason,
  }),
  'preview-end': bodySchema({ browser: textSchema(40), ...reason }),
} as const;

export type Verb = keyof typeof BODIES;
export const VERBS = Object.keys(BODIES) as Verb[];
export type Body<Name extends Verb> = v.InferOutput<(typeof BODIES)[Name]>;

/** Parses a request body. Throws usage. */
export function parseBody<Name extends Verb>(verb: Name, value: unknown): Body<Name> {
  const parsed = v.safeParse(BODIES[verb], value);
  if (parsed.success) return parsed.output as Body<Name>;
  throw usage(say('wrongBody', { verb, problem: issuesOf(parsed.issues).join(', ') }), say('wrongBodyCure'));
}

/** Translates a body to the request that `refusal` judges. Throws usage for a word that is not a build. */
export function wishOf(verb: Verb, body: Partial<Body<Verb>>): PermissionRequest {
  const words = 'builds' in body ? (body.builds ?? []) : 'build' in body && body.build ? [body.build] : [];
  const namedRemotes = 'name' in body && body.name ? [body.name] : [];
  return {
    verb,
    names: [...words.map((word) => buildWordParts(word).name), ...namedRemotes],
    force: 'force' in body ? body.force : false,
    frozen: 'despiteFreeze' in body && Boolean(body.despiteFreeze),
  };
}
