import { randomUUID } from 'node:crypto';
import { Visitor, type VisitorAnswer } from '../conformance/visitor.ts';
import type { Latest, Registered, Sent, UserDto } from './wire.ts';

let registeredCount = 0;

/** A visitor with calls of the reference backend. */
export class Client extends Visitor {
  /** Registers a new user and stays signed in. */
  async register(form: Record<string, unknown> = {}): Promise<UserDto> {
    registeredCount += 1;
    const login = `reader${process.pid % 10_000}_${registeredCount}`;
    await this.fetchToken();
    const filledForm = { login, password: '135790', name: '宁采臣', ...form };
    const { status, body } = await this.post<Registered>('/register', filledForm);
    if (status !== 201) throw new Error(`registering answered ${status}: ${JSON.stringify(body)}`);
    return body.user;
  }

  /** Sends a message with a new key. */
  say(form: { story_id?: string; conversation_id?: string; body?: string }): Promise<VisitorAnswer<Sent>> {
    return this.post<Sent>('/messages', { body: '夜里好冷', client_id: randomUUID(), ...form });
  }

  async latest(query: Record<string, string | number>): Promise<Latest> {
    const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
    return (await this.get<Latest>(`/messages/latest?${search}`)).body;
  }
}
