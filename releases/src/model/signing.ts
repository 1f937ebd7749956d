import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { refused } from '../errors.ts';

const sortKeys = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).filter(([, entry]) => entry !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, entry]) => [key, sortKeys(entry)]));
};

/** JSON with sorted keys and no blanks, so that equal values are equal bytes. */
export const canonicalJson = (value: unknown): string => JSON.stringify(sortKeys(value));

type Bytes = Uint8Array | string;

export const sha256Hex = (bytes: Bytes): string => createHash('sha256').update(bytes).digest('hex');

/** Subresource integrity: `sha384-<base64>`. */
export const sha384Integrity = (bytes: Bytes): string =>
  `sha384-${createHash('sha384').update(bytes).digest('base64')}`;

/** The CSP source of an inline element: `sha256-<base64>`. */
export const sha256Source = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`;

/** ECDSA P-256: the private half as PKCS#8 PEM, the public half as base64 SPKI. */
export interface SigningKey {
  privatePem: string;
  publicKey: string;
}

const derivePublicKey = (privatePem: string): string =>
  createPublicKey(createPrivateKey(privatePem)).export({ type: 'spki', format: 'der' }).toString('base64');

export function newSigningKey(): SigningKey {
  // Encoded while it is generated. To export it later can deadlock in Node 20: the garbage collector wants the same lock.
  const { privateKey: privatePem } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return { privatePem, publicKey: derivePublicKey(privatePem) };
}

/** Parses the PEM private key of a file. Throws refused for anything else. */
export function signingKeyFrom(privatePem: string, file: string): SigningKey {
  try {
    return { privatePem, publicKey: derivePublicKey(privatePem) };
  } catch {
    throw refused(`${file} is not a PEM private key`, 'Restore it from a copy, or make a new store with `init`.');
  }
}

/** A document as it is stored: canonical JSON, with the signature of all its other fields as `sig`. */
export const signedJson = (document: object, key: SigningKey): string =>
  canonicalJson({ ...document, sig: signText(canonicalJson(document), key) });

/** Base64url signature over the text, in the fixed-length form that WebCrypto reads. */
const signText = (text: string, key: SigningKey): string =>
  sign('sha256', Buffer.from(text), { key: createPrivateKey(key.privatePem), dsaEncoding: 'ieee-p1363' }).toString(
    'base64url',
  );

/** True if `sig` signs all other fields, including those that this version does not know. */
export function isSignedDocument(value: unknown, publicKey: string): boolean {
  if (!(value instanceof Object) || !('sig' in value) || typeof value.sig !== 'string') return false;
  const { sig, ...unsigned } = value;
  return isSigned(canonicalJson(unsigned), value.sig, publicKey);
}

/** Returns the paths of fields that `value` has and `knownValue` lacks, such as `stable.quorum`. */
export function unknownFields(value: unknown, knownValue: unknown, path = ''): string[] {
  if (!(value instanceof Object)) return [];
  return Object.entries(value).flatMap(([name, field]) => {
    const at = path ? `${path}.${name}` : name;
    return knownValue instanceof Object && name in knownValue
      ? unknownFields(field, Reflect.get(knownValue, name), at)
      : [at];
  });
}

const publicKeyFrom = (publicKey: string) =>
  createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' });

/** True for the public half of a signing key, base64 SPKI. */
export function isPublicKey(text: string): boolean {
  try {
    return publicKeyFrom(text).asymmetricKeyType === 'ec';
  } catch {
    return false;
  }
}

function isSigned(text: string, sig: string, publicKey: string): boolean {
  const key = publicKeyFrom(publicKey);
  return verify('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(sig, 'base64url'));
}
