import type { DeltaEventDto, LatestDto, MessageDto, MessageEventDto } from '@liaozhai/shared/contract';
import { expect, test } from '@rstest/core';
import fc from 'fast-check';
import { latestDto, messageDto, messageEvent } from '../fixtures';
import {
  applyDelta,
  applyEvent,
  contradicts,
  emptyThread,
  highestVersion,
  type Thread,
  toPage,
  withChanges,
  withNewest,
  withOlder,
} from './thread';

type Sent = { kind: 'message'; event: MessageEventDto } | { kind: 'delta'; event: DeltaEventDto };
type Answer = { body: LatestDto; before?: number };
const PAGE = 4;

/** Model of the server, reduced to the sync rule: seq orders, each change raises the version, deltas do not. */
class Server {
  messages: MessageDto[] = [];
  version = 0;
  made = 0;
  wire: Sent[] = [];
  /** Ids of messages whose text has been replaced. */
  rewritten = new Set<unknown>();

  get last() {
    return this.messages.at(-1);
  }

  get active() {
    return this.last?.status === 'pending' || this.last?.status === 'streaming' ? this.last : undefined;
  }

  act(choice: number): void {
    const running = this.active;
    if (running && choice < 6) this.write(running, choice % 2 ? '月色' : '𠮷');
    else if (running) this.change(running, { status: choice % 3 === 0 ? 'failed' : 'completed' });
    else if (this.last && choice === 11) this.edit(this.messages[this.version % this.messages.length]);
    else if (this.last && choice === 10) this.retell(this.last);
    else if (this.last && choice % 3 === 0) this.resume(this.last);
    else this.ask();
  }

  latest({ after, before }: { after?: number; before?: number } = {}): LatestDto {
    const wanted = this.messages.filter(
      (each) =>
        (after === undefined || (each.version ?? 0) > after) && (before === undefined || (each.seq ?? 0) < before),
    );
    const changed = [...wanted].sort((left, right) => (left.version ?? 0) - (right.version ?? 0));
    const rows = after === undefined ? wanted.slice(-PAGE) : changed.slice(0, PAGE);
    const hasMore = wanted.length > rows.length;
    const version = after !== undefined && hasMore ? rows.at(-1)?.version : this.version;
    if (after !== undefined && this.active && !rows.includes(this.active)) rows.push(this.active);
    rows.sort((left, right) => (left.seq ?? 0) - (right.seq ?? 0));
    return structuredClone(
      latestDto(rows, { conversation_id: 'c-1', version, last_seq: this.last?.seq ?? 0, has_more: hasMore }),
    );
  }

  private ask(): void {
    this.add({ role: 'user', body: `问${this.messages.length}`, client_id: `k${this.messages.length}` });
    this.add({ body: '', status: 'pending' });
  }

  private add(patch: Partial<MessageDto>): void {
    this.version += 1;
    this.made += 1;
    const id = `m-${this.made}`;
    const message = messageDto({ ...patch, id, seq: this.messages.length + 1, version: this.version });
    this.messages.push(message);
    this.wire.push({ kind: 'message', event: messageEvent({ ...message }) });
  }

  private change(message: MessageDto, patch: Partial<MessageDto>, cut: { last_seq?: number } = {}): void {
    this.version += 1;
    Object.assign(message, patch, { version: this.version });
    this.wire.push({ kind: 'message', event: { ...messageEvent({ ...message }), ...cut } });
  }

  /** Edits a line: changes its text, deletes the messages after it and begins another reply. */
  private edit(message: MessageDto | undefined): void {
    const line = message?.role === 'user' ? message : this.messages[0];
    if (!line) return;
    const last_seq = line.seq ?? 1;
    this.messages.splice(last_seq);
    this.rewritten.add(line.id);
    const revision = (line.revision ?? 1) + 1;
    this.change(line, { body: `改${this.version}`, revision }, { last_seq });
    this.add({ body: '', status: 'pending' });
  }

  private retell(message: MessageDto): void {
    if (message.role !== 'assistant') return;
    this.rewritten.add(message.id);
    this.change(message, { body: '', status: 'pending', revision: (message.revision ?? 1) + 1 });
  }

  private resume(message: MessageDto): void {
    if (message.role === 'assistant') {
      this.change(message, { status: 'pending', revision: (message.revision ?? 1) + 1 });
    }
  }

  private write(message: MessageDto, text: string): void {
    const { id, body } = message;
    const revision = message.revision ?? 1;
    const offset = [...(body ?? '')].length;
    Object.assign(message, { body: body + text, status: 'streaming' });
    this.wire.push({
      kind: 'delta',
      event: { message_id: id, conversation_id: 'c-1', revision, offset, text },
    });
  }
}

const opened = (body: LatestDto) => withNewest(emptyThread('s-1'), toPage(body, true));
const receive = (thread: Thread, sent: Sent) =>
  sent.kind === 'message' ? applyEvent(thread, sent.event).thread : applyDelta(thread, sent.event).thread;
const take = (thread: Thread, { body, before }: Answer) =>
  before === undefined ? withChanges(thread, toPage(body, true)) : withOlder(thread, toPage(body, true), before);
const firstSeq = (thread: Thread) => thread.messages[0]?.seq ?? 0;

/** Synchronizes completely: catches up page by page, then pages back to the beginning. */
function settled(server: Server, start: Thread): Thread {
  let thread = start;
  for (let more = true; more; ) {
    const page = toPage(server.latest({ after: thread.version }), true);
    const known = highestVersion(thread);
    thread = withChanges(thread, page);
    more = page.hasMore;
    expect(!more && contradicts(thread, page, known)).toBe(false);
  }
  while (thread.hasOlder) {
    const asOf = thread.version;
    const before = firstSeq(thread);
    thread = withOlder(thread, toPage(server.latest({ before }), true), before);
    expect(thread.version).toBe(asOf);
  }
  return thread;
}

/** Shown text stays shown, unless the message or one before it was edited. */
function expectNothingTakenBack(server: Server, before: Thread | undefined, after: Thread): void {
  for (const message of before?.messages ?? []) {
    const now = after.messages.find((each) => each.id === message.id);
    if (!now) expect(server.messages.some(({ id }) => id === message.id)).toBe(false);
    else if (!server.rewritten.has(message.id)) expect(now.body.startsWith(message.body)).toBe(true);
  }
}

const step = fc.record({
  what: fc.constantFrom(
    'act',
    'act',
    'act',
    'deliver',
    'deliver',
    'odd',
    'repeat',
    'drop',
    'ask',
    'older',
    'answer',
    'lose',
    'kill',
  ),
  pick: fc.nat(11),
});

/** The event with the seq of a loaded message or one far past the end. */
function withOddSeq({ messages }: Thread, sent: Sent, pick: number): Sent {
  if (sent.kind !== 'message' || !sent.event.message) return sent;
  const seq = messages[pick]?.seq ?? 999;
  return { ...sent, event: { ...sent.event, message: { ...sent.event.message, seq } } };
}

test('sync.property: dropped, doubled, reordered, delayed, misplaced events and kills lose, double and misorder nothing', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 40, maxLength: 160, size: 'max' }), (steps) => {
      const server = new Server();
      server.act(1);
      let thread = opened(server.latest());
      const answers: Answer[] = [];
      for (const { what, pick } of steps) {
        const before = what === 'kill' ? undefined : thread;
        const at = pick % Math.max(1, server.wire.length);
        const sent = server.wire[at];
        if (what === 'act') server.act(pick);
        if (sent && (what === 'deliver' || what === 'repeat')) thread = receive(thread, sent);
        if (sent && what === 'odd') thread = receive(thread, withOddSeq(thread, sent, pick));
        if (what === 'deliver' || what === 'drop' || what === 'odd') server.wire.splice(at, 1);
        if (what === 'ask') answers.push({ body: server.latest({ after: thread.version }) });
        if (what === 'older' && thread.hasOlder) {
          answers.push({ body: server.latest({ before: firstSeq(thread) }), before: firstSeq(thread) });
        }
        if (what === 'answer') for (const answer of answers.splice(pick % 3, 1)) thread = take(thread, answer);
        if (what === 'lose') answers.splice(0);
        if (what === 'kill') thread = pick % 2 ? opened(server.latest()) : structuredClone(thread);
        expectNothingTakenBack(server, before, thread);
        const shown = thread.messages.map((message) => message.seq);
        expect(shown).toEqual([...new Set(shown)].sort((left, right) => left - right));
      }
      const told = ({ seq, body, status, revision }: Pick<MessageDto, 'seq' | 'body' | 'status' | 'revision'>) => ({
        seq,
        body,
        status,
        revision,
      });
      expect(settled(server, thread).messages.map(told)).toEqual(server.messages.map(told));
    }),
    { numRuns: 1000 },
  );
});
