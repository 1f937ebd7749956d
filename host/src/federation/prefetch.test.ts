import { onTestEnd } from '@liaozhai/shared/testing';
import { describe, expect, rs, test } from '@rstest/core';
import { createPrefetcher } from './prefetch';

const files = (name: string) => ({ js: [`/builds/${name}/remoteEntry.js`, `/builds/${name}/page.js`], css: [] });
const { js: chat } = files('chat');
const { js: legal } = files('legal');
const hashes = Object.fromEntries([...chat, ...legal, '/builds/chat/page.css'].map((url) => [url, 'sha384-x']));

/** A fake network: the requested URLs in order, and those pending until `answer`. */
function network() {
  const asked: string[] = [];
  const underWay = new Map<string, () => void>();
  const spy = rs.spyOn(globalThis, 'fetch').mockImplementation((input, init) => {
    const url = String(input);
    asked.push(url);
    return new Promise<Response>((resolve, reject) => {
      underWay.set(url, () => resolve(new Response('')));
      init?.signal?.addEventListener('abort', () => {
        underWay.delete(url);
        reject(new DOMException('', 'AbortError'));
      });
    });
  });
  onTestEnd(() => spy.mockRestore());
  const answer = () => {
    for (const [url, come] of underWay) {
      underWay.delete(url);
      come();
    }
  };
  return { asked, underWay: () => [...underWay.keys()], answer };
}

const turn = () => new Promise<void>((resolve) => setTimeout(resolve));

describe('what nobody waits for yet', () => {
  test('is broken off for an awaited screen, and comes after it', async () => {
    const { underWay, answer } = network();
    const prefetcher = createPrefetcher(hashes, () => 60_000);
    const idle = prefetcher.prefetch(files('legal'), 'low');
    await turn();
    expect(underWay()).toEqual(legal);
    const done = prefetcher.prioritise(files('chat'));
    void prefetcher.prefetch(files('chat'));
    await turn();
    expect(underWay()).toEqual(chat);
    answer();
    await turn();
    expect(underWay()).toEqual([]);
    done();
    await turn();
    expect(underWay()).toEqual(legal);
    answer();
    await idle;
  });

  test('begins only once nothing is awaited', async () => {
    const { underWay } = network();
    const prefetcher = createPrefetcher(hashes, () => 60_000);
    const screen = prefetcher.prioritise(files('chat'));
    const part = prefetcher.prioritise({ js: [], css: ['/builds/chat/page.css'] });
    void prefetcher.prefetch(files('legal'), 'low');
    screen();
    await turn();
    expect(underWay()).toEqual([]);
    part();
    await turn();
    expect(underWay()).toEqual(legal);
  });

  test('goes on where the awaited screen needs it, requested once', async () => {
    const { asked, underWay } = network();
    const prefetcher = createPrefetcher(hashes, () => 60_000);
    void prefetcher.prefetch(files('chat'), 'low');
    await turn();
    prefetcher.prioritise(files('chat'));
    void prefetcher.prefetch(files('chat'));
    await turn();
    expect(underWay()).toEqual(chat);
    expect(asked).toEqual(chat);
  });

  test('is not requested again when its build has failed', async () => {
    const { asked, underWay } = network();
    const prefetcher = createPrefetcher(hashes, () => 60_000);
    const idle = prefetcher.prefetch(files('chat'), 'low');
    await turn();
    prefetcher.cancel('/builds/chat/remoteEntry.js');
    await idle;
    expect(underWay()).toEqual([]);
    expect(asked).toEqual(chat);
  });
});

test('a style that the page carries is not fetched', async () => {
  const style = document.createElement('style');
  style.dataset.href = '/builds/chat/page.css';
  document.head.append(style);
  onTestEnd(() => style.remove());
  const { asked } = network();
  await createPrefetcher(hashes, () => 60_000).prefetch({ js: [], css: ['/builds/chat/page.css'] });
  expect(asked).toEqual([]);
});
