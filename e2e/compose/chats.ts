import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Visitor, type VisitorAnswer } from '../../backend/conformance/visitor.ts';

interface Message {
  id: string;
  seq: number;
  client_id: string | null;
  role: 'user' | 'assistant';
  status: string;
  cost: number;
}

interface Transaction {
  type: string;
  amount: number;
  ref_id: string;
}

interface Page<Item> {
  data: Item[];
  links: { next: string | null };
}

const TRIES_MS = 120_000;
const BETWEEN_TRIES_MS = 500;

/** A reader in a chat, who retries each request with the same key until it succeeds, as the product's page does. */
export class Chat {
  readonly #visitor: Visitor;
  readonly #storyId: string;
  /** keys of all sent messages, in order */
  readonly #sent: string[] = [];
  /** requests without a response or with status 5xx */
  failures = 0;

  constructor(visitor: Visitor, storyId: string) {
    this.#visitor = visitor;
    this.#storyId = storyId;
  }

  static async begin(origin: string, storyId: string): Promise<Chat> {
    const visitor = new Visitor(origin, { Origin: origin, Connection: 'close' });
    const chat = new Chat(visitor, storyId);
    await chat.#until(() => visitor.get('//sanctum/csrf-cookie'));
    const form = { login: `chat_${randomUUID().slice(0, 12).replaceAll('-', '')}`, password: '135790', name: '宁采臣' };
    const { status, text } = await visitor.post('/register', form);
    if (status !== 201) throw new Error(`registering answered ${status}: ${text.slice(0, 200)}`);
    return chat;
  }

  /** Sends a message and waits until the server has accepted it. */
  async say(): Promise<void> {
    const client_id = randomUUID();
    const form = { story_id: this.#storyId, body: `第 ${this.#sent.length + 1} 句`, client_id };
    await this.#until(() => this.#visitor.post('/messages', form));
    this.#sent.push(client_id);
  }

  /** Waits until no reply is running. */
  async settled(): Promise<void> {
    const until = performance.now() + TRIES_MS;
    for (;;) {
      const running = (await this.#messages()).filter(({ status }) => status === 'pending' || status === 'streaming');
      if (running.length === 0) return;
      if (performance.now() > until) throw new Error(`a reply is ${running[0]?.status} for ever`);
      await pause(BETWEEN_TRIES_MS);
    }
  }

  /** Returns lost or duplicated messages and wrong ledger entries; empty if there are no faults. */
  async faults(): Promise<string[]> {
    const messages = await this.#messages();
    const faults: string[] = [];
    const lines = messages.filter(({ role }) => role === 'user').map(({ client_id }) => client_id);
    if (JSON.stringify(lines) !== JSON.stringify(this.#sent))
      faults.push(`sent ${this.#sent.length} lines, of which the server has ${lines.length}, or in another order`);
    if (messages.some(({ seq }, index) => seq !== index + 1)) faults.push('seq has gaps');
    const replies = messages.filter(({ role }) => role === 'assistant');
    if (replies.length !== this.#sent.length) faults.push(`${replies.length} replies to ${this.#sent.length} lines`);
    const ledger = await this.#ledger();
    const { balance } = (await this.#until(() => this.#visitor.get<{ data: { balance: number } }>('/user'))).body.data;
    const sum = ledger.reduce((total, { amount }) => total + amount, 0);
    if (sum !== balance) faults.push(`the balance is ${balance}, the ledger says ${sum}`);
    for (const reply of replies) {
      const booked = ledger.filter(({ ref_id }) => ref_id === reply.id);
      const charges = booked.filter(({ type }) => type === 'message');
      const paid = -booked.reduce((total, { amount }) => total + amount, 0);
      if (charges.length !== 1) faults.push(`reply ${reply.seq} was charged ${charges.length} times`);
      if (paid !== reply.cost) faults.push(`reply ${reply.seq} costs ${reply.cost} and was paid ${paid}`);
      if (reply.status === 'failed' && paid !== 0) faults.push(`reply ${reply.seq} failed and was not paid back`);
    }
    return faults;
  }

  /** Number of replies that failed because their backend was killed. */
  async interrupted(): Promise<number> {
    return (await this.#messages()).filter(({ status }) => status === 'failed').length;
  }

  async #messages(): Promise<Message[]> {
    const found = await this.#until(() =>
      this.#visitor.get<{ data: Message[] }>(`/messages/latest?story_id=${this.#storyId}&limit=100`),
    );
    return found.body.data;
  }

  async #ledger(): Promise<Transaction[]> {
    const rows: Transaction[] = [];
    let next: string | null = '/transactions';
    while (next) {
      const path: string = next;
      const { body } = await this.#until(() => this.#visitor.get<Page<Transaction>>(path));
      rows.push(...body.data);
      next = body.links.next?.replace(/^\/api\/v1/, '') ?? null;
    }
    return rows;
  }

  /** Retries a request without a response, with status 5xx, or with 409 while a reply is still running. */
  async #until<Body>(ask: () => Promise<VisitorAnswer<Body>>): Promise<VisitorAnswer<Body>> {
    const until = performance.now() + TRIES_MS;
    for (;;) {
      const answer = await ask().catch(() => null);
      if (answer && answer.status < 300) return answer;
      if (answer?.status !== 409) this.failures += 1;
      if (answer && answer.status < 500 && answer.status !== 409)
        throw new Error(`answered ${answer.status}: ${answer.text.slice(0, 200)}`);
      if (performance.now() > until) throw new Error(`no answer in two minutes; the last was ${answer?.status}`);
      await pause(BETWEEN_TRIES_MS);
    }
  }
}
