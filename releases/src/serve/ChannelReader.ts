import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { channelKey } from '../channel/readChannel.ts';
import { messageOf, refused, unreachable } from '../errors.ts';
import { type ChannelDocument, verifyChannel } from '../model/channel.ts';
import type { Store } from '../store/store.ts';

/** How long a page waits for the store while a state is known. */
const KNOWN_STATE_TIMEOUT_MILLISECONDS = 500;

export interface ChannelReaderOptions {
  store: Store;
  channel: string;
  publicKey: string;
  /** How old the known state may be before it is read again. */
  recheckMilliseconds?: number;
  /** Remembers the highest state seen over restarts, so that an older one is refused even then. */
  seenFile?: string;
  now?: () => Date;
  /** Hears why a newer document was not taken, once per reason; the last accepted state stays in use. */
  onProblem?: (cause: unknown) => void;
}

export interface CurrentChannel {
  document: ChannelDocument;
  source: string;
}

/** Follows one channel and takes only documents that are signed, in time and never older than one taken before. */
export class ChannelReader {
  readonly #options: ChannelReaderOptions;
  #current: CurrentChannel | null = null;
  #highest = 0;
  #problem = '';
  #checkedAt = Number.NEGATIVE_INFINITY;
  #answer: Promise<CurrentChannel> | null = null;

  constructor(options: ChannelReaderOptions) {
    this.#options = options;
  }

  /** The newest accepted state, at most a second old if the store answers. Throws refused or unreachable while there is none. */
  async current(): Promise<CurrentChannel> {
    const recheck = this.#options.recheckMilliseconds ?? 500;
    if (this.#current && performance.now() - this.#checkedAt < recheck) return this.#current;
    this.#answer ??= this.#ask();
    return this.#answer;
  }

  /** A store that hangs must not hang every page: the known state is answered then, and the check goes on for later ones. */
  #ask(): Promise<CurrentChannel> {
    const known = this.#current;
    const check = this.#check().finally(() => {
      this.#answer = null;
    });
    return known ? Promise.race([check, pause(KNOWN_STATE_TIMEOUT_MILLISECONDS, known)]) : check;
  }

  async #check(): Promise<CurrentChannel> {
    try {
      this.#current = await this.#read();
      this.#problem = '';
    } catch (cause) {
      if (!this.#current) throw cause;
      if (messageOf(cause) !== this.#problem) this.#options.onProblem?.(cause);
      this.#problem = messageOf(cause);
    }
    this.#checkedAt = performance.now();
    return this.#current;
  }

  async #read(): Promise<CurrentChannel> {
    const { store, channel, publicKey } = this.#options;
    const pointer = await store.readPointer(channelKey(channel));
    if (!pointer)
      throw refused(`${store.label} has no channel "${channel}"`, `Make it with \`init --channel ${channel}\`.`);
    const same = this.#current?.source === pointer.body;
    const document = same && this.#current ? this.#current.document : verifyChannel(pointer.body, channel, publicKey);
    await this.#assertFresh(document);
    return { document, source: pointer.body };
  }

  async #assertFresh(document: ChannelDocument): Promise<void> {
    if (this.#highest === 0) this.#highest = await this.#remembered();
    if (document.seq < this.#highest)
      throw refused(
        `channel ${document.channel} went back from state ${this.#highest} to ${document.seq}: an old document was put back`,
        'Restore the newest state; to go back on purpose use `rollback`, which makes a newer one.',
      );
    const known = this.#current?.document;
    if (known && document.seq === known.seq && document.nonce !== known.nonce)
      throw refused(
        `channel ${document.channel} has two documents for state ${document.seq}: it was put back and changed`,
        'Find out who may write the store; the next switch is taken again.',
      );
    if (Date.parse(document.expires) <= (this.#options.now?.() ?? new Date()).getTime())
      throw refused(
        `channel ${document.channel} expired at ${document.expires}`,
        'Sign it anew with `pnpm release init`; check the clock of this machine.',
      );
    if (document.seq > this.#highest) await this.#remember(document.seq);
  }

  async #remembered(): Promise<number> {
    const file = this.#options.seenFile;
    // one that cannot be read is written next, which says what is wrong with it
    return file ? Number(await readFile(file, 'utf8').catch(() => 0)) || 0 : 0;
  }

  /** What is live is served also by a machine whose disk is full or damaged. */
  async #remember(seq: number): Promise<void> {
    this.#highest = seq;
    const { seenFile: file, onProblem } = this.#options;
    if (!file) return;
    try {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(`${file}.${process.pid}`, String(seq));
      await rename(`${file}.${process.pid}`, file);
    } catch (cause) {
      const cure =
        'Free room there, or mend its disk or rights: until then a restart would take an older state as well.';
      onProblem?.(unreachable(`${file} cannot be written: ${messageOf(cause)}`, cure));
    }
  }
}
