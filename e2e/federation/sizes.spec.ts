import { get } from 'node:http';
import { expect, test } from '../person.ts';
import budgets from './sizeBudgets.json' with { type: 'json' };

/** Size of the brotli response body, in KiB. */
const servedKib = (url: string) =>
  new Promise<number>((resolve, reject) => {
    get(url, { headers: { 'accept-encoding': 'br' } }, (answer) => {
      let bytes = 0;
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      answer.on('end', () => resolve(bytes / 1024));
    }).on('error', reject);
  });

/** `/builds/chat/1.0.0-…/static/js/story.chat.1a2b3c4d.js` → `chat/story.chat.js` */
const nameOf = (path: string) =>
  `${path.split('/')[2]}/${path.split('/').at(-1)}`.replace(/\.[0-9a-f]{8}(\.(?:js|css))$/, '$1');

/** Budget of the file, else of files of its kind. */
function budgetOf(name: string): number {
  const kinds = [name, name.replace(/^[^/]+/, '*'), `*${name.slice(name.lastIndexOf('.'))}`];
  const [found] = kinds.flatMap((kind) => Object.entries(budgets).filter(([key]) => key === kind));
  if (!found) throw new Error(`sizeBudgets.json has no line for ${name}`);
  return found[1];
}

test('every file of every live build, and the page, keeps its size budget', async ({ page }) => {
  await page.goto('/explore');
  const set = JSON.parse((await page.locator('#liaozhai-set').textContent()) ?? '') as {
    host: { entry: string };
    remotes: Record<string, { entry: string }>;
    hashes: Record<string, string>;
  };
  const folders = [set.host, ...Object.values(set.remotes)].map(({ entry }) => entry.split('/').slice(0, 4).join('/'));
  const paths = Object.keys(set.hashes).filter((path) => folders.some((folder) => path.startsWith(`${folder}/`)));
  const named = [['page /explore', '/explore'], ...paths.map((path) => [nameOf(path), path])];
  const sizes = await Promise.all(
    named.map(async ([name = '', path]) => ({ name, kib: await servedKib(new URL(path ?? '', page.url()).href) })),
  );
  const tooLarge = sizes
    .filter(({ name, kib }) => kib > budgetOf(name))
    .map(({ name, kib }) => `${name}: ${kib.toFixed(1)} KiB br, budget ${budgetOf(name)}`);
  expect(tooLarge, 'if it was meant to grow, raise its line in e2e/federation/sizeBudgets.json').toEqual([]);
  expect(sizes.length).toBeGreaterThan(20);
});
