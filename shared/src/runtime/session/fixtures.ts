import { fakeApi, type Handlers, onTestEnd } from '../../testing';
import { session } from './session';

export const storedUser = () => JSON.parse(localStorage.getItem('user-store') ?? 'null') as unknown;

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
