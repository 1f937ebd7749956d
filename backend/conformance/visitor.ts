import { setTimeout as pause } from 'node:timers/promises';
import { retryAfterSeconds } from '@liaozhai/shared/contract';
import { Deviation, laravelProblem, NoAnswer, parseJson, reasonOf, shown, Untried } from './check.ts';
import { pageOf, recordOf, unwrap } from './entities.ts';

/** A response. Its assertions throw `Deviation` and return it. */
export class VisitorAnswer<Body = unknown> {
  /** the parsed body; null if it is empty or not JSON */
  readonly body: Body;
  /** the body without a byte order mark, which browsers skip */
  readonly text: string;
  readonly hasByteOrderMark: boolean;

  constructor(
    readonly status: number,
    readonly headers: Headers,
    bodyText: string,
  ) {
    this.text = bodyText.replace(/^\uFEFF/, '');
    this.hasByteOrderMark = this.text !== bodyText;
    this.body = parseJson(this.text, null) as Body;
  }

  get entity() {
    return unwrap(this.body);
  }

  get page() {
    return pageOf(this.body);
  }

  get items() {
    return this.page.items;
  }

  /** `meta` of a list */
  get meta() {
    return recordOf(recordOf(this.body).meta);
  }

  expectStatus(...allowed: number[]): this {
    if (!allowed.includes(this.status)) throw new Deviation(shown(this), this.status);
    return this;
  }

  expectSuccess(): this {
    if (this.status < 200 || this.status > 299) throw new Deviation(shown(this), this.status);
    return this;
  }

  /** Throws `Untried` unless the call, which a check only needs, succeeded. */
  orUntried(problem: string): this {
    if (this.status > 299) throw new Untried(problem);
    return this;
  }

  /** Expects 422 with errors for at least one of these fields. */
  expectFieldErrors(...fields: string[]): void {
    this.expectStatus(422);
    const problem = laravelProblem(this);
    if (problem) throw new Deviation(problem, this.status);
    const { errors } = this.body as { errors: object };
    if (!fields.some((field) => field in errors)) throw new Deviation(shown(this));
  }
}

/** A request and its response. */
export interface Exchange {
  method: string;
  /** path below `/api/v1`, or below the root with `//` */
  path: string;
  answer: VisitorAnswer;
}

export interface RawResponse {
  status: number;
  headers: Headers;
  body: Buffer;
}
export type Send = (url: string, request: RequestInit) => Promise<RawResponse>;

const byFetch: Send = async (url, request) => {
  const answer = await fetch(url, request);
  return { status: answer.status, headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) };
};

/** Builds a path whose inserted values are escaped, such as ``pathOf`/stories/${id}` ``. */
export const pathOf = (parts: TemplateStringsArray, ...values: string[]): string =>
  String.raw({ raw: parts }, ...values.map(encodeURIComponent));

/** An HTTP client that stores cookies and sends the CSRF token, like a page. */
export class Visitor {
  readonly cookies = new Map<string, string>();
  /** the `Set-Cookie` line that last set each cookie */
  readonly cookieLines = new Map<string, string>();

  /**
   * @param sendRequest sends a request to the server; `fetch` by default
   * @param onAnswer receives every response before the caller
   */
  constructor(
    readonly origin: string,
    readonly headers: Record<string, string> = {},
    private readonly sendRequest: Send = byFetch,
    private readonly onAnswer?: (exchange: Exchange) => void,
  ) {}

  get<Body>(path: string, headers: Record<string, string> = {}): Promise<VisitorAnswer<Body>> {
    return this.send<Body>('GET', path, undefined, headers);
  }

  post<Body>(path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<VisitorAnswer<Body>> {
    return this.send<Body>('POST', path, body, headers);
  }

  /** Posts with an idempotency key in header and body, like the page. */
  postOnce<Body>(path: string, body: Record<string, unknown> & { client_id: string }): Promise<VisitorAnswer<Body>> {
    return this.post<Body>(path, body, { 'Idempotency-Key': body.client_id });
  }

  put<Body>(path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<VisitorAnswer<Body>> {
    return this.send<Body>('PUT', path, body, headers);
  }

  delete<Body>(path: string): Promise<VisitorAnswer<Body>> {
    return this.send<Body>('DELETE', path);
  }

  /** `path` is below `/api/v1`, or below the root with `//`. Redirects are returned, not followed. */
  async send<Body>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<VisitorAnswer<Body>> {
    const url = path.startsWith('//') ? this.origin + path.slice(1) : `${this.origin}/api/v1${path}`;
    const token = this.cookies.get('XSRF-TOKEN');
    const response = await this.sendRequest(url, {
      method,
      redirect: 'manual',
      body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
      headers: {
        Accept: 'application/json',
        'Content-Type': 'application/json',
        Cookie: this.cookieHeader(),
        ...(token ? { 'X-XSRF-TOKEN': decodeToken(token) } : {}),
        ...this.headers,
        ...headers,
      },
    });
    this.#storeCookies(response);
    const answer = new VisitorAnswer<Body>(response.status, response.headers, response.body.toString('utf8'));
    this.onAnswer?.({ method, path, answer });
    return answer;
  }

  cookieHeader(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  async fetchToken(): Promise<this> {
    await this.get('//sanctum/csrf-cookie');
    return this;
  }

  #storeCookies({ headers }: RawResponse): void {
    for (const line of headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      const name = pair.slice(0, pair.indexOf('='));
      if (isExpired(line)) this.cookies.delete(name);
      else this.cookies.set(name, pair.slice(pair.indexOf('=') + 1));
      this.cookieLines.set(name, line);
    }
  }
}

/** A visitor that `open` makes for the first request. */
export class LateVisitor extends Visitor {
  constructor(private readonly open: () => Promise<Visitor>) {
    super('');
  }

  override async send<Body>(...request: Parameters<Visitor['send']>): Promise<VisitorAnswer<Body>> {
    return (await this.open()).send<Body>(...request);
  }
}

function isExpired(line: string): boolean {
  const expires = line.match(/expires=([^;]+)/i)?.[1];
  return /max-age=0/i.test(line) || (expires !== undefined && Date.parse(expires) < Date.now());
}

/** Decodes the token: Laravel escapes it in the cookie, and the page sends it unescaped. */
function decodeToken(token: string): string {
  try {
    return decodeURIComponent(token);
  } catch {
    return token;
  }
}

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

export interface TransportOptions {
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

  const patient: Send = async (url, request) => {
    for (let waits = 0; ; waits += 1) {
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
    }
  };

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
