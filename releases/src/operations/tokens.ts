import { randomBytes, timingSafeEqual } from 'node:crypto';
import { isName } from '@liaozhai/shared/contract';
import * as v from 'valibot';
import { refused, usage } from '../errors.ts';
import type { ChannelDocument } from '../model/channel.ts';
import { parseBuildId } from '../model/ids.ts';
import { sha256Hex } from '../model/signing.ts';
import type { Store } from '../store/store.ts';

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
});

export type TokenRecord = v.InferOutput<typeof tokenSchema>;
export type Role = (typeof ROLES)[number];

const keyOf = (id: string): string => `tokens/${id}.json`;

/** `manager`, `viewer`, `publisher:<name>` or `deployer:<name>`. Throws usage. */
function parseGrant(grant: string): { role: Role; name: string | null } {
  const [word = '', name = null, ...rest] = grant.split(':');
  const role = ROLES.find((known) => known === word);
  const bound = role === 'publisher' || role === 'deployer';
  if (role && rest.length === 0 && (bound ? name !== null && isName(name) : name === null)) return { role, name };
  throw usage(`"${grant}" is not a grant`, 'Use manager, viewer, publisher:<name> or deployer:<name>.');
}

export interface TokenRequest {
  grant: string;
  label: string;
  by: string;
  /** Days until it ends by itself; null = never. */
  days: number | null;
}

/** Makes a token; only its hash is stored, so this is the only time it can be read. */
export async function createToken(
  store: Store,
  { grant, label, by, days }: TokenRequest,
): Promise<{ token: string; record: TokenRecord }> {
  const id = randomBytes(6).toString('hex');
  const secret = randomBytes(32).toString('base64url');
  const now = Date.now();
  const record: TokenRecord = {
    id,
    hash: sha256Hex(secret),
    ...parseGrant(grant),
    label,
    at: new Date(now).toISOString(),
    by,
    expires: days === null ? null : new Date(now + days * 86_400_000).toISOString(),
    revoked: null,
  };
  await store.swapPointer(keyOf(id), JSON.stringify(record), null);
  return { token: `lz_${id}_${secret}`, record };
}

async function readToken(store: Store, id: string) {
  const pointer = await store.readPointer(keyOf(id));
  return pointer && { record: v.parse(tokenSchema, JSON.parse(pointer.body)), tag: pointer.tag };
}

export async function listTokens(store: Store): Promise<TokenRecord[]> {
  const files = await store.children('tokens/');
  const found = await Promise.all(files.map((file) => readToken(store, file.replace(/\.json$/, ''))));
  return found.filter((token) => token !== null).map(({ record }) => record);
}

/** Ends a token at once. Throws refused if there is none. */
export async function revokeToken(store: Store, id: string): Promise<TokenRecord> {
  for (;;) {
    const token = /^[0-9a-f]{12}$/.test(id) ? await readToken(store, id) : null;
    if (!token) throw refused(`there is no token ${id}`, 'List them with `token list`.');
    if (token.record.revoked) return token.record;
    const record = { ...token.record, revoked: new Date().toISOString() };
    if (await store.swapPointer(keyOf(id), JSON.stringify(record), token.tag)) return record;
  }
}

/** Whose token this is, or null: unknown, wrong, expired and revoked ones are all the same to the caller. */
export async function authenticate(store: Store, token: string, now: Date): Promise<TokenRecord | null> {
  const [, id = '', secret = ''] = TOKEN.exec(token) ?? [];
  const found = id ? await readToken(store, id) : null;
  if (!found) return null;
  const { record } = found;
  const matches = timingSafeEqual(Buffer.from(sha256Hex(secret)), Buffer.from(record.hash));
  const over = record.revoked !== null || (record.expires !== null && Date.parse(record.expires) <= now.getTime());
  return matches && !over ? record : null;
}

/** What a request wants to do. `names` are the builds it touches by itself. */
export interface Wish {
  verb: 'look' | 'publish' | 'check' | 'activate' | 'canary' | 'promote' | 'abort' | 'rollback' | 'kill' | 'override';
  names: string[];
  force?: boolean;
}

const PUBLISHES: readonly Wish['verb'][] = ['look', 'publish', 'check'];
const DEPLOYS: readonly Wish['verb'][] = [
  ...PUBLISHES,
  'activate',
  'canary',
  'promote',
  'abort',
  'rollback',
  'override',
];
const MOVES_CANDIDATE: readonly Wish['verb'][] = ['canary', 'promote', 'abort'];

/** The name a build word begins with, whether full id or `name@version`. */
export const nameInWord = (word: string): string => parseBuildId(word)?.name ?? word.split('@')[0] ?? '';

const isOnly = (names: readonly string[], own: string | null): boolean =>
  own !== null && names.every((name) => name === own);

function candidateIsOthers({ candidate }: ChannelDocument, own: string | null): boolean {
  return candidate !== null && !isOnly(candidate.builds.map(nameInWord), own);
}

/** Why a token may not do this; null = it may. A rollback or check without a name is about everything. */
export function refusal(token: TokenRecord, wish: Wish, current: ChannelDocument): string | null {
  const { role, name: own } = token;
  if (role === 'manager' || wish.verb === 'look') return null;
  if (wish.force) return 'only a manager may switch against the gate';
  const allowed = role === 'deployer' ? DEPLOYS : role === 'publisher' ? PUBLISHES : [];
  if (!allowed.includes(wish.verb)) return `a ${role} may not ${wish.verb}`;
  const whole = wish.names.length === 0 && (wish.verb === 'rollback' || wish.verb === 'check');
  if (whole || !isOnly(wish.names, own)) return `this token is for ${own} only`;
  if (MOVES_CANDIDATE.includes(wish.verb) && candidateIsOthers(current, own))
    return 'the candidate that runs now holds builds of others: ask a manager, or wait until it has ended';
  return null;
}
