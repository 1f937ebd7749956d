import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { causeOf } from '../ai/modelAnswer.ts';
import type { ReverbApp } from '../env.ts';
import { hmac } from '../signatures.ts';
import type { Log } from '../telemetry.ts';
import type { Broadcaster } from './events.ts';

/** At 10 kB an event, limits the memory for an unavailable Reverb to 10 MB. */
const MAX_QUEUED_EVENTS = 1_000;
/** Age at which an event is dropped: pages fetch missing events after a silence of 5 s. */
const MAX_EVENT_AGE_MS = 30_000;
const ANSWER_TIMEOUT_MS = 5_000;
/** Time that `close` waits for queued events. */
const FLUSH_MS = 300;

/**
 * Publishes through Reverb's HTTP API, one event at a time, since concurrent requests could change the order. An event
 * that Reverb rejects is dropped, and pages synchronize with `messages/latest`.
 */
export class ReverbBroadcaster implements Broadcaster {
  readonly #queue: { body: string; publishedAt: number }[] = [];
  #sending: Promise<void> | null = null;
  /** Lost events since Reverb last accepted one. */
  #lostInARow = 0;
  #lostTotal = 0;

  constructor(
    private readonly app: ReverbApp,
    private readonly log: Log,
  ) {}

  sign(text: string): string {
    return `${this.app.key}:${hmac(this.app.secret, text)}`;
  }

  publish(channel: string, event: string, data: object): void {
    const body = JSON.stringify({ name: event, channels: [channel], data: JSON.stringify(data) });
    this.#queue.push({ body, publishedAt: performance.now() });
    if (this.#queue.length > MAX_QUEUED_EVENTS) {
      // drops the oldest: by the version of a newer event a page detects the missing one
      this.#queue.shift();
      this.#recordLoss(`more than ${MAX_QUEUED_EVENTS} wait`);
    }
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = null;
    });
  }

  /** Reverb has no sessions and cannot close an open socket: see docs/decisions/012-reverb-sessions.md. */
  closeSession(): void {}

  load() {
    return { sockets: 0, queuedEvents: this.#queue.length, lostEvents: this.#lostTotal };
  }

  async close(): Promise<void> {
    await Promise.race([this.#sending, sleep(FLUSH_MS, undefined, { ref: false })]);
    this.#queue.length = 0;
  }

  async #sendAll(): Promise<void> {
    for (let event = this.#queue.shift(); event; event = this.#queue.shift()) {
      const isFresh = performance.now() - event.publishedAt <= MAX_EVENT_AGE_MS;
      const failure = isFresh ? await this.#send(event.body) : 'it is too slow';
      if (failure) this.#recordLoss(failure);
      else if (this.#lostInARow > 0) {
        this.log.warn(`Reverb at ${this.app.url} takes events again; ${this.#lostInARow} were lost.`);
        this.#lostInARow = 0;
      }
    }
  }

  /** Resolves to a description of the failure, or null. */
  async #send(body: string): Promise<string | null> {
    try {
      const response = await fetch(`${this.app.url}${signedPath(this.app, body, Date.now())}`, {
        method: 'POST',
        // Reverb closes after each response without announcing it, so a second request on the connection could be lost
        headers: { 'content-type': 'application/json', connection: 'close' },
        body,
        redirect: 'manual',
        signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
      });
      await response.arrayBuffer();
      return response.status === 200 ? null : describeRefusal(response.status);
    } catch (error) {
      const isTimeout = (error as Error).name === 'TimeoutError';
      return isTimeout ? `no answer within ${ANSWER_TIMEOUT_MS / 1000} s` : causeOf(error);
    }
  }

  #recordLoss(failure: string): void {
    if (this.#lostInARow === 0) {
      this.log.error(`Reverb at ${this.app.url} takes no events: ${failure}. Pages fetch what they miss meanwhile.`);
    }
    this.#lostInARow += 1;
    this.#lostTotal += 1;
  }
}

/** Returns the signed path of Pusher's HTTP API that publishes an event. */
export function signedPath({ id, key, secret }: Omit<ReverbApp, 'url'>, body: string, now: number): string {
  const path = `/apps/${id}/events`;
  const bodyHash = createHash('md5').update(body).digest('hex');
  const timestamp = Math.floor(now / 1000);
  const query = `auth_key=${key}&auth_timestamp=${timestamp}&auth_version=1.0&body_md5=${bodyHash}`;
  return `${path}?${query}&auth_signature=${hmac(secret, `POST\n${path}\n${query}`)}`;
}

function describeRefusal(status: number): string {
  if (status === 401) return 'it answers 401, so REVERB_APP_KEY or REVERB_APP_SECRET is not what it has';
  if (status === 404) return 'it answers 404, so REVERB_APP_ID is not what it has';
  return `it answers ${status}`;
}
