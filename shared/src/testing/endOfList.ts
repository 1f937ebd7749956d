import { act } from '@testing-library/react';
import { onTestEnd } from './reset';

/** A list's end comes into sight when the test says so, since nothing is laid out here. Returns the way to say it. */
export function fakeEndOfList(): () => Promise<void> {
  let reachEnd = () => {};
  class NearIntersection {
    constructor(notice: IntersectionObserverCallback) {
      reachEnd = () => notice([{ isIntersecting: true } as IntersectionObserverEntry], this as never);
    }
    observe() {}
    disconnect() {}
  }
  const former = globalThis.IntersectionObserver;
  globalThis.IntersectionObserver = NearIntersection as never;
  onTestEnd(() => {
    globalThis.IntersectionObserver = former;
  });
  return () => act(async () => reachEnd());
}
