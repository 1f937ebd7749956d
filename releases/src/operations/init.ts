import { changeChannel, createChannel, type Writer } from '../channel/changeChannel.ts';
import { requireChannel } from '../channel/readChannel.ts';
import { conflict, refused } from '../errors.ts';
import { parseJson } from '../model/build.ts';
import { CHANNEL_LIFETIME_DAYS, type ChannelDocument } from '../model/channel.ts';
import type { OpenedStore } from '../store/openStore.ts';
import { probeStore } from '../store/probe.ts';
import type { Store } from '../store/store.ts';

const STORE_KEY = 'store.json';
const DAY = 86_400_000;

/** The store's public key, base64 SPKI; null if the place is no release store yet. */
export async function publicKeyOf(store: Store): Promise<string | null> {
  const source = await store.read(STORE_KEY);
  if (!source) return null;
  const value = parseJson(source.toString('utf8'), STORE_KEY);
  if (value instanceof Object && 'publicKey' in value && typeof value.publicKey === 'string') return value.publicKey;
  throw refused(`${STORE_KEY} of ${store.label} holds no public key`, 'Restore it from a copy of the store.');
}

export async function requirePublicKey(store: Store): Promise<string> {
  const publicKey = await publicKeyOf(store);
  if (publicKey) return publicKey;
  throw refused(
    `${store.label} is not a release store`,
    'Make it with `pnpm release init`, or name another with --store.',
  );
}

/** Makes a store ready: conditional writes proved, a key that fits, its public half on record. */
export async function prepareStore({ store, makeSigningKey, signingKey }: OpenedStore) {
  await probeStore(store);
  const known = await publicKeyOf(store);
  const key = known ? await signingKey() : await makeSigningKey();
  if (!key || (known && known !== key.publicKey))
    throw refused(
      `the signing key here is not the one of ${store.label}`,
      'Bring the right key to this machine, or use another store.',
    );
  await store.create(STORE_KEY, JSON.stringify({ format: 1, publicKey: key.publicKey }));
  if ((await requirePublicKey(store)) !== key.publicKey)
    throw conflict(`${store.label} was just made by someone else`, 'Use their signing key.');
  return key;
}

/** True when a document has lived long enough to be signed anew. */
export const isAgeing = (document: ChannelDocument, now: Date): boolean =>
  Date.parse(document.expires) - now.getTime() < (CHANNEL_LIFETIME_DAYS / 3) * 2 * DAY;

/** Signs the same state anew when its document ages, so that it never expires. */
export const renewChannel = (writer: Writer) =>
  changeChannel(writer, async (current) => {
    if (!isAgeing(current, writer.now())) return null;
    const { stable, candidate, lastGood, killed, digests } = current;
    const state = { stable, candidate, lastGood, killed, digests };
    return { state, action: { verb: 'renew', what: 'signed the same state anew', why: '' } };
  });

/** Makes the channel, or renews an existing one. */
export async function initChannel(writer: Writer) {
  await createChannel(writer);
  await requireChannel(writer.store, writer.channel, writer.key.publicKey);
  return renewChannel(writer);
}
