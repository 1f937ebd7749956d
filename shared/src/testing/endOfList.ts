import { act } from '@testing-library/react';
import { onTestEnd } from './reset';

/** Fakes `IntersectionObserver`, since tests have no layout. Returns the function that scrolls to the end of the list. */
export function fakeEndOfList(): () => Promise<void> {
  let reachEnd = () => {};
  class NearIntersection implements IntersectionObserver {
    readonly root = null;
    readonly rootMargin = '';
    readonly scrollMargin = '';
    readonly thresholds = [];
    constructor(callback: IntersectionObserverCallback) {
      reachEnd = () => callback([{ isIntersecting: true } as IntersectionObserverEntry], this);
    }
    observe() {}
    unobserve() {}
    disconnect() {}
    takeRecords = () => [];
  }
  const originalObserver = globalThis.IntersectionObserver;
  globalThis.IntersectionObserver = NearIntersection;
  onTestEnd(() => {
    globalThis.IntersectionObserver = originalObserver;
  });
  return () => act(async () => reachEnd());
}
