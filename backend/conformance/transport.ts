import { setTimeout as pause } from 'node:timers/promises';
import { Untried } from './check.ts';
import type { Carry } from './visitor.ts';

/** As long as the page waits for an answer. */
const TIMEOUT_MS = 10_000;
const MAX_REQUESTS = 10_000;
const MAX_RUN_MS = 15 * 60_000;
/** of one 429; limits by the hour are not waited for */
const MAX_WAIT_SECONDS = 65;
const MAX_WAITS_SECONDS = 300;

/** No answer came: the connection was refused, broken off, or stayed silent. */
export class NoAnswer extends Error {}

/** What one run may ask of a backend. */
export interface Transport {
  /** Waits as long as a 429 asks, and sends again. */
  patient: Carry;
  /** Hands on a 429 like any other answer. */
  direct: Carry;
  requests(): number;
  waitedSeconds(): number;
}

interface TransportOptions {
  /** hears how many seconds a 429 asks to wait */
  onWait?: (seconds: number) => void;
  /** ends a wait */
  signal?: AbortSignal;
}

/** A bounded number of requests in a bounded time. */
export function createTransport({ onWait, signal }: TransportOptions = {}): Transport {
  const startedAt = Date.now();
  let requests = 0;
  let waitedSeconds = 0;

  const direct: Carry = async (url, request) => {
    if (requests >= MAX_REQUESTS) throw new Untried(`after ${MAX_REQUESTS} requests nothing more is sent`);
    if (Date.now() - startedAt > MAX_RUN_MS) throw new Untried('after 15 minutes nothing more is sent');
    requests += 1;
    // a kept connection may be closed by the server just as it is used again, which would look like a fault of the call
    const headers = { ...(request.headers as Record<string, string>), Connection: 'close' };
    try {
      return await fetch(url, { ...request, headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
    } catch (cause) {
      throw new NoAnswer(reasonOf(cause));
    }
  };

  const patient: Carry = async (url, request) => {
    const response = await direct(url, request);
    if (response.status !== 429) return response;
    const seconds = Number(response.headers.get('retry-after') ?? 60);
    const mayWait = seconds <= MAX_WAIT_SECONDS && waitedSeconds + seconds <= MAX_WAITS_SECONDS;
    if (!mayWait) throw new Untried(`429 asks to wait ${seconds} s, which is too long`);
    await response.body?.cancel();
    waitedSeconds += seconds;
    onWait?.(seconds);
    await pause(seconds * 1000 + 250, undefined, { signal }).catch(() => {
      throw new Untried('broken off');
    });
    return patient(url, request);
  };

  return { direct, patient, requests: () => requests, waitedSeconds: () => waitedSeconds };
}

function reasonOf(cause: unknown): string {
  const { name, message, cause: inner } = cause as Error;
  if (name === 'TimeoutError') return `no answer within ${TIMEOUT_MS / 1000} s`;
  const {
    code,
    errors,
    message: innerMessage,
  } = (inner ?? {}) as NodeJS.ErrnoException & { errors?: NodeJS.ErrnoException[] };
  return code ?? errors?.[0]?.code ?? innerMessage ?? message;
}
