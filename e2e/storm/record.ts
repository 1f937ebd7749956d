// What the server itself has: the record that every device is held against.
import type { BrowserContext } from '@playwright/test';

export interface Message {
  seq: number;
  role: string;
  status: string;
  body: string;
}

const PAGE = 100;

/** All messages of the reader's conversation about `story`, oldest first; `origin` is the product's or the proxy's. Throws where it is refused. */
export async function messagesOf(context: BrowserContext, origin: string, story: string): Promise<Message[]> {
  const messages: Message[] = [];
  for (let before = ''; ; ) {
    const url = `${origin}/api/v1/messages/latest?story_id=${story}&limit=${PAGE}${before}`;
    const answer = await context.request.get(url);
    if (!answer.ok()) throw new Error(`the messages of ${story}: ${answer.status()}`);
    const { data } = (await answer.json()) as { data: Message[] };
    messages.unshift(...data);
    const [first] = data;
    if (data.length < PAGE || !first) return messages;
    before = `&before=${first.seq}`;
  }
}

/** What is wrong with the reader's account: a balance that its entries do not come to. */
export async function balanceFault(context: BrowserContext, origin: string): Promise<string | null> {
  const user = (await (await context.request.get(`${origin}/api/v1/user`)).json()) as { data: { balance: number } };
  let sum = 0;
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor && `?cursor=${encodeURIComponent(cursor)}`;
    const answer = await context.request.get(`${origin}/api/v1/transactions${query}`);
    const page = (await answer.json()) as { data: { amount: number }[]; meta?: { next_cursor: string | null } };
    sum += page.data.reduce((total, { amount }) => total + amount, 0);
    cursor = page.meta?.next_cursor ?? null;
  }
  return sum === user.data.balance ? null : `a balance of ${user.data.balance} for entries of ${sum}`;
}
