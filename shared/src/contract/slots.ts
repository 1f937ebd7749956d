import type { ComponentType } from 'react';

/** A message, as passed to the components in its menu. */
export interface MenuMessage {
  id: string;
  storyId: string;
  role: 'user' | 'assistant' | 'system';
  text: string;
}

/** Slots that one remote fills, with the props from the page. */
interface SingleSlots {
  /** Terms or privacy policy inside the sign-in popup. */
  legal: { document: 'terms' | 'privacy' };
  /** Guard of 未成年人模式 for a user who has it on; covers the screens while use is blocked. */
  minor: { pathname: string };
  /** The balance below the user's name in 我的. */
  'my.balance': object;
  /** The chat over its story. */
  'story.chat': { storyId: string };
  /** The user's conversations next to a chat, in a wide window. */
  conversations: { storyId: string };
  /** The member's part of 聊过; next to a chat it marks that story. */
  'conversations.member': { storyId?: string };
}

/** Slots that any number of remotes fill, each component isolated and sorted by `order`. */
interface OpenSlots {
  /** A row in the member's list in 我的: `ListRow` of the kit. */
  'my.entries': object;
  /** A tile above the shelf of 发现, 72 px high at the standard font size: `Card` of the kit. */
  'explore.tiles': object;
  /** A row in a message's menu: `ListRow` of the kit. Its tap must call `onClose` first. */
  'message.menu': { message: MenuMessage; onClose: () => void };
}

/** All slots: a component under another name is never shown. */
export type Slots = SingleSlots & OpenSlots;

const SINGLE_SLOTS: (keyof SingleSlots)[] = [
  'legal',
  'minor',
  'my.balance',
  'story.chat',
  'conversations',
  'conversations.member',
];
const OPEN_SLOTS: (keyof OpenSlots)[] = ['my.entries', 'explore.tiles', 'message.menu'];

/** Slot of the members-only part of a route's screen; the page loads it with the route while somebody is signed in. */
export const memberPart = <Route extends string>(route: Route): `${Route}.member` => `${route}.member`;

export type SlotName = keyof Slots | `${string}.member`;
export type PropsOfSlot<Name extends SlotName> = Name extends keyof Slots ? Slots[Name] : object;

interface Filling<Name extends SlotName> {
  name: Name;
  /** Position in an open slot, lowest first; default 100. Equal ones sort by the names of their remotes. */
  order?: number;
  component: () => Promise<{ default: ComponentType<PropsOfSlot<Name>> }>;
}

/** A slot on another team's page that this remote fills, such as `my.entries`. */
export type SlotDefinition = { [Name in keyof Slots]: Filling<Name> }[keyof Slots] | Filling<`${string}.member`>;

export const DEFAULT_ORDER = 100;

/** Whether any number of remotes may fill the slot. */
export const isOpenSlot = (name: string): boolean => (OPEN_SLOTS as string[]).includes(name);

/** Returns the single slots that are not in `filled`. */
export const emptySlots = (filled: readonly string[]): string[] =>
  SINGLE_SLOTS.filter((name) => !filled.includes(name));

/** Edit distance, to suggest the nearest name. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [rowIndex, letter] of [...from].entries()) {
    const nextRow = [rowIndex + 1];
    for (const [column, otherLetter] of [...to].entries())
      nextRow.push(
        Math.min(
          (nextRow[column] ?? 0) + 1,
          (row[column + 1] ?? 0) + 1,
          (row[column] ?? 0) + Number(letter !== otherLetter),
        ),
      );
    row = nextRow;
  }
  return row.at(-1) ?? 0;
}

/** Returns what is wrong with a slot's name, with a suggestion; null if the name is valid for a remote with these routes. */
export function slotProblem(name: string, routes: readonly { name: string }[]): string | null {
  const names = [...SINGLE_SLOTS, ...OPEN_SLOTS, ...routes.map((route) => memberPart(route.name))];
  if ((names as string[]).includes(name)) return null;
  const [nearest = ''] = names.sort((a, b) => editDistance(name, a) - editDistance(name, b));
  return `no page has a slot "${name}", so nobody sees it: did you mean "${nearest}"?`;
}
