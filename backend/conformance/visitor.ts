export interface VisitorAnswer<Body = unknown> {
  status: number;
  headers: Headers;
  /** the parsed body; null if it is empty or not JSON */
  body: Body;
  /** the body without a byte order mark, which browsers skip */
  text: string;
  hasByteOrderMark: boolean;
}

export type OnAnswer = (exchange: { method: string; path: string; answer: VisitorAnswer }) => void;
/** A complete response. */
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

/** An HTTP client that stores cookies and sends the CSRF token, like a page. */
export class Visitor {
  readonly origin: string;
  readonly headers: Record<string, string>;
  readonly cookies = new Map<string, string>();
  /** the `Set-Cookie` line that last set each cookie */
  readonly cookieLines = new Map<string, string>();
  readonly #send: Send;
  readonly #onAnswer: OnAnswer | undefined;

  /**
   * @param send sends a request to the server; `fetch` by default
   * @param onAnswer receives every response before the caller
   */
  constructor(origin: string, headers: Record<string, string> = {}, send: Send = byFetch, onAnswer?: OnAnswer) {
    this.origin = origin;
    this.headers = headers;
    this.#send = send;
    this.#onAnswer = onAnswer;
  }

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
    const response = await this.#send(url, {
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
    const bodyText = response.body.toString('utf8');
    const text = bodyText.replace(/^\uFEFF/, '');
    const { status, headers: received } = response;
    const answer = { status, headers: received, body: parse<Body>(text), text, hasByteOrderMark: bodyText !== text };
    this.#onAnswer?.({ method, path, answer });
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

function parse<Body>(text: string): Body {
  try {
    return (text ? JSON.parse(text) : null) as Body;
  } catch {
    return null as Body;
  }
}
