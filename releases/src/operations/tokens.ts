import { randomBytes, timingSafeEqual } from 'node:crypto';
import { DAY_MS, isName } from '@liaozhai/shared/contract';
import * as v from 'valibot';
import { type Actor, type Reader, timeOf } from '../channel/writer.ts';
import { refused, usage } from '../errors.ts';
import { personNamed } from '../model/agenda.ts';
import { nameOf } from '../model/build.ts';
import { type ChannelDocument, candidatesOf } from '../model/channel.ts';
import { parseOrNull, signedOrNull } from '../model/documents.ts';
import { isSignedDocument, type SigningKey, sha256Hex, signedJson } from '../model/signing.ts';
import type { Verb } from '../requests.ts';
import { say } from '../sentences.ts';
import { namesBelow, type Store } from '../store/store.ts';

const TOKEN = /^lz_([0-9a-f]{12})_([\w-]{43})$/;
const ROLES = ['viewer', 'publisher', 'deployer', 'manager'] as const;

const tokenSchema = v.object({
  id: v.string(),
  hash: v.string(),
  role: v.picklist(ROLES),
  /** The build name a publisher or deployer is bound to. */
  name: v.nullable(v.string()),
  label: v.string(),
  at: v.string(),
  by: v.string(),
  expires: v.nullable(v.string()),
  revoked: v.nullable(v.string()),
  /** Owner, if not the label. Tokens of one owner count as one person for approvals. */
  person: v.optional(v.string()),
});
const signedSchema = v.object({ ...tokenSchema.entries, sig: v.optional(v.string(), '') });

/** `tokens/<id>.json`, signed by the store's key: owner and permission of a token. */
export type TokenRecord = v.InferOutput<typeof tokenSchema>;
export type Role = (typeof ROLES)[number];

const keyOf = (id: string): string => `tokens/${id}.json`;

/** A role, with the build name that it is bound to, if any. */
export type Grant = Pick<TokenRecord, 'role' | 'name'>;

/** The caller: the holder of a token, or a person who signed in. */
export interface Caller extends Grant {
  id: string;
  label: string;
  /** Further grants of a person. Undefined for a token, which has one grant. */
  more?: readonly Grant[];
  /** Owner of a token, if not the label. */
  person?: string;
}

/** Identifies a caller: a person by the provider's subject, a token by its owner. */
export function actorOf(caller: Caller): Actor {
  const { id, label, person = label, more } = caller;
  const isManager = grantsOf(caller).some(({ role }) => role === 'manager');
  if (more) return { person: personNamed([label, id], id), token: null, isManager };
  return { person: personNamed([person]), token: id, isManager };
}

export const grantsOf = (caller: Caller): Grant[] => [caller, ...(caller.more ?? [])];

export const strongestFirst = (grants: readonly Grant[]): Grant[] =>
  [...grants].sort((a, b) => ROLES.indexOf(b.role) - ROLES.indexOf(a.role));

/** Parses `manager`, `viewer`, `publisher:<name>` or `deployer:<name>`. Throws usage. */
export function parseGrant(grant: string): Grant {
  const [word = '', name = null, ...rest] = grant.split(':');
  const role = ROLES.find((known) => known === word);
  const isBound = role === 'publisher' || role === 'deployer';
  if (role && rest.length === 0 && (isBound ? name !== null && isName(name) : name === null)) return { role, name };
  throw usage(`"${grant}" is not a grant`, 'Use manager, viewer, publisher:<name> or deployer:<name>.');
}

export interface TokenRequest {
  grant: string;
  label: string;
  by: string;
  /** Days until it expires; null = never. */
  days: number | null;
  /** Owner; default: the label. */
  person?: string;
}

const MAX_DAYS = 36_500;

const inOneLine = (text: string): string => text.trim().replace(/\s+/g, ' ');

/** Creates a token. Only its hash is stored, so the token itself cannot be read again. */
export async function createToken(
  store: Store,
  key: SigningKey,
  { grant, label, by, days, person }: TokenRequest,
): Promise<{ token: string; record: TokenRecord }> {
  const id = randomBytes(6).toString('hex');
  const secret = randomBytes(32).toString('base64url');
  const now = (await timeOf({ store, now: () => new Date() })).getTime();
  if (days !== null && days > MAX_DAYS)
    throw usage(`no token lasts ${days} days`, 'Leave --days out for a token that never expires.');
  const record: TokenRecord = {
    id,
    hash: sha256Hex(secret),
    ...parseGrant(grant),
    label: inOneLine(label),
    at: new Date(now).toISOString(),
    by,
    expires: days === null ? null : new Date(now + days * DAY_MS).toISOString(),
    revoked: null,
    ...(person?.trim() ? { person: inOneLine(person) } : {}),
  };
  // without the signature, a writer of the store could grant itself the role of a manager
  await store.swapPointer(keyOf(id), signedJson(record, key), null);
  return { token: `lz_${id}_${secret}`, record };
}

/** Returns null if the record is missing or damaged. `isSigned` is false if it was changed or forged. */
async function readToken(store: Store, id: string, publicKey: string) {
  const pointer = await store.readPointer(keyOf(id));
  const signed = parseOrNull(signedSchema, pointer?.body);
  if (!pointer || !signed) return null;
  const { sig: _, ...record } = signed;
  // a record copied to another id would survive the revocation of its token
  return { record, isSigned: record.id === id && isSignedDocument(signed, publicKey), tag: pointer.tag };
}

/** True if a token was revoked, or its record is missing or damaged. Expiry does not count. */
export async function isRevoked({ store, key }: Pick<Reader, 'store' | 'key'>, id: string): Promise<boolean> {
  const token = await readToken(store, id, key.publicKey);
  return token === null || token.record.revoked !== null;
}

/** A token without its hash, of a damaged one the id; `problem` is why it is refused, or null. */
export type ListedToken = Pick<TokenRecord, 'id'> & Partial<Omit<TokenRecord, 'hash'>> & { problem: string | null };

const isDamaged = (id: string): string => `${keyOf(id)} is damaged: refused`;

export async function listTokens(store: Store, publicKey: string): Promise<ListedToken[]> {
  const ids = await namesBelow(store, 'tokens/');
  const listed = async (id: string): Promise<ListedToken> => {
    const token = await readToken(store, id, publicKey);
    if (!token) return { id, problem: isDamaged(id) };
    const { hash: _hash, ...shown } = token.record;
    return { ...shown, problem: token.isSigned ? null : "not signed by this store's key: refused" };
  };
  return Promise.all(ids.map(listed));
}

/** Revokes a token immediately, signed or not. Throws refused if it does not exist. */
export async function revokeToken(store: Store, key: SigningKey, id: string): Promise<TokenRecord> {
  for (;;) {
    const token = /^[0-9a-f]{12}$/.test(id) ? await readToken(store, id, key.publicKey) : null;
    if (!token && (await namesBelow(store, 'tokens/')).includes(id))
      throw refused(isDamaged(id), 'Restore it from a copy of the store, or remove it (and .generations below it).');
    if (!token) throw refused(`there is no token ${id}`, 'List them with `token list`.');
    if (token.isSigned && token.record.revoked) return token.record;
    const record = { ...token.record, id, revoked: token.record.revoked ?? new Date().toISOString() };
    if (await store.swapPointer(keyOf(id), signedJson(record, key), token.tag)) return record;
  }
}

/**
 * Returns the record of a token. `unknown` if the token is unknown, wrong, expired or revoked, which callers cannot tell apart.
 * `unsigned` if the store's key did not sign its record.
 */
export async function authenticate(
  store: Store,
  publicKey: string,
  token: string,
  now: Date,
): Promise<TokenRecord | 'unknown' | 'unsigned'> {
  const [, id = '', secret = ''] = TOKEN.exec(token) ?? [];
  const storedToken = id ? await readToken(store, id, publicKey) : null;
  if (!storedToken) return 'unknown';
  const { record, isSigned } = storedToken;
  const [presentedHash, storedHash] = [Buffer.from(sha256Hex(secret)), Buffer.from(record.hash)];
  const isMatch = presentedHash.length === storedHash.length && timingSafeEqual(presentedHash, storedHash);
  const isOver = record.revoked !== null || (record.expires !== null && Date.parse(record.expires) <= now.getTime());
  if (!isMatch || isOver) return 'unknown';
  return isSigned ? record : 'unsigned';
}

/** Operation of a request. `names` are the build names that it affects directly. */
export interface PermissionRequest {
  verb: 'look' | 'publish' | Verb;
  names: string[];
  force?: boolean;
  /** Overrides a freeze. */
  frozen?: boolean;
}

type Verbs = readonly PermissionRequest['verb'][];
/** Verbs that change a candidate, now or later. */
export const CANDIDATE_VERBS: Verbs = ['canary', 'promote', 'abort', 'schedule', 'pause', 'continue', 'cancel'];
const PUBLISHER_VERBS: Verbs = ['look', 'publish', 'check'];
const SWITCHING_VERBS: Verbs = ['activate', 'rollback', 'withdraw', 'override', 'retract'];
const VERBS_OF: Partial<Record<Role, Verbs>> = {
  publisher: PUBLISHER_VERBS,
  deployer: [...PUBLISHER_VERBS, ...CANDIDATE_VERBS, ...SWITCHING_VERBS],
};

const isOnly = (names: readonly string[], ownNames: readonly string[]): boolean =>
  ownNames.length > 0 && names.every((name) => ownNames.includes(name));

function candidateIsShared(current: ChannelDocument, ownNames: readonly string[]): boolean {
  const names = candidatesOf(current).map(({ builds }) => builds.map(nameOf));
  return names.some((held) => held.some((name) => ownNames.includes(name)) && !isOnly(held, ownNames));
}

/** Returns why the caller may not do this; null = allowed. Without names, a rollback, check or change of candidates affects all. */
export function refusal(caller: Caller, request: PermissionRequest, current: ChannelDocument): string | null {
  const grants = grantsOf(caller);
  if (grants.some(({ role }) => role === 'manager') || request.verb === 'look') return null;
  if (request.force) return say('forceIsManagers');
  if (request.frozen) return say('frozenIsManagers');
  const permittingGrants = grants.filter(({ role }) => VERBS_OF[role]?.includes(request.verb));
  if (permittingGrants.length === 0) return say('roleLacks', { role: caller.role, verb: request.verb });
  const ownNames = permittingGrants.flatMap(({ name }) => name ?? []);
  const isWholeChannel = request.names.length === 0 && ['rollback', 'check', ...CANDIDATE_VERBS].includes(request.verb);
  const names = ownNames.join(' and ');
  if (isWholeChannel || !isOnly(request.names, ownNames))
    return say(caller.more ? 'groupsAreFor' : 'tokenIsFor', { names });
  if (CANDIDATE_VERBS.includes(request.verb) && candidateIsShared(current, ownNames))
    return say('candidateShared', { names: ownNames.join(' or ') });
  return null;
}

const sessionSchema = v.object({
  id: v.string(),
  issuer: v.string(),
  subject: v.string(),
  person: v.string(),
  /** Values of the claim. Roles are looked up at each request, so that a removed role ends with the next start. */
  values: v.array(v.string()),
  at: v.string(),
  expires: v.string(),
  /** Identifies the provider's session at sign-out. */
  idToken: v.string(),
});
const signedSessionSchema = v.object({ ...sessionSchema.entries, sig: v.string() });

/** `sessions/<hash of the secret>.json`: who signed in and until when, signed by the store's key. */
export type Session = v.InferOutput<typeof sessionSchema>;

const sessionKeyOf = (id: string): string => `sessions/${id}.json`;

/** Bearer token of a session for the command line. A cookie contains the secret alone. */
export const bearerOf = (secret: string): string => `lzs_${secret}`;

/** Returns the session secret in an `Authorization` header; undefined if it has none, such as with a token. */
export const secretOfBearer = (header = ''): string | undefined => /^Bearer lzs_([\w-]{43})$/.exec(header)?.[1];

export class Sessions {
  readonly #store: Store;
  readonly #key: SigningKey;

  constructor(store: Store, key: SigningKey) {
    this.#store = store;
    this.#key = key;
  }

  /** Begins a session. Returns the secret that opens it; the store has only the hash. */
  async begin(session: Omit<Session, 'id'>): Promise<string> {
    const secret = randomBytes(32).toString('base64url');
    const record: Session = { id: sha256Hex(secret), ...session };
    await this.#store.create(sessionKeyOf(record.id), signedJson(record, this.#key));
    return secret;
  }

  /** Returns null if the session is unknown, damaged, expired or not signed by this store's key. */
  async find(secret: string | undefined, now: Date): Promise<Session | null> {
    if (!secret) return null;
    const session = await this.#read(sha256Hex(secret));
    return session && Date.parse(session.expires) > now.getTime() ? session : null;
  }

  async end(secret: string | undefined): Promise<void> {
    if (secret) await this.#store.remove(sessionKeyOf(sha256Hex(secret)));
  }

  async sweep(now: Date): Promise<void> {
    for (const id of await namesBelow(this.#store, 'sessions/')) {
      const session = await this.#read(id);
      if (!session || Date.parse(session.expires) <= now.getTime()) await this.#store.remove(sessionKeyOf(id));
    }
  }

  async #read(id: string): Promise<Session | null> {
    const source = await this.#store.read(sessionKeyOf(id));
    const signed = signedOrNull(source, signedSessionSchema, this.#key.publicKey);
    if (signed?.id !== id) return null;
    const { sig: _, ...session } = signed;
    return session;
  }
}
