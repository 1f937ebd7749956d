import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { messageOf, refused } from '../errors.ts';
import { issuesOf, parseJson } from '../model/build.ts';
import { siteBrand } from './siteBrand.ts';

/** Configuration of a site for its pages; `docs/deploying/settings.md` lists the fields. */
export type SiteConfig = Record<string, unknown>;

const text = v.optional(v.pipe(v.string(), v.nonEmpty('must not be empty')));
const wholeNumber = (most: number) =>
  v.pipe(v.number(), v.integer('must be a whole number'), v.minValue(1, 'must be 1 or more'), v.maxValue(most));
/** Channel of one user. Without `{id}`, all users would share it. */
const channel = v.pipe(v.string(), v.includes('{id}', 'must contain {id}, which stands for the user'));

const schema = v.strictObject({
  /** Parsed by `siteBrand`. */
  brand: v.optional(v.unknown()),
  rechargePackages: v.optional(
    v.array(
      v.strictObject({
        id: v.pipe(v.string(), v.regex(/^[\w-]{1,64}$/, 'must be 1 to 64 letters, digits, - or _')),
        points: wholeNumber(10_000_000),
        priceCents: wholeNumber(100_000_000),
        label: text,
      }),
    ),
  ),
  paymentProvider: v.optional(v.nullable(v.strictObject({ name: v.string(), checkoutUrl: v.string() }))),
  support: v.optional(v.strictObject({ operator: text, email: text, hours: text, wechat: text })),
  legal: v.optional(v.strictObject({ terms: text, privacy: text, version: text })),
  realtime: v.optional(
    v.strictObject({ key: text, host: text, port: v.optional(wholeNumber(65_535)), channel: v.optional(channel) }),
  ),
  devTools: v.optional(v.boolean()),
  /** Rules of a backend; each consumer parses the fields that it knows. */
  rules: v.optional(v.record(v.string(), v.unknown())),
});

/** Reads a site's configuration. Throws refused with `label`, each invalid field and the cure. */
export function readSiteConfig(file: string, label = file): SiteConfig {
  const parsed = v.safeParse(schema, parseJson(readText(file, label), label));
  if (!parsed.success)
    throw refused(
      `${label} is no configuration of a site`,
      'Correct what these lines name (docs/deploying/settings.md, HOST_CONFIG).',
      issuesOf(parsed.issues),
    );
  siteBrand(parsed.output.brand);
  return parsed.output;
}

function readText(file: string, label: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw refused(`${label} cannot be read (${messageOf(cause)})`, 'Correct the path, or the rights of the file.');
  }
}
