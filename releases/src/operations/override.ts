import { randomBytes } from 'node:crypto';
import { dictionarySchema, instantSchema } from '@liaozhai/shared/contract';
import * as v from 'valibot';
import { assertPublished } from '../builds/catalog.ts';
import { timeOf, type Writer } from '../channel/changeChannel.ts';
import { requireChannel } from '../channel/readChannel.ts';
import { refused } from '../errors.ts';
import { mergeBuilds } from '../model/ids.ts';
import { makeSet } from '../model/set.ts';
import { canonicalJson, isSigned, signText } from '../model/signing.ts';
import type { Store } from '../store/store.ts';

const OVERRIDE_ID = /^[\w-]{22}$/;
const LONGEST_HOURS = 7 * 24;
const overrideSchema = v.object({
  id: v.string(),
  channel: v.string(),
  builds: v.pipe(v.array(v.string()), v.minLength(1)),
  digests: dictionarySchema(v.string(), v.string()),
  expires: instantSchema,
  who: v.string(),
  why: v.string(),
  at: instantSchema,
  sig: v.string(),
});

/** Builds over stable for whoever carries its id, until it expires: `overrides/<channel>/<id>.json`, signed. */
export type Override = v.InferOutput<typeof overrideSchema>;

const overrideKey = (channel: string, id: string): string => `overrides/${channel}/${id}.json`;

/** Records an override. Throws refused for missing or killed builds and for spans over a week. */
export async function createOverride(
  writer: Writer,
  builds: readonly string[],
  hours: number,
  why = '',
): Promise<Override> {
  if (!(hours > 0 && hours <= LONGEST_HOURS))
    throw refused(`an override lasts up to ${LONGEST_HOURS} hours`, 'Use e.g. --for 2h.');
  const { document } = await requireChannel(writer.store, writer.channel, writer.key.publicKey);
  const dead = builds.filter((id) => document.killed.includes(id));
  if (dead.length > 0) throw refused(`${dead.join(', ')} was killed and never runs again`, 'Publish a new version.');
  const all = await writer.catalog.records(mergeBuilds(document.stable?.builds ?? [], builds));
  makeSet(all);
  await assertPublished(writer.store, builds);
  const named = all.filter((record) => builds.includes(record.id));
  const at = await timeOf(writer);
  const unsigned = {
    id: randomBytes(16).toString('base64url'),
    channel: writer.channel,
    builds: [...builds],
    digests: Object.fromEntries(named.map((record) => [record.id, record.digest])),
    expires: new Date(at.getTime() + hours * 3_600_000).toISOString(),
    who: writer.who,
    why,
    at: at.toISOString(),
  };
  const override = { ...unsigned, sig: signText(canonicalJson(unsigned), writer.key) };
  await writer.store.create(overrideKey(writer.channel, override.id), canonicalJson(override));
  return override;
}

/** A recorded override that still holds, or null: unknown, foreign, unsigned and expired ones are all the same to a visitor. */
export async function readOverride(
  store: Store,
  channel: string,
  id: string,
  publicKey: string,
  now: Date,
): Promise<Override | null> {
  if (!OVERRIDE_ID.test(id)) return null;
  const source = await store.read(overrideKey(channel, id));
  const parsed = source && v.safeParse(overrideSchema, JSON.parse(source.toString('utf8')));
  if (!parsed?.success || parsed.output.id !== id || parsed.output.channel !== channel) return null;
  const { sig, ...unsigned } = parsed.output;
  return isSigned(canonicalJson(unsigned), sig, publicKey) && Date.parse(unsigned.expires) > now.getTime()
    ? parsed.output
    : null;
}
