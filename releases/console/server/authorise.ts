import type { ChannelDocument } from '../../src/model/channel.ts';
import { parseBuildId } from '../../src/model/ids.ts';
import type { TokenRecord } from '../../src/operations/tokens.ts';

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
