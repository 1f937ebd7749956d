import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Capability, CONSENT_VERSION } from '@liaozhai/shared/contract';
import { Deviation, Untried } from './check.ts';
import { AnswerWatch } from './checks/answers.ts';
import { expectFields, idOf, recordOf, unwrap } from './entities.ts';
import { type Frame, PusherSocket, SocketProblem } from './socket.ts';
import { LateVisitor, pathOf, type Transport, Visitor, type VisitorAnswer } from './visitor.ts';

/** The backend to check. */
export interface Target {
  /** base URL of `/api`, `/sanctum` and `/broadcasting` */
  url: string;
  /** origin of the product's page: Sanctum has sessions for known pages only */
  origin: string;
  /** `ws://host:port`, base URL of `/app/{key}` */
  socketUrl: string;
  key: string;
  /** number of fuzzed requests per call */
  runs: number;
}

/** An account that this run has registered. */
export interface Member {
  visitor: Visitor;
  id: string;
  login: string;
  password: string;
}

const REPLY_TIMEOUT_MS = 75_000;
/** Timeout after a reply has not ended. */
const IMPATIENT_MS = 5_000;

export const ORDERED_SUGGESTIONS = 3;

/** Address of a site that is not the product's. */
export const FOREIGN_SITE = 'https://elsewhere.example';

export const ownChannel = (userId: string) => `private-App.Models.User.${userId}`;

/** Requests the signature of a channel for a socket. */
export const requestChannel = (visitor: Visitor, socket_id: string, channel_name: string) =>
  visitor.post('//broadcasting/auth', { socket_id, channel_name });

export const isSubscribed = (channel: string) => (frame: Frame) =>
  frame.event === 'pusher_internal:subscription_succeeded' && frame.channel === channel;

/** Resources that the checks share: accounts, a story and a conversation. Each is created once, when first needed. */
export class World {
  readonly answers = new AnswerWatch();
  /** resources that `cleanUp` could not delete */
  readonly leftBehind = { accounts: [] as string[], conversations: 0 };
  /** the accounts of `member`, signed up before their first request */
  readonly mine = new LateVisitor(async () => (await this.member('mine')).visitor);
  readonly theirs = new LateVisitor(async () => (await this.member('theirs')).visitor);
  readonly spare = new LateVisitor(async () => (await this.member('spare')).visitor);
  readonly #run = String(randomInt(10_000_000)).padStart(7, '0');
  readonly #sockets = new Set<PusherSocket>();
  #socketProblem: string | undefined;
  #isLost = false;
  #replyTimeoutMs = REPLY_TIMEOUT_MS;
  readonly #resources = new Map<string, Promise<unknown>>();

  constructor(
    readonly target: Target,
    private readonly transport: Transport,
  ) {}

  /** Creates a visitor with a CSRF token. @param options.isHasty returns a 429 instead of waiting */
  async visitor(options: { isHasty?: boolean } = {}): Promise<Visitor> {
    return this.#bareVisitor(options.isHasty).fetchToken();
  }

  /** Requests a path as a new visitor. */
  async visit(path: string): Promise<VisitorAnswer> {
    return (await this.visitor()).get(path);
  }

  #bareVisitor(isHasty = false): Visitor {
    const { origin, url } = this.target;
    const headers = { Origin: origin, Referer: `${origin}/`, 'X-Requested-With': 'XMLHttpRequest' };
    const send = isHasty ? this.transport.direct : this.transport.patient;
    return new Visitor(url, headers, send, (exchange) => this.answers.record(exchange));
  }

  /** Creates a client that is not a page: without origin and token. */
  outsider(): Visitor {
    return new Visitor(this.target.url, {}, this.transport.patient);
  }

  /** Creates another client with the same cookies. */
  sameSessionVisitor({ visitor }: Member, options: { isHasty?: boolean } = {}): Visitor {
    const twin = this.#bareVisitor(options.isHasty);
    for (const [name, value] of visitor.cookies) twin.cookies.set(name, value);
    return twin;
  }

  /** Runs `make` once per name and caches its promise. */
  createOnce<Value>(what: string, make: () => Promise<Value>): Promise<Value> {
    const resource = (this.#resources.get(what) as Promise<Value> | undefined) ?? make();
    this.#resources.set(what, resource);
    return resource;
  }

  /** Registers one of the run's accounts and returns the response, also a refusal. */
  registration(who: 'mine' | 'theirs' | 'spare') {
    return this.createOnce(`registration ${who}`, async () => {
      const number = ['mine', 'theirs', 'spare'].indexOf(who) + 1;
      const visitor = await this.visitor();
      // like the page's form: letters and digits, and a password of six digits
      const password = String(randomInt(100_000, 1_000_000));
      const form = { login: `conformance${this.#run}${number}`, password, name: `对照${number}` };
      const consent = (await this.announces('account.consent')) && { consent_version: CONSENT_VERSION };
      const answer = await visitor.post('/register', { ...form, ...consent });
      return { form, visitor, answer };
    });
  }

  /** Returns a signed-in account: `mine` acts, `theirs` is the other user, `spare` may be changed or locked. */
  async member(who: 'mine' | 'theirs' | 'spare'): Promise<Member> {
    const { form, visitor, answer } = await this.registration(who);
    const id = idOf(userOf(answer));
    if (answer.status > 299 || id === '') throw new Untried('nobody could be registered');
    return { visitor, id, login: form.login, password: form.password };
  }

  /** Starts a further session of the account. */
  async signIn({ login, password }: Pick<Member, 'login' | 'password'>): Promise<Visitor> {
    const visitor = await this.visitor();
    const answer = await visitor.post('/login', { login, password });
    answer.orUntried('nobody could sign in again');
    return visitor;
  }

  async announces(name: Capability): Promise<boolean> {
    const { body } = await this.createOnce('capabilities', () => this.visit('/capabilities'));
    const { data } = recordOf(body);
    return Array.isArray(data) && data.includes(name);
  }

  /** Throws a 404 `Deviation`, which counts as a missing call, unless the backend announces the capability. */
  async assertAnnounced(name: Capability): Promise<void> {
    if (!(await this.announces(name))) throw new Deviation(`${name} is not announced`, 404);
  }

  /** Loads the feed's first page as a visitor. */
  feed(): Promise<VisitorAnswer> {
    return this.createOnce('feed', () => this.visit('/stories'));
  }

  async feedStories() {
    return (await this.feed()).items;
  }

  /** Returns two stories of the feed, the cheapest first, since an account has few points. */
  async stories(): Promise<[id: string, other: string]> {
    const items = await this.feedStories();
    const price = (story: Record<string, unknown>) => Number(story.price_per_message ?? 0);
    const [first, second] = [...items].sort((left, right) => price(left) - price(right)).map(idOf);
    if (!first || !second) throw new Untried('the feed has fewer than two stories');
    return [first, second];
  }

  firstMessage(): Promise<Sending> {
    return this.createOnce('first message', async () => {
      const member = await this.member('mine');
      const [story_id] = await this.stories();
      return sendMessage(member.visitor, { story_id, body: '门外是谁？' });
    });
  }

  /** Returns the conversation of `mine`, who is the visitor, once no reply is being written. */
  async conversation(): Promise<{ id: string; storyId: string; sent: Sending; visitor: Visitor }> {
    const sent = await this.firstMessage();
    const id = conversationIdOf(sent.answer);
    if (sent.answer.status > 299 || id === '') throw new Untried('no message could be sent');
    const { visitor } = await this.member('mine');
    if (this.#isLost) throw new Untried('the conversation cannot be gone on with');
    try {
      await this.settled(visitor, id);
    } catch (cause) {
      if (!(cause instanceof Deviation)) throw cause;
      this.#isLost = true;
      throw new Untried(`the conversation cannot be gone on with: ${cause.message}`);
    }
    return { id, storyId: String(sent.content.story_id), sent, visitor };
  }

  /** Orders suggestions for `mine` once, since a second order is refused while they are written. */
  suggestionOrder(): Promise<VisitorAnswer> {
    return this.createOnce('suggestion', async () => {
      const { id: conversation_id, visitor } = await this.conversation();
      const order = { conversation_id, count: ORDERED_SUGGESTIONS, client_id: randomUUID() };
      return visitor.postOnce('/messages/suggestion', order);
    });
  }

  async suggestionId(): Promise<string> {
    return createdId(await this.suggestionOrder(), 'no suggestions could be ordered');
  }

  /** Orders the first package for `mine`. */
  order(): Promise<{ form: { package_id: string; client_id: string }; answer: VisitorAnswer }> {
    return this.createOnce('order', async () => {
      const { visitor } = await this.member('mine');
      const { packages } = (await visitor.get('/orders')).meta;
      const package_id = Array.isArray(packages) ? idOf(packages[0]) : '';
      if (package_id === '') throw new Untried('the server names nothing to buy');
      const form = { package_id, client_id: randomUUID() };
      return { form, answer: await visitor.postOnce('/orders', form) };
    });
  }

  /** Sends a support ticket of `mine`. */
  ticket(): Promise<{ form: { kind: string; body: string; client_id: string }; answer: VisitorAnswer }> {
    return this.createOnce('ticket', async () => {
      const { visitor } = await this.member('mine');
      const words = { kind: 'other', body: '对照测试，不必回复', contact: '', diagnostics: '' };
      const form = { ...words, client_id: randomUUID() };
      return { form, answer: await visitor.postOnce('/support/tickets', form) };
    });
  }

  /** Waits until no reply is being written. Returns the messages by seq. Throws `Deviation` at a timeout. */
  async settled(visitor: Visitor, conversationId: string): Promise<Record<string, unknown>[]> {
    const timeoutMs = this.#replyTimeoutMs;
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const answer = await visitor.get(pathOf`/messages/latest?conversation_id=${conversationId}`);
      answer.expectSuccess();
      const { items } = answer.page;
      const runningReply = items.find(({ status }) => status === 'pending' || status === 'streaming');
      if (!runningReply) return items;
      if (Date.now() > deadline) {
        this.#replyTimeoutMs = IMPATIENT_MS;
        throw new Deviation(`a reply that is ${String(runningReply.status)} after ${timeoutMs / 1000} s`);
      }
      await pause(300);
    }
  }

  /** Returns the last message, once no reply is being written. */
  async lastMessage(visitor: Visitor, conversationId: string): Promise<Record<string, unknown>> {
    return (await this.settled(visitor, conversationId)).at(-1) ?? {};
  }

  /** Opens a socket. Throws `Deviation` unless the server greets it. */
  async socket(options: { isEscaped?: boolean } = {}): Promise<PusherSocket & { id: string }> {
    const socket = await this.rawSocket(options);
    if (socket.id === undefined) throw new Deviation(JSON.stringify(socket.frames[0]));
    return socket as PusherSocket & { id: string };
  }

  /** Opens a socket and waits for its first frame. After one failure no further socket is opened. */
  async rawSocket({
    origin = this.target.origin,
    key = this.target.key,
    isEscaped = true,
  } = {}): Promise<PusherSocket> {
    if (this.#socketProblem) throw new Untried(this.#socketProblem);
    const name = isEscaped ? encodeURIComponent(key) : key;
    const address = `${this.target.socketUrl}/app/${name}?protocol=7&client=js&version=8.4.0`;
    try {
      const socket = await PusherSocket.open(address, { origin });
      this.#sockets.add(socket);
      return socket;
    } catch (cause) {
      if (!(cause instanceof SocketProblem) || this.#sockets.size > 0) throw cause;
      this.#socketProblem = `no socket at ${this.target.socketUrl}`;
      throw new SocketProblem(`${this.#socketProblem} (${cause.message}): where is Reverb (--reverb, --key)?`);
    }
  }

  /** Subscribes to the account's own channel. Returns its name. */
  async join(socket: PusherSocket & { id: string }, visitor: Visitor, userId: string): Promise<string> {
    const channel = ownChannel(userId);
    const answer = (await requestChannel(visitor, socket.id, channel)).orUntried('no channel was authorised');
    const { auth, channel_data } = recordOf(answer.body);
    socket.send({ event: 'pusher:subscribe', data: { auth, channel_data, channel } });
    await socket.frame(isSubscribed(channel));
    return channel;
  }

  /** Deletes the conversations, logs out and closes the sockets. Records what could not be deleted. */
  async cleanUp(): Promise<void> {
    for (const socket of this.#sockets) socket.close();
    for (const who of ['mine', 'theirs', 'spare'] as const) {
      const member = this.#resources.has(`registration ${who}`) ? await this.member(who).catch(() => null) : null;
      if (!member) continue;
      this.leftBehind.accounts.push(member.login);
      this.leftBehind.conversations += await deleteConversations(member);
    }
  }
}

/** Returns the number of conversations that are left. */
async function deleteConversations({ visitor }: Member): Promise<number> {
  let remaining = 0;
  try {
    for (const conversation of (await visitor.get('/conversations')).items) {
      const { status } = await visitor.delete(pathOf`/conversations/${idOf(conversation)}`);
      if (status > 299) remaining += 1;
    }
    await visitor.post('/logout');
  } catch {
    // conversations that cannot be listed are not counted; the account is reported anyway
  }
  return remaining;
}

/** A sent message and its response. */
export interface Sending {
  content: Record<string, unknown>;
  answer: VisitorAnswer;
}

/** Sends a message with a new idempotency key. */
export async function sendMessage(visitor: Visitor, content: Record<string, unknown>): Promise<Sending> {
  const message = { body: '夜里好冷', client_id: randomUUID(), ...content };
  return { content: message, answer: await visitor.postOnce('/messages', message) };
}

/** Returns the first page of a list. */
export const listOf = async (visitor: Visitor, path: string) => (await visitor.get(path)).items;

/** Yields the pages of a list, each after the cursor of the one before. */
export async function* pagesOf(visitor: Visitor, path: string, first?: VisitorAnswer) {
  let { items, nextCursor } = (first ?? (await visitor.get(path))).page;
  yield items;
  while (nextCursor !== null) {
    const search = new URLSearchParams({ cursor: nextCursor });
    ({ items, nextCursor } = (await visitor.get(`${path}?${search}`)).expectStatus(200).page);
    yield items;
  }
}

/** Returns a conversation as the list has it. */
export const listedConversation = async (visitor: Visitor, id: string) =>
  (await listOf(visitor, '/conversations')).find((item) => idOf(item) === id);

/** Returns the visitor's user as the server has it now. */
export const currentUser = async (visitor: Visitor) => (await visitor.get('/user')).entity;

/** Throws `Deviation` unless an answer has the balance that the user then has. */
export async function expectBalance(visitor: Visitor, answer: VisitorAnswer): Promise<void> {
  const { balance } = await currentUser(visitor);
  expectFields('the answer', answer.entity, { balance });
}

/** Returns the prices and rewards that the backend announces; none from a backend without them. */
export const announcedRules = async (visitor: Visitor) =>
  recordOf(recordOf((await visitor.get('/capabilities')).body).rules);

/** Returns the user of a sign-up or sign-in: bare, under `user`, or either in `data`. */
export function userOf({ entity }: VisitorAnswer): Record<string, unknown> {
  return unwrap('user' in entity ? entity.user : entity);
}

/** Returns the id of a created resource. Throws `Untried` if none was created. */
export function createdId(answer: VisitorAnswer, problem = 'nothing could be made to look at'): string {
  const id = idOf(answer.orUntried(problem).entity);
  if (id === '') throw new Untried(problem);
  return id;
}

export function conversationIdOf({ entity }: VisitorAnswer): string {
  const { conversation, message } = entity;
  return idOf(conversation) || String(recordOf(message).conversation_id ?? '');
}

/** Returns the points that `mine` spent, by its balance and by its ledger. */
export async function spentBy(world: World, act: () => Promise<unknown>): Promise<{ balance: number; ledger: number }> {
  const readLedger = async () => {
    const rows = await listOf(world.mine, '/transactions');
    return { balance: Number((await currentUser(world.mine)).balance), rows };
  };
  const before = await readLedger();
  await act();
  const after = await readLedger();
  const idsBefore = new Set(before.rows.map(idOf));
  const addedRows = after.rows.filter((row) => !idsBefore.has(idOf(row)));
  return {
    balance: before.balance - after.balance,
    ledger: addedRows.reduce((sum, { amount }) => sum - Number(amount), 0),
  };
}

/** Loads the conversation of `mine` from `messages/latest`. */
export async function latest(world: World, query: { after?: number; before?: number; limit?: number } = {}) {
  const { id, visitor } = await world.conversation();
  const search = new URLSearchParams({ conversation_id: id });
  for (const [name, value] of Object.entries(query)) search.set(name, String(value));
  const { items, meta } = (await visitor.get(`/messages/latest?${search}`)).expectStatus(200);
  return { id, items, meta, seqs: items.map(({ seq }) => Number(seq)) };
}

export const ascending = (seqs: number[]) => seqs.every((seq, index) => index === 0 || seq > Number(seqs[index - 1]));

/** Sends a line of `theirs`, which can be edited, and waits for its reply. */
export async function ownLine(world: World) {
  const { visitor } = await world.member('theirs');
  const [, story_id] = await world.stories();
  const { answer } = await sendMessage(visitor, { story_id });
  const conversationId = conversationIdOf(answer.orUntried('no message could be sent'));
  const messages = await world.settled(visitor, conversationId);
  const line = messages.findLast(({ role }) => role === 'user') ?? {};
  const path = pathOf`/messages/${idOf(line)}/edit`;
  const edit = (content: object) => visitor.postOnce(path, { client_id: randomUUID(), ...content });
  return { visitor, conversationId, messages, line, edit };
}
