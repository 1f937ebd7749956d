import type { ComponentType } from 'react';

/** A message as its menu passes it on. */
export interface MenuMessage {
  id: string;
  storyId: string;
  role: 'user' | 'assistant' | 'system';
  text: string;
}

/** Slots that one remote fills, with what the page passes to it. */
interface SingleSlots {
  /** Terms or privacy policy inside the sign-in popup. */
  legal: { document: 'terms' | 'privacy' };
  /** Stands before the screens of a reader under the limits for minors. */
  minor: { pathname: string };
  /** The balance under the reader's name in 我的. */
  'my.balance': object;
  /** The chat over its story. */
  'story.chat': { storyId: string };
  /** The reader's conversations beside a chat, in a wide window. */
  conversations: { storyId: string };
  /** What members see of 聊过; beside a chat it marks that story. */
  'conversations.member': { storyId?: string };
}

/** Slots that any number of remotes fill, each part isolated and in its order. */
interface OpenSlots {
  /** A row of a member's list in 我的: `ListRow` of the kit. */
  'my.entries': object;
  /** A tile above the shelf of 发现, 72 px high: `Card` of the kit. */
  'explore.tiles': object;
  /** A row in a message's menu: `ListRow` of the kit. Its tap calls `onClose` first. */
  'message.menu': { message: MenuMessage; onClose: () => void };
}

/** The one list of slots: a part under another name is shown on no page. */
export type Slots = SingleSlots & OpenSlots;

const SINGLE: (keyof SingleSlots)[] = [
  'legal',
  'minor',
  'my.balance',
  'story.chat',
  'conversations',
  'conversations.member',
];
const OPEN: (keyof OpenSlots)[] = ['my.entries', 'explore.tiles', 'message.menu'];

/** The slot of what only members see of a route's screen: the page fetches it with the route where somebody is signed in. */
export const memberPart = <Route extends string>(route: Route): `${Route}.member` => `${route}.member`;

export type SlotName = keyof Slots | `${string}.member`;
export type PropsOfSlot<Name extends SlotName> = Name extends keyof Slots ? Slots[Name] : object;

interface Filling<Name extends SlotName> {
  name: Name;
  /** In an open slot the lowest comes first; 100 unless given. Equal ones follow the names of their remotes. */
  order?: number;
  component: () => Promise<{ default: ComponentType<PropsOfSlot<Name>> }>;
}

/** A place on another team's page that this remote fills, such as `my.entries`. */
export type SlotDefinition = { [Name in keyof Slots]: Filling<Name> }[keyof Slots] | Filling<`${string}.member`>;

export const DEFAULT_ORDER = 100;

/** Whether any number of remotes may fill it. */
export const isOpenSlot = (name: string): boolean => (OPEN as string[]).includes(name);

/** Slots for one remote each that none of these names fills. */
export const emptySlots = (filled: readonly string[]): string[] => SINGLE.filter((name) => !filled.includes(name));

/** How many letters differ, those of a typing slip at least. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [at, letter] of [...one].entries()) {
    const next = [at + 1];
    for (const [place, its] of [...other].entries())
      next.push(
        Math.min((next[place] ?? 0) + 1, (row[place + 1] ?? 0) + 1, (row[place] ?? 0) + Number(letter !== its)),
      );
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** What is wrong with the name of a slot that a remote with these routes fills, and the likeliest cure; null where nothing is. */
export function slotProblem(name: string, routes: readonly { name: string }[]): string | null {
  const names = [...SINGLE, ...OPEN, ...routes.map((route) => memberPart(route.name))];
  if ((names as string[]).includes(name)) return null;
  const [nearest = ''] = names.sort((a, b) => distance(name, a) - distance(name, b));
  return `no page has a slot "${name}", so nobody sees it: did you mean "${nearest}"?`;
}
