import { randomBytes } from 'node:crypto';
import { dictionarySchema, HOUR_MS, instantSchema, isName } from '@liaozhai/shared/contract';
import * as v from 'valibot';
import { assertPublished } from '../builds/catalog.ts';
import { type Change, changeChannel } from '../channel/changeChannel.ts';
import { currentDocument } from '../channel/readChannel.ts';
import { timeOf, type Writer } from '../channel/writer.ts';
import { findingLine } from '../english.ts';
import { gone, refused, usage } from '../errors.ts';
import { addedMisfits } from '../gate/fit.ts';
import { HOST_NAME, makeSet, mergeBuilds } from '../model/build.ts';
import { liveIn } from '../model/channel.ts';
import { signedOrNull } from '../model/documents.ts';
import { signedJson } from '../model/signing.ts';
import type { Body } from '../requests.ts';
import { say } from '../sentences.ts';
import { namesBelow, type Store } from '../store/store.ts';

const OVERRIDE_ID = /^[\w-]{22}$/;
const signedFields = {
  channel: v.string(),
  expires: instantSchema,
  who: v.string(),
  why: v.string(),
  at: instantSchema,
  sig: v.string(),
};
const overrideSchema = v.object({
  ...signedFields,
  id: v.string(),
  builds: v.pipe(v.array(v.string()), v.minLength(1)),
  digests: dictionarySchema(v.string(), v.string()),
});

/** `overrides/<channel>/<id>.json`, signed: builds over stable for browsers with its id, until it expires. */
export type Override = v.InferOutput<typeof overrideSchema>;

const overrideKey = (channel: string, id: string): string => `overrides/${channel}/${id}.json`;

/** Returns the address of the site that serves a channel, or null if it is not configured. */
export type SiteOf = (channel: string) => string | null;

/** Reads RELEASES_SITE: one address, or `production=https://app.example,preview=https://preview.example`. Throws usage. */
export function sitesFrom(text = ''): SiteOf {
  const sites = new Map<string, string>();
  for (const item of text.split(',').filter((part) => part.trim())) {
    const [, channel = '', address = ''] = /^(?:([a-z][a-z0-9-]*)=)?(.*)$/.exec(item.trim()) ?? [];
    if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol))
      throw usage(
        `RELEASES_SITE: "${address}" is not an address`,
        'Use https://app.example, or production=https://app.example,preview=https://preview.example.',
      );
    sites.set(channel, new URL(address).origin);
  }
  return (channel) => sites.get(channel) ?? sites.get('') ?? null;
}

/** Records an override. Throws refused for missing or killed builds, and misfits. */
export async function createOverride(
  writer: Writer,
  builds: readonly string[],
  hours: number,
  why = '',
): Promise<Omit<Override, 'sig'>> {
  const document = await currentDocument(writer);
  const killedBuilds = builds.filter((id) => document.killed.includes(id));
  if (killedBuilds.length > 0) throw refused(say('killed', { builds: killedBuilds.join(', ') }), say('killedCure'));
  const live = liveIn(document);
  const records = await writer.catalog.records(mergeBuilds(live, builds));
  makeSet(records);
  await assertPublished(writer.store, builds);
  const misfits = addedMisfits(records, await writer.catalog.records(live));
  if (misfits.length > 0)
    throw refused(say('buildsUnfit', { builds: builds.join(', ') }), say('linkUnfitCure'), misfits.map(findingLine));
  const overriddenRecords = records.filter((record) => builds.includes(record.id));
  const at = await timeOf(writer);
  const unsigned = {
    id: randomBytes(16).toString('base64url'),
    channel: writer.channel,
    builds: [...builds],
    digests: Object.fromEntries(overriddenRecords.map((record) => [record.id, record.digest])),
    expires: new Date(at.getTime() + hours * HOUR_MS).toISOString(),
    who: writer.who,
    why,
    at: at.toISOString(),
  };
  await writer.store.create(overrideKey(writer.channel, unsigned.id), signedJson(unsigned, writer.key));
  return unsigned;
}

/** Returns a page that shows the builds: their first route without parameters, else the front page. */
export async function pageOf({ catalog }: Pick<Writer, 'catalog'>, builds: readonly string[]): Promise<string> {
  const records = await catalog.records(builds);
  const paths = records.flatMap(({ description }) =>
    description.kind === 'remote' ? description.routes.map(({ path }) => path) : [],
  );
  return paths.find((path) => !/[:*]/.test(path)) ?? '/';
}

/** Reads a valid override; null if it is unknown, of another channel, unsigned or expired. */
export async function readOverride(
  store: Store,
  channel: string,
  id: string,
  publicKey: string,
  now: Date,
): Promise<Override | null> {
  if (!OVERRIDE_ID.test(id)) return null;
  const override = signedOrNull(await store.read(overrideKey(channel, id)), overrideSchema, publicKey);
  if (override?.id !== id || override.channel !== channel || Date.parse(override.expires) <= now.getTime()) return null;
  return override;
}

/** A remote that a browser loads from a dev server instead of the store. */
export interface LocalRemote {
  name: string;
  origin: string;
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];
const MAX_REMOTES = 8;

/** True if an origin is on the visitor's own machine. */
export const isLoopback = (origin: string): boolean => LOOPBACK.includes(new URL(origin).hostname);

/** Parses `stories@http://localhost:3101`: a remote and its dev server, which must be loopback or https. Throws usage. */
function parseLocalRemote(word: string): LocalRemote {
  const [, name = '', address = ''] = /^([^@]*)@(.*)$/.exec(word) ?? [];
  if (!isName(name) || name === HOST_NAME)
    throw usage(say('namesNoRemote', { text: word.slice(0, 80) }), say('remoteCure'));
  const url = URL.canParse(address) ? new URL(address) : null;
  if (!url || !/^https?:$/.test(url.protocol) || `${url.origin}/` !== url.href || url.origin.length > 100)
    throw usage(say('noDevServer', { text: address.slice(0, 80) }), say('noDevServerCure'));
  if (url.protocol === 'http:' && !isLoopback(url.origin))
    throw usage(say('neitherHere', { origin: url.origin }), say('neitherHereCure'));
  return { name, origin: url.origin };
}

/** `stories@http://localhost:3101`, the form in links, log and requests. */
export const localRemoteWord = ({ name, origin }: LocalRemote): string => `${name}@${origin}`;

/** Parses local remotes, sorted by name. Throws usage for none, too many or duplicates. */
export function parseLocalRemotes(words: readonly string[]): LocalRemote[] {
  const remotes = words.map(parseLocalRemote).sort((a, b) => (a.name < b.name ? -1 : 1));
  if (remotes.length === 0 || remotes.length > MAX_REMOTES)
    throw usage(say('manyRemotes', { most: MAX_REMOTES }), say('remoteCure'));
  const duplicate = remotes.find(({ name }, at) => remotes[at - 1]?.name === name);
  if (duplicate) throw usage(say('namedTwice', { name: duplicate.name }), say('namedTwiceCure'));
  return remotes;
}

const MAX_PERSON = 60;
const BROWSER = /^[0-9a-f]{32}$/;
const previewSchema = v.object({
  ...signedFields,
  /** Hash of a secret that is stored in one browser. */
  browser: v.string(),
  remotes: v.array(v.string()),
  person: v.string(),
  revoked: v.nullable(instantSchema),
});

/**
 * `previews/<channel>/<browser>.json`, signed: a temporary permission for one browser to run remotes from a dev server. A browser has
 * at most one.
 */
export type Preview = v.InferOutput<typeof previewSchema>;

const previewKey = (channel: string, browser: string): string => `previews/${channel}/${browser}.json`;

async function readStoredPreview(store: Store, channel: string, browser: string, publicKey: string) {
  const pointer = BROWSER.test(browser) ? await store.readPointer(previewKey(channel, browser)) : null;
  const preview = signedOrNull(pointer?.body, previewSchema, publicKey);
  // a permission copied to another browser's file is invalid
  const isOwn = preview?.browser === browser && preview.channel === channel;
  return { preview: isOwn ? preview : null, tag: pointer?.tag ?? null };
}

const isValid = ({ revoked, expires }: Preview, now: Date): boolean =>
  revoked === null && Date.parse(expires) > now.getTime();

/** Reads a browser's valid permission; null if it is missing, forged, revoked or expired. */
export async function readPreview(
  store: Store,
  channel: string,
  browser: string,
  publicKey: string,
  now: Date,
): Promise<Preview | null> {
  const { preview } = await readStoredPreview(store, channel, browser, publicKey);
  return preview && isValid(preview, now) ? preview : null;
}

/** Lists a channel's valid permissions, newest first. */
export async function listPreviews(store: Store, channel: string, publicKey: string, now: Date): Promise<Preview[]> {
  const browsers = await namesBelow(store, `previews/${channel}/`);
  const previews = await Promise.all(browsers.map((browser) => readPreview(store, channel, browser, publicKey, now)));
  return previews.filter((preview) => preview !== null).sort((a, b) => (a.at < b.at ? 1 : -1));
}

/** Removes revoked and expired permissions. Damaged ones stay for inspection. Returns the number removed. */
export async function sweepPreviews(store: Store, publicKey: string, now: Date): Promise<number> {
  let removed = 0;
  for (const channel of await namesBelow(store, 'previews/')) {
    for (const browser of await namesBelow(store, `previews/${channel}/`)) {
      const { preview, tag } = await readStoredPreview(store, channel, browser, publicKey);
      if (!preview || tag === null || isValid(preview, now)) continue;
      if (await store.removePointer(previewKey(channel, browser), tag)) removed += 1;
    }
  }
  return removed;
}

async function storePreview(writer: Writer, unsigned: Omit<Preview, 'sig'>): Promise<void> {
  const body = signedJson(unsigned, writer.key);
  for (;;) {
    const { tag } = await readStoredPreview(writer.store, writer.channel, unsigned.browser, writer.key.publicKey);
    if (await writer.store.swapPointer(previewKey(writer.channel, unsigned.browser), body, tag)) return;
  }
}

/** Permits one browser to run remotes from a dev server. Logged before it takes effect. Throws usage or refused. */
export async function openPreview(writer: Writer, request: Body<'preview'>): Promise<Change> {
  const { hours, why = '' } = request;
  // `request` is a line of the page, `stories@http://localhost:3101 <browser>`, which it shows both alone and quoted in a command
  const line = /'([^']*)'/.exec(request.request)?.[1] ?? request.request;
  const words = line.split(/\s+/).filter(Boolean);
  const browser = words.find((word) => BROWSER.test(word));
  if (!browser) throw usage(say('noBrowser'), say('noBrowserCure'));
  const remotes = parseLocalRemotes(words.filter((word) => word !== browser)).map(localRemoteWord);
  // lone surrogates cannot be stored in the log
  const person = request.person.replace(/[\ud800-\udfff]/gu, '').trim();
  if (!person || person.length > MAX_PERSON) throw usage(say('forNobody'), say('forNobodyCure', { most: MAX_PERSON }));
  const at = await timeOf(writer);
  const expires = new Date(at.getTime() + hours * HOUR_MS).toISOString();
  const change = await changeChannel(writer, async () => ({
    action: { kind: 'preview', person, browser, remotes, expires },
    why,
  }));
  const { channel, who } = writer;
  const dated = { expires, at: at.toISOString(), revoked: null };
  await storePreview(writer, { browser, channel, remotes, person, who, why, ...dated });
  return change;
}

/** Revokes the permission immediately. Logged before, as all changes are. Throws refused if the browser has none. */
export async function endPreview(writer: Writer, browser: string, { why }: { why?: string } = {}) {
  const { store, channel, key } = writer;
  const at = await timeOf(writer);
  const preview = await readPreview(store, channel, browser, key.publicKey, at);
  if (!preview) throw gone('preview', say('noPreview', { id: browser.slice(0, 80) }), say('noPreviewCure'));
  const { sig: _, ...unsigned } = preview;
  const { person, remotes } = preview;
  const change = await changeChannel(writer, async () => ({
    action: { kind: 'preview-end', person, browser, remotes },
    why,
  }));
  await storePreview(writer, { ...unsigned, revoked: at.toISOString() });
  return change;
}
