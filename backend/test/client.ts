import { randomUUID } from 'node:crypto';
import type { Latest, Registered, Sent, UserDto } from './wire.ts';

export interface Answer<Body> {
  status: number;
  headers: Headers;
  body: Body;
}

let registered = 0;

/** A browser's worth of HTTP: keeps cookies and echoes the CSRF token. */
export class Client {
  readonly cookies = new Map<string, string>();
  readonly origin: string;
  readonly headers: Record<string, string>;

  constructor(origin: string, headers: Record<string, string> = {}) {
    this.origin = origin;
    this.headers = headers;
  }

  get<Body>(path: string): Promise<Answer<Body>> {
    return this.send<Body>('GET', path);
  }

  post<Body>(path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<Answer<Body>> {
    return this.send<Body>('POST', path, body, headers);
  }

  put<Body>(path: string, body: unknown = {}): Promise<Answer<Body>> {
    return this.send<Body>('PUT', path, body);
  }

  delete<Body>(path: string): Promise<Answer<Body>> {
    return this.send<Body>('DELETE', path);
  }

  /** `path` is below `/api/v1`, unless it starts with `//`, which means the root. */
  async send<Body>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer<Body>> {
    const url = path.startsWith('//') ? this.origin + path.slice(1) : `${this.origin}/api/v1${path}`;
    const token = this.cookies.get('XSRF-TOKEN');
    const response = await fetch(url, {
      method,
      body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
      headers: {
        Accept: 'application/json',
        'Content-Type': 'application/json',
        Cookie: this.cookieHeader(),
        ...(token ? { 'X-XSRF-TOKEN': token } : {}),
        ...this.headers,
        ...headers,
      },
    });
    this.#keepCookies(response);
    return { status: response.status, headers: response.headers, body: parse<Body>(await response.text()) };
  }

  cookieHeader(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  async fetchToken(): Promise<this> {
    await this.get('//sanctum/csrf-cookie');
    return this;
  }

  /** Registers a fresh user and stays signed in. */
  async register(form: Record<string, unknown> = {}): Promise<UserDto> {
    registered += 1;
    const login = `reader${process.pid % 10_000}_${registered}`;
    await this.fetchToken();
    const filled = { login, password: '135790', name: '宁采臣', ...form };
    const { status, body } = await this.post<Registered>('/register', filled);
    if (status !== 201) throw new Error(`registering answered ${status}: ${JSON.stringify(body)}`);
    return body.user;
  }

  /** Sends a line with a new key. */
  say(form: { story_id?: string; conversation_id?: string; body?: string }): Promise<Answer<Sent>> {
    return this.post<Sent>('/messages', { body: '夜里好冷', client_id: randomUUID(), ...form });
  }

  async latest(query: Record<string, string | number>): Promise<Latest> {
    const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
    return (await this.get<Latest>(`/messages/latest?${search}`)).body;
  }

  #keepCookies(response: Response): void {
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';');
      const name = pair.slice(0, pair.indexOf('='));
      const value = pair.slice(pair.indexOf('=') + 1);
      if (/max-age=0/i.test(cookie)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
  }
}

function parse<Body>(text: string): Body {
  return (text ? JSON.parse(text) : null) as Body;
}
