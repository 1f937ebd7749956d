import { setTimeout as pause } from 'node:timers/promises';
import { retryAfterSeconds } from '@liaozhai/shared/contract';
import { NoAnswer, Untried } from './check.ts';
import type { RawResponse, Send } from './visitor.ts';

/** Timeout of a request, as in the page. */
const TIMEOUT_MS = 10_000;
/** Total time of unanswered requests after which the timeout is `IMPATIENT_MS`. */
const MAX_SILENCE_MS = 60_000;
const IMPATIENT_MS = 1_000;
const MAX_REQUESTS = 10_000;
const MAX_RUN_MS = 15 * 60_000;
/** maximum wait for one 429; hourly limits are not waited for */
const MAX_WAIT_SECONDS = 65;
const MAX_WAITS_SECONDS = 300;
/** number of waits per request */
const MAX_WAITS = 5;
/** Far more than any response of the API. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** The requests of one run. */
export interface Transport {
  /** Waits after a 429 and repeats the request. */
  patient: Send;
  /** Returns a 429 like any other response. */
  direct: Send;
  requests(): number;
  waitedSeconds(): number;
}

interface TransportOptions {
  /** receives the seconds of a 429's wait */
  onWait?: (seconds: number) => void;
  /** ends a wait */
  signal?: AbortSignal;
}

/** Creates a transport that limits the number and the time of requests. */
export function createTransport({ onWait, signal }: TransportOptions = {}): Transport {
  const startedAt = Date.now();
  let requests = 0;
  let silenceMs = 0;
  let waitedSeconds = 0;

  const direct: Send = async (url, request) => {
    if (requests >= MAX_REQUESTS) throw new Untried(`after ${MAX_REQUESTS} requests nothing more is sent`);
    if (Date.now() - startedAt > MAX_RUN_MS) throw new Untried('after 15 minutes nothing more is sent');
    requests += 1;
    // the server may close a keep-alive connection while it is reused, which would look like a fault of the call
    const headers = { ...(request.headers as Record<string, string>), Connection: 'close' };
    const timeoutMs = silenceMs < MAX_SILENCE_MS ? TIMEOUT_MS : IMPATIENT_MS;
    try {
      const answer = await fetch(url, { ...request, headers, signal: AbortSignal.timeout(timeoutMs) });
      return { status: answer.status, headers: answer.headers, body: await bodyOf(answer) };
    } catch (cause) {
      if (cause instanceof NoAnswer) throw cause;
      if ((cause as Error).name !== 'TimeoutError') throw new NoAnswer(reasonOf(cause));
      silenceMs += timeoutMs;
      throw new NoAnswer(`no answer within ${timeoutMs / 1000} s`);
    }
  };

  const sendPatiently = async (url: string, request: RequestInit, waits: number): Promise<RawResponse> => {
    const response = await direct(url, request);
    if (response.status !== 429) return response;
    const { headers } = response;
    const waitSeconds = retryAfterSeconds(headers.get('retry-after'), headers.get('date'));
    const seconds = waitSeconds === undefined ? MAX_WAIT_SECONDS : (waitSeconds ?? Number.POSITIVE_INFINITY);
    const mayWait = seconds <= MAX_WAIT_SECONDS && waitedSeconds + seconds <= MAX_WAITS_SECONDS;
    if (!mayWait) throw new Untried(`429 asks to wait ${headers.get('retry-after')} s, which is too long`);
    if (waits === MAX_WAITS) throw new Untried(`429 again after ${MAX_WAITS} waits`);
    waitedSeconds += seconds;
    onWait?.(seconds);
    await pause(seconds * 1000 + 250, undefined, { signal }).catch(() => {
      throw new Untried('broken off');
    });
    return sendPatiently(url, request, waits + 1);
  };
  const patient: Send = (url, request) => sendPatiently(url, request, 0);

  return { direct, patient, requests: () => requests, waitedSeconds: () => waitedSeconds };
}

async function bodyOf(answer: Response): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of answer.body ?? []) {
    length += piece.length;
    if (length > MAX_ANSWER_BYTES) throw new NoAnswer(`an answer of more than ${MAX_ANSWER_BYTES} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function reasonOf(cause: unknown): string {
  const { message, cause: inner } = cause as Error;
  const {
    code,
    errors,
    message: innerMessage,
  } = (inner ?? {}) as NodeJS.ErrnoException & { errors?: NodeJS.ErrnoException[] };
  return code ?? errors?.[0]?.code ?? innerMessage ?? message;
}
