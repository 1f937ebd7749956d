import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { refused } from './errors.ts';
import { issuesOf, parseJson } from './model/build.ts';
import { canonicalJson } from './model/canonicalJson.ts';
import { type ChannelDocument, channelSchema, type UnsignedChannel } from './model/channel.ts';

/** ECDSA P-256: the private half as PKCS#8 PEM, the public half as base64 SPKI. */
export interface SigningKey {
  privatePem: string;
  publicKey: string;
}

const publicOf = (privatePem: string): string =>
  createPublicKey(createPrivateKey(privatePem)).export({ type: 'spki', format: 'der' }).toString('base64');

export function newSigningKey(): SigningKey {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const privatePem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { privatePem, publicKey: publicOf(privatePem) };
}

/** Reads a PEM private key. Throws refused if it is none. */
export function signingKeyFrom(privatePem: string): SigningKey {
  try {
    return { privatePem, publicKey: publicOf(privatePem) };
  } catch {
    throw refused('the signing key is not a PEM private key', 'Restore the key file, or make a new store with `init`.');
  }
}

/** Base64url signature over the text, in the fixed-length form that WebCrypto reads. */
export const signText = (text: string, key: SigningKey): string =>
  sign('sha256', Buffer.from(text), { key: createPrivateKey(key.privatePem), dsaEncoding: 'ieee-p1363' }).toString(
    'base64url',
  );

export function isSigned(text: string, sig: string, publicKey: string): boolean {
  const key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' });
  return verify('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(sig, 'base64url'));
}

/** The stored text of a channel document: canonical JSON, signed over itself without `sig`. */
export const signChannel = (document: UnsignedChannel, key: SigningKey): string =>
  canonicalJson({ ...document, sig: signText(canonicalJson(document), key) });

/** Reads a channel document and checks form and signature; time and order are the reader's to check. Throws refused. */
export function verifyChannel(source: string, channel: string, publicKey: string): ChannelDocument {
  const what = `channel ${channel}`;
  const cure = 'Restore the newest good state: see "A damaged channel" in docs/deploying.md.';
  const parsed = channelSchema.safeParse(parseJson(source, what, cure));
  if (!parsed.success) throw refused(`${what} is damaged`, cure, issuesOf(parsed.error));
  const { sig, ...unsigned } = parsed.data;
  if (parsed.data.channel !== channel) throw refused(`${what} holds the document of ${parsed.data.channel}`, cure);
  if (!isSigned(canonicalJson(unsigned), sig, publicKey))
    throw refused(`${what} is not signed by this store's key`, cure);
  return parsed.data;
}
