// Finds problems in what was said, shown and paid for. Works on data alone, so that `verdict.test.ts` can test each problem.
import type { Account, Conversation, Message } from './record.ts';

/** A message that was typed and sent. */
export interface Sent {
  story: string;
  text: string;
  /** ms since the start of the storm */
  at: number;
  /** Whether it was seen in the chat after sending; from then on it must not be lost. */
  wasSeen: boolean;
  /** Whether it was unsent when its author signed out, which removes it from the device. */
  wasGivenUp: boolean;
}

/** A message on a page: its side, and its text without punctuation and spaces. */
export interface Line {
  mine: boolean;
  words: string;
}

export interface ShownLine extends Line {
  isOnTheWay: boolean;
}

export const wordsOf = (text: string): string => text.replace(/[^\p{L}\p{N}]/gu, '');

/** Text of a message in a storm, with its device and number. Suggestions have another form. */
export const lineOf = (device: string, order: number, mark: number): string => `${device}说${order}号${mark}`;
const isOfStorm = (body: string): boolean => /^.{2}说\d+号\d+$/u.test(body);

export const isRunning = ({ status }: Message): boolean => status === 'pending' || status === 'streaming';

export const linesOf = (messages: readonly Message[]): Line[] =>
  messages
    .filter(({ role }) => role !== 'system')
    .map(({ role, body }) => ({ mine: role === 'user', words: wordsOf(body) }));

const said = ({ mine, words }: Line): string => `${mine ? 'own' : 'reply'} ${words.slice(0, 30)}`;

/**
 * Compares the page with the end of the server's messages, from the reader's first message on the page. Returns the difference,
 * or null. A page may have loaded less, and also shows the opening.
 */
export function differenceOf(page: readonly ShownLine[], server: readonly Line[]): string | null {
  const waiting = page.filter(({ isOnTheWay }) => isOnTheWay);
  if (waiting.length > 0) return `${waiting.length} still on the way: ${waiting[0]?.words}`;
  const known = server.filter(({ words }) => words !== '');
  const first = page.findIndex(({ mine }) => mine);
  if (first < 0) return known.length > 0 ? `nothing of ${known.length} messages` : null;
  const shown = page.slice(first).filter(({ words }) => words !== '');
  if (shown.length > known.length) return `${shown.length} lines where the server has ${known.length}`;
  const tail = known.slice(known.length - shown.length);
  const at = shown.findIndex(({ mine, words }, index) => mine !== tail[index]?.mine || words !== tail[index].words);
  const [have, want] = [shown[at], tail[at]];
  return have && want ? `line ${at} of ${shown.length} is another: ${said(have)} for ${said(want)}` : null;
}

/** A device and its messages. */
export interface Writer {
  name: string;
  sent: readonly Sent[];
}

/** A problem with a message; `others` are related messages. */
export interface LineFault {
  line: Sent;
  what: string;
  others: Sent[];
}

/** Compares a device's messages in a conversation with the server's. */
export function wrongLines({ sent }: Writer, story: string, messages: readonly Message[]): LineFault[] {
  const wrong: LineFault[] = [];
  const onServer = messages.filter(({ role }) => role === 'user').map(({ body }) => wordsOf(body));
  const own = sent.filter((line) => line.story === story);
  for (const line of own) {
    const copies = onServer.filter((known) => known === wordsOf(line.text)).length;
    if (copies === 0 && line.wasSeen && !line.wasGivenUp) wrong.push({ line, what: 'lost', others: [] });
    if (copies > 1) wrong.push({ line, what: `there ${copies} times`, others: [] });
  }
  let last: { line: Sent; place: number } | undefined;
  for (const line of own) {
    const place = onServer.indexOf(wordsOf(line.text));
    if (place < 0) continue;
    if (last && place < last.place) {
      wrong.push({ line, what: `out of order, before ${last.line.text}`, others: [last.line] });
      continue;
    }
    last = { line, place };
  }
  return wrong;
}

/** Finds impossible states of a conversation; `writers` are all devices of its reader. */
export function wrongConversation(writers: readonly Writer[], story: string, messages: readonly Message[]): string[] {
  const wrong: string[] = [];
  const known = new Set(
    writers.flatMap(({ sent }) => sent.filter((line) => line.story === story).map(({ text }) => wordsOf(text))),
  );
  const clientIds = new Set<string>();
  messages.forEach(({ role, body, seq, client_id }, index) => {
    const before = messages[index - 1];
    const next = messages[index + 1];
    if (before && seq !== before.seq + 1) wrong.push(`seq ${seq} follows ${before.seq}`);
    if (role === 'assistant' && before?.role === role) wrong.push(`two replies to ${messages[index - 2]?.body}`);
    if (role !== 'user') return;
    if (next?.role !== 'assistant') wrong.push(`no reply to ${body}`);
    if (client_id && clientIds.has(client_id)) wrong.push(`${body} has the key of another`);
    if (client_id) clientIds.add(client_id);
    if (isOfStorm(body) && !known.has(wordsOf(body))) wrong.push(`nobody said this here: ${body}`);
  });
  return wrong;
}

/**
 * Compares an account's balance with its entries, and the entries with the messages in `kept`, one list per story. Of a deleted
 * conversation only the story's title is known, in `deletedTitles`.
 */
export function wrongAccount(
  { balance, entries }: Account,
  kept: readonly (readonly Message[])[],
  deletedTitles: readonly string[],
): string[] {
  const wrong: string[] = [];
  const sum = entries.reduce((total, { amount }) => total + amount, 0);
  if (sum !== balance) wrong.push(`a balance of ${balance} for entries of ${sum}`);
  entries.forEach(({ amount, balance_after, description }, index) => {
    const before = entries[index + 1]?.balance_after ?? 0;
    if (before + amount !== balance_after) wrong.push(`${description}: ${before} and ${amount} made ${balance_after}`);
  });
  const replies = new Map(
    kept.flat().flatMap((message) => (message.role === 'assistant' ? [[message.id, message]] : [])),
  );
  for (const { id, cost, seq } of replies.values()) {
    const own = entries.filter(({ ref_type, ref_id }) => ref_type === 'message' && ref_id === id);
    const paid = -own.reduce((total, { amount }) => total + amount, 0);
    const orders = own.filter(({ type }) => type === 'message').length;
    if (orders !== 1) wrong.push(`the reply at seq ${seq} was booked ${orders} times`);
    if (paid !== cost) wrong.push(`the reply at seq ${seq} says that it cost ${cost}, and ${paid} were paid`);
  }
  const seen = new Set<string>();
  for (const { type, ref_type, ref_id, description } of entries) {
    const isOfDeleted = deletedTitles.some((title) => description.includes(`《${title}》`));
    if (ref_type === 'message' && !replies.has(ref_id) && !isOfDeleted)
      wrong.push(`an entry for a message that there is not: ${description}`);
    // a reply can be continued several times, with a refund each time
    const isOnce = type === 'message' || type === 'suggestion' || type === 'check_in';
    const key = `${type}:${ref_id}`;
    if (isOnce && seen.has(key)) wrong.push(`booked twice: ${description}`);
    seen.add(key);
  }
  return [...new Set(wrong)];
}

/** A row of 聊过 on a page. */
export interface ShownRow {
  story: string;
  /** text of the last message, without punctuation */
  excerpt: string;
  isUnread: boolean;
}

const EXCERPT_CHARACTERS = 40;

/** Compares 聊过 on a page with the server's list. Returns the difference, or null. */
export function listDifference(page: readonly ShownRow[], server: readonly Conversation[]): string | null {
  const shown = page.map(({ story }) => story).join();
  const known = server.map(({ story }) => story.id).join();
  if (shown !== known) return `${shown} for ${known}`;
  for (const [index, { story, last_message, unread }] of server.entries()) {
    const row = page[index];
    const excerpt = wordsOf(last_message?.excerpt ?? '');
    // a page may shorten the excerpt, and adds its author
    const begins = excerpt.slice(0, EXCERPT_CHARACTERS);
    if (row && !row.excerpt.includes(begins)) return `${story.id} ends with ${row.excerpt} for ${excerpt}`;
    if (row && row.isUnread !== unread) return `${story.id} is shown as ${row.isUnread ? 'unread' : 'read'}`;
  }
  return null;
}
