import * as v from 'valibot';

const schema = v.object({
  channel: v.string(),
  seq: v.number(),
  stable: v.nullable(v.object({ set: v.string() })),
  candidate: v.nullable(v.object({ set: v.string() })),
  killed: v.array(v.string()),
  expires: v.string(),
});

/** What an open page needs of `channels/<name>.json`. */
export type ChannelDocument = v.InferOutput<typeof schema>;

const bytesOf = (base64: string) =>
  Uint8Array.from(atob(base64.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));

/** Whether the text was signed over by the key. Unknown where the browser has no WebCrypto: on plain http. */
async function isSigned(text: string, signature: string, publicKey: string): Promise<boolean> {
  // such a page came unsigned itself, and the document can only make it reload
  if (!crypto.subtle) return true;
  const ecdsa = { name: 'ECDSA', namedCurve: 'P-256' };
  const key = await crypto.subtle.importKey('spki', bytesOf(publicKey), ecdsa, false, ['verify']);
  const signed = new TextEncoder().encode(text);
  return crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, bytesOf(signature), signed);
}

interface Expectation {
  channel: string;
  publicKey: string;
  /** the highest state seen so far; an older document is a replay */
  seq: number;
  now: number;
}

/** Reads a channel document. Throws if its form, signature, channel, order or date is wrong. */
export async function readChannel(text: string, expected: Expectation): Promise<ChannelDocument> {
  const { sig, ...unsigned } = JSON.parse(text) as { sig?: unknown };
  const document = v.parse(schema, unsigned);
  if (document.channel !== expected.channel) throw new Error(`channel ${document.channel} is not ours`);
  if (document.seq < expected.seq) throw new Error(`channel state ${document.seq} is older than ${expected.seq}`);
  if (Date.parse(document.expires) <= expected.now) throw new Error('the channel document has expired');
  // stored with sorted keys, so the text without its signature is what was signed
  if (typeof sig !== 'string' || !(await isSigned(JSON.stringify(unsigned), sig, expected.publicKey)))
    throw new Error('the channel document is not signed by the key of this page');
  return document;
}
