import { act } from '@testing-library/react';
import { onTestEnd } from './reset';

/** A list's end comes into sight when the test says so, since nothing is laid out here. Returns the way to say it. */
export function fakeEndOfList(): () => Promise<void> {
  let reachEnd = () => {};
  class NearIntersection implements IntersectionObserver {
    readonly root = null;
    readonly rootMargin = '';
    readonly scrollMargin = '';
    readonly thresholds = [];
    constructor(notice: IntersectionObserverCallback) {
      reachEnd = () => notice([{ isIntersecting: true } as IntersectionObserverEntry], this);
    }
    observe() {}
    unobserve() {}
    disconnect() {}
    takeRecords = () => [];
  }
  const former = globalThis.IntersectionObserver;
  globalThis.IntersectionObserver = NearIntersection;
  onTestEnd(() => {
    globalThis.IntersectionObserver = former;
  });
  return () => act(async () => reachEnd());
}
