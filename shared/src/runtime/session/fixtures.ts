import { fakeApi, type Handlers, onTestEnd } from '../../testing';
import { session } from './session';

/** The user in `localStorage`. */
export const storedUser = () => JSON.parse(localStorage.getItem('user-store') ?? 'null') as unknown;

/** The signed-in user, or null. */
export const user = () => {
  const current = session.current();
  return current.status === 'member' ? current.user : null;
};

export function fakeNetwork(handlers: Handlers) {
  const { requests, restore } = fakeApi(handlers);
  onTestEnd(restore);
  return requests;
}

/** A response that arrives when the test calls `release`. */
export function holdResponse() {
  let release = (_: unknown) => {};
  const promise = new Promise((resolve) => {
    release = resolve;
  });
  return { answer: () => promise, release };
}

export const settle = () => new Promise((resolve) => setTimeout(resolve));
