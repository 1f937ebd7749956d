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

const describeLine = ({ mine, words }: Line): string => `${mine ? 'own' : 'reply'} ${words.slice(0, 30)}`;

/**
 * Compares the page with the end of the server's messages, from the reader's first message on the page. Returns the difference,
 * or null. A page may have loaded less, and also shows the opening.
 */
export function differenceOf(page: readonly ShownLine[], server: readonly Line[]): string | null {
  const pendingLines = page.filter(({ isOnTheWay }) => isOnTheWay);
  if (pendingLines.length > 0) return `${pendingLines.length} still on the way: ${pendingLines[0]?.words}`;
  const serverLines = server.filter(({ words }) => words !== '');
  const first = page.findIndex(({ mine }) => mine);
  if (first < 0) return serverLines.length > 0 ? `nothing of ${serverLines.length} messages` : null;
  const shownLines = page.slice(first).filter(({ words }) => words !== '');
  if (shownLines.length > serverLines.length)
    return `${shownLines.length} lines where the server has ${serverLines.length}`;
  const tail = serverLines.slice(serverLines.length - shownLines.length);
  const at = shownLines.findIndex(
    ({ mine, words }, index) => mine !== tail[index]?.mine || words !== tail[index].words,
  );
  const [shownLine, serverLine] = [shownLines[at], tail[at]];
  return shownLine && serverLine
    ? `line ${at} of ${shownLines.length} is another: ${describeLine(shownLine)} for ${describeLine(serverLine)}`
    : null;
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
export function findLineFaults({ sent }: Writer, story: string, messages: readonly Message[]): LineFault[] {
  const faults: LineFault[] = [];
  const serverTexts = messages.filter(({ role }) => role === 'user').map(({ body }) => wordsOf(body));
  const sentLines = sent.filter((line) => line.story === story);
  for (const line of sentLines) {
    const copies = serverTexts.filter((known) => known === wordsOf(line.text)).length;
    if (copies === 0 && line.wasSeen && !line.wasGivenUp) faults.push({ line, what: 'lost', others: [] });
    if (copies > 1) faults.push({ line, what: `there ${copies} times`, others: [] });
  }
  let last: { line: Sent; place: number } | undefined;
  for (const line of sentLines) {
    const place = serverTexts.indexOf(wordsOf(line.text));
    if (place < 0) continue;
    if (last && place < last.place) {
      faults.push({ line, what: `out of order, before ${last.line.text}`, others: [last.line] });
      continue;
    }
    last = { line, place };
  }
  return faults;
}

/** Finds impossible states of a conversation; `writers` are all devices of its reader. */
export function findConversationFaults(
  writers: readonly Writer[],
  story: string,
  messages: readonly Message[],
): string[] {
  const faults: string[] = [];
  const sentTexts = new Set(
    writers.flatMap(({ sent }) => sent.filter((line) => line.story === story).map(({ text }) => wordsOf(text))),
  );
  const clientIds = new Set<string>();
  messages.forEach(({ role, body, seq, client_id }, index) => {
    const before = messages[index - 1];
    const next = messages[index + 1];
    if (before && seq !== before.seq + 1) faults.push(`seq ${seq} follows ${before.seq}`);
    if (role === 'assistant' && before?.role === role) faults.push(`two replies to ${messages[index - 2]?.body}`);
    if (role !== 'user') return;
    if (next?.role !== 'assistant') faults.push(`no reply to ${body}`);
    if (client_id && clientIds.has(client_id)) faults.push(`${body} has the key of another`);
    if (client_id) clientIds.add(client_id);
    if (isOfStorm(body) && !sentTexts.has(wordsOf(body))) faults.push(`nobody said this here: ${body}`);
  });
  return faults;
}

/**
 * Compares an account's balance with its entries, and the entries with the messages in `messagesByStory`, one list per story. Of a deleted
 * conversation only the story's title is known, in `deletedTitles`.
 */
export function findAccountFaults(
  { balance, entries }: Account,
  messagesByStory: readonly (readonly Message[])[],
  deletedTitles: readonly string[],
): string[] {
  const faults: string[] = [];
  const sum = entries.reduce((total, { amount }) => total + amount, 0);
  if (sum !== balance) faults.push(`a balance of ${balance} for entries of ${sum}`);
  entries.forEach(({ amount, balance_after, description }, index) => {
    const before = entries[index + 1]?.balance_after ?? 0;
    if (before + amount !== balance_after) faults.push(`${description}: ${before} and ${amount} made ${balance_after}`);
  });
  const replies = new Map(
    messagesByStory.flat().flatMap((message) => (message.role === 'assistant' ? [[message.id, message]] : [])),
  );
  for (const { id, cost, seq } of replies.values()) {
    const ownEntries = entries.filter(({ ref_type, ref_id }) => ref_type === 'message' && ref_id === id);
    const paidAmount = -ownEntries.reduce((total, { amount }) => total + amount, 0);
    const orders = ownEntries.filter(({ type }) => type === 'message').length;
    if (orders !== 1) faults.push(`the reply at seq ${seq} was booked ${orders} times`);
    if (paidAmount !== cost)
      faults.push(`the reply at seq ${seq} says that it cost ${cost}, and ${paidAmount} were paid`);
  }
  const seenKeys = new Set<string>();
  for (const { type, ref_type, ref_id, description } of entries) {
    const isOfDeleted = deletedTitles.some((title) => description.includes(`《${title}》`));
    if (ref_type === 'message' && !replies.has(ref_id) && !isOfDeleted)
      faults.push(`an entry for a message that there is not: ${description}`);
    // a reply can be continued several times, with a refund each time
    const isOnce = type === 'message' || type === 'suggestion' || type === 'check_in';
    const key = `${type}:${ref_id}`;
    if (isOnce && seenKeys.has(key)) faults.push(`booked twice: ${description}`);
    seenKeys.add(key);
  }
  return [...new Set(faults)];
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
  const shownOrder = page.map(({ story }) => story).join();
  const serverOrder = server.map(({ story }) => story.id).join();
  if (shownOrder !== serverOrder) return `${shownOrder} for ${serverOrder}`;
  for (const [index, { story, last_message, unread }] of server.entries()) {
    const row = page[index];
    const excerpt = wordsOf(last_message?.excerpt ?? '');
    // a page may shorten the excerpt, and adds its author
    const excerptStart = excerpt.slice(0, EXCERPT_CHARACTERS);
    if (row && !row.excerpt.includes(excerptStart)) return `${story.id} ends with ${row.excerpt} for ${excerpt}`;
    if (row && row.isUnread !== unread) return `${story.id} is shown as ${row.isUnread ? 'unread' : 'read'}`;
  }
  return null;
}
