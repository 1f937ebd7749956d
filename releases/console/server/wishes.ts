import { z } from 'zod';
import { usage } from '../../src/errors.ts';
import { issuesOf } from '../../src/model/build.ts';
import { isName } from '../../src/model/ids.ts';
import { nameInWord, type Wish } from './authorise.ts';

const build = z.string().min(3).max(160);
const builds = z.array(build).max(300);
const reason = { why: z.string().max(500).optional(), seq: z.number().int().min(1).optional() };
const force = z.boolean().optional();

/** The bodies of `POST /v1/<verb>`. */
export const BODIES = {
  check: z.strictObject({ builds }),
  activate: z.strictObject({ builds: builds.min(1), ...reason, force }),
  canary: z.strictObject({ builds: builds.default([]), percent: z.number().min(0).max(100), ...reason, force }),
  promote: z.strictObject({ ...reason, force }),
  abort: z.strictObject({ ...reason, force }),
  rollback: z.strictObject({
    name: z.string().refine(isName).optional(),
    to: z.number().int().min(1).optional(),
    ...reason,
  }),
  kill: z.strictObject({ build, ...reason }),
  override: z.strictObject({
    builds: builds.min(1),
    hours: z.number().positive().max(168).default(2),
    why: reason.why,
  }),
} as const;

export type Verb = keyof typeof BODIES;
export type Body<Name extends Verb> = z.infer<(typeof BODIES)[Name]>;

/** Checks a request's body. Throws usage. */
export function parseBody<Name extends Verb>(verb: Name, value: unknown): Body<Name> {
  const parsed = BODIES[verb].safeParse(value);
  if (parsed.success) return parsed.data as Body<Name>;
  throw usage(
    `the body of ${verb} is wrong: ${issuesOf(parsed.error).join('; ')}`,
    'See "HTTP API" in releases/README.md.',
  );
}

/** What a body asks for, in the words of authorise. */
export function wishOf(verb: Verb, body: Partial<Body<Verb>>): Wish {
  const words = 'builds' in body ? (body.builds ?? []) : 'build' in body && body.build ? [body.build] : [];
  const named = 'name' in body && body.name ? [body.name] : [];
  return { verb, names: [...words.map(nameInWord), ...named], force: 'force' in body ? body.force : false };
}
