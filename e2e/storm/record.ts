// Reads the server's record, with which every device is compared.
import type { BrowserContext } from '@playwright/test';

export interface Message {
  id: string;
  seq: number;
  role: string;
  status: string;
  body: string;
  client_id: string | null;
  /** points charged for it in total */
  cost: number;
}

/** An entry of the reader's ledger. Amounts are in points, negative for spending. */
export interface Entry {
  type: string;
  amount: number;
  balance_after: number;
  description: string;
  ref_type: string;
  ref_id: string;
}

export interface Conversation {
  story: { id: string; title: string };
  last_message: { role: string; excerpt: string } | null;
  unread: boolean;
}

export interface Account {
  balance: number;
  /** newest first */
  entries: Entry[];
}

const PAGE = 100;

async function answerOf<Body>(context: BrowserContext, url: string): Promise<Body> {
  const answer = await context.request.get(url);
  if (!answer.ok()) throw new Error(`${answer.status()} for ${url}`);
  return (await answer.json()) as Body;
}

/** All messages of the reader's conversation about `story`, oldest first; `origin` is the product's or the proxy's. Throws if refused. */
export async function messagesOf(context: BrowserContext, origin: string, story: string): Promise<Message[]> {
  const messages: Message[] = [];
  for (let before = ''; ; ) {
    const url = `${origin}/api/v1/messages/latest?story_id=${story}&limit=${PAGE}${before}`;
    const { data } = await answerOf<{ data: Message[] }>(context, url);
    messages.unshift(...data);
    const [first] = data;
    if (data.length < PAGE || !first) return messages;
    before = `&before=${first.seq}`;
  }
}

/** The reader's conversations, latest first. */
export const conversationsOf = async (context: BrowserContext, origin: string): Promise<Conversation[]> =>
  (await answerOf<{ data: Conversation[] }>(context, `${origin}/api/v1/conversations`)).data;

export const balanceOf = async (context: BrowserContext, origin: string): Promise<number> =>
  (await answerOf<{ data: { balance: number } }>(context, `${origin}/api/v1/user`)).data.balance;

export async function accountOf(context: BrowserContext, origin: string): Promise<Account> {
  const entries: Entry[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor && `?cursor=${encodeURIComponent(cursor)}`;
    type Page = { data: Entry[]; meta?: { next_cursor: string | null } };
    const page = await answerOf<Page>(context, `${origin}/api/v1/transactions${query}`);
    entries.push(...page.data);
    cursor = page.meta?.next_cursor ?? null;
  }
  return { balance: await balanceOf(context, origin), entries };
}
