import { fakeApi, type Handlers, onTestEnd } from '../../testing';
import { session } from './session';

/** What the device remembers of the user. */
export const stored = () => JSON.parse(localStorage.getItem('user-store') ?? 'null') as unknown;

/** Who is signed in. */
export const user = () => {
  const current = session.current();
  return current.status === 'member' ? current.user : null;
};

export function network(handlers: Handlers) {
  const { requests, restore } = fakeApi(handlers);
  onTestEnd(restore);
  return requests;
}

/** An answer that comes when the test says so. */
export function held() {
  let release = (_: unknown) => {};
  const promise = new Promise((resolve) => {
    release = resolve;
  });
  return { answer: () => promise, release };
}

export const settle = () => new Promise((resolve) => setTimeout(resolve));
