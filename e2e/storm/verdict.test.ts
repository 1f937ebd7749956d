import { describe, expect, it } from '@rstest/core';
import type { Account, Conversation, Entry, Message } from './record';
import {
  differenceOf,
  findAccountFaults,
  findConversationFaults,
  findLineFaults,
  linesOf,
  listDifference,
  type Sent,
  type ShownLine,
} from './verdict';

const PRICE = 5;
const story = 'hua-pi';
const bodies = ['甲一说1号11', '甲二说1号22', '甲一说2号33'];

const sentLine = (text: string, at: number, changes: Partial<Sent> = {}): Sent => ({
  story,
  text,
  at,
  wasSeen: true,
  wasGivenUp: false,
  ...changes,
});

const first = { name: '甲一', sent: [sentLine('甲一说1号11', 1000), sentLine('甲一说2号33', 3000)] };
const second = { name: '甲二', sent: [sentLine('甲二说1号22', 2000)] };
const writers = [first, second];

/** A conversation in which each of these messages has a reply. */
const conversation = (said = bodies): Message[] =>
  said
    .flatMap((body, index) => [
      { id: `m${index}`, role: 'user', body, client_id: `c${index}`, cost: 0 },
      { id: `r${index}`, role: 'assistant', body: `**答${index}**。`, client_id: null, cost: PRICE },
    ])
    .map((message, index) => ({ ...message, seq: index + 1, status: 'completed' }));

/** An account with these changes, given from oldest to newest. */
function accountOf(changes: [type: string, amount: number, ref: string][], balance?: number): Account {
  let balanceAfter = 0;
  const entries = changes.map(([type, amount, ref_id]): Entry => {
    balanceAfter += amount;
    const ref_type = type === 'recharge' ? 'seed' : type === 'check_in' ? type : 'message';
    return { type, amount, balance_after: balanceAfter, description: `${type}《画皮》`, ref_type, ref_id };
  });
  return { balance: balance ?? balanceAfter, entries: entries.reverse() };
}

const filled: [string, number, string] = ['recharge', 100, 'seed'];
const paid = (ref: string): [string, number, string] => ['message', -PRICE, ref];

const page = (messages = conversation(), from = 0): ShownLine[] =>
  linesOf(messages)
    .map((line) => ({ ...line, isOnTheWay: false }))
    .slice(from);

const whatOf = (messages: Message[]) => findLineFaults(first, story, messages).map(({ what }) => what);

describe('lines', () => {
  it('are right where each is there once, in the order it was written', () => {
    expect(whatOf(conversation())).toEqual([]);
    expect(findConversationFaults(writers, story, conversation())).toEqual([]);
  });
  it('are lost unless their writer logged out before they had gone, or never saw them', () => {
    const lacking = conversation(bodies.slice(0, 2));
    expect(whatOf(lacking)).toEqual(['lost']);
    for (const changes of [{ wasGivenUp: true }, { wasSeen: false }]) {
      const writer = { ...first, sent: [sentLine('甲一说2号33', 3000, changes)] };
      expect(findLineFaults(writer, story, lacking)).toEqual([]);
    }
  });
  it('are doubled, also those that their writer never saw', () => {
    const writer = { ...first, sent: [sentLine('甲一说1号11', 1000, { wasSeen: false })] };
    const [fault] = findLineFaults(writer, story, conversation(['甲一说1号11', '甲一说1号11']));
    expect(fault?.what).toBe('there 2 times');
  });
  it('are out of order', () => {
    const [fault, ...others] = findLineFaults(first, story, conversation(['甲一说2号33', '甲一说1号11']));
    expect(fault).toMatchObject({ line: { text: '甲一说2号33' }, what: 'out of order, before 甲一说1号11' });
    expect(others).toEqual([]);
  });
});

describe('a conversation', () => {
  it('has one reply to each line', () => {
    const messages = conversation();
    expect(findConversationFaults(writers, story, messages.slice(0, -1))).toEqual(['no reply to 甲一说2号33']);
    const again = { ...messages[5], seq: 7 } as Message;
    expect(findConversationFaults(writers, story, [...messages, again])).toEqual(['two replies to 甲一说2号33']);
  });
  it('lacks no message in between', () => {
    const messages = conversation().filter(({ seq }) => seq !== 3 && seq !== 4);
    expect(findConversationFaults(writers, story, messages)).toEqual(['seq 5 follows 2']);
  });
  it("holds nobody else's lines, and none of another story", () => {
    expect(findConversationFaults([first], story, conversation())).toEqual(['nobody said this here: 甲二说1号22']);
    expect(findConversationFaults(writers, 'ying-ning', conversation())).toHaveLength(3);
  });
  it('takes each key once', () => {
    const messages = conversation().map((message) => ({ ...message, client_id: message.client_id && 'c0' }));
    expect(findConversationFaults(writers, story, messages)).toContain('甲二说1号22 has the key of another');
  });
});

describe('a page', () => {
  it('is the end of what the server has', () => {
    expect(differenceOf(page(), linesOf(conversation()))).toBeNull();
    expect(differenceOf(page(conversation(), 2), linesOf(conversation()))).toBeNull();
    expect(differenceOf([], [])).toBeNull();
  });
  it('lacks a line, has one more, or has them in another order', () => {
    const server = linesOf(conversation());
    expect(differenceOf(page().slice(0, 4), server)).not.toBeNull();
    expect(differenceOf([...page(), ...page().slice(-2)], server)).toMatch(/8 lines where the server has 6/);
    expect(differenceOf(page(conversation(['甲二说1号22', '甲一说1号11', '甲一说2号33'])), server)).not.toBeNull();
    expect(differenceOf([], server)).toBe('nothing of 6 messages');
  });
  it('shows another reply, one too many, or lacks one', () => {
    const server = linesOf(conversation());
    const shown = page();
    expect(differenceOf(shown.with(1, { ...(shown[1] as ShownLine), words: '别的' }), server)).toMatch(/别的/);
    expect(differenceOf(shown.toSpliced(1, 1), server)).not.toBeNull();
    expect(differenceOf(shown.toSpliced(1, 0, shown[3] as ShownLine), server)).not.toBeNull();
  });
  it('has a line that hangs', () => {
    const hanging = { mine: true, words: '甲一说3号44', isOnTheWay: true };
    expect(differenceOf([...page(), hanging], linesOf(conversation()))).toBe('1 still on the way: 甲一说3号44');
  });
});

describe('an account', () => {
  const messages = [conversation()];
  const right = [filled, paid('r0'), paid('r1'), paid('r2')];
  it('is what its entries come to, one for each reply', () => {
    expect(findAccountFaults(accountOf(right), messages, [])).toEqual([]);
  });
  it('has lost points, or an entry in between', () => {
    expect(findAccountFaults(accountOf(right, 80), messages, [])).toEqual(['a balance of 80 for entries of 85']);
    const { balance, entries } = accountOf([filled, ['check_in', 10, 'today'], ...right.slice(1)]);
    const torn = { balance, entries: entries.filter(({ type }) => type !== 'check_in') };
    expect(findAccountFaults(torn, messages, [])).toHaveLength(2);
  });
  it('was charged twice for a line, or not at all', () => {
    const twice = findAccountFaults(accountOf([...right, paid('r2')]), messages, []);
    expect(twice).toContain('the reply at seq 6 was booked 2 times');
    expect(twice).toContain('booked twice: message《画皮》');
    expect(findAccountFaults(accountOf(right.slice(0, 3)), messages, [])).toContain(
      'the reply at seq 6 was booked 0 times',
    );
  });
  it('was charged for a line that is not there, unless its conversation was deleted', () => {
    const more = accountOf([...right, paid('r9')]);
    expect(findAccountFaults(more, messages, [])).toEqual([
      'an entry for a message that there is not: message《画皮》',
    ]);
    expect(findAccountFaults(more, messages, ['画皮'])).toEqual([]);
  });
  it('was given twice for one day', () => {
    const daily: [string, number, string] = ['check_in', 10, 'today'];
    expect(findAccountFaults(accountOf([...right, daily, daily]), messages, [])).toEqual([
      'booked twice: check_in《画皮》',
    ]);
  });
  it('was paid back for a reply that is counted as paid', () => {
    const refunded = accountOf([...right, ['refund', PRICE, 'r2']]);
    expect(findAccountFaults(refunded, messages, [])).toEqual([
      'the reply at seq 6 says that it cost 5, and 0 were paid',
    ]);
  });
});

describe('聊过', () => {
  const row = (id: string, unread = false): Conversation => ({
    story: { id, title: id },
    last_message: { role: 'assistant', excerpt: `${id}：夜深了。` },
    unread,
  });
  const shown = (id: string, isUnread = false) => ({ story: id, excerpt: `标题${id}夜深了刚刚`, isUnread });
  it('is the same on the page', () => {
    expect(listDifference([shown('a'), shown('b')], [row('a'), row('b')])).toBeNull();
  });
  it('has another order, a row less, other words or another dot', () => {
    const server = [row('a'), row('b')];
    expect(listDifference([shown('b'), shown('a')], server)).toBe('b,a for a,b');
    expect(listDifference([shown('a')], server)).toBe('a for a,b');
    expect(listDifference([{ ...shown('a'), excerpt: '旧话' }, shown('b')], server)).toMatch(/旧话/);
    expect(listDifference([shown('a'), shown('b', true)], server)).toBe('b is shown as unread');
  });
});
