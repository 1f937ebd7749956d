export const BUILDS = 'builds';

/** Keeps every file of the set, one after another so that the page's own requests go first. */
export async function keepSet(urls: string[]) {
  const cache = await caches.open(BUILDS);
  for (const url of urls) {
    if (await cache.match(url)) continue;
    const answer = await fetch(url).catch(() => null);
    if (answer?.ok) await cache.put(url, answer);
  }
}

/** Lets go of builds that the page's set does not name. */
export async function forgetOthers(urls: string[]) {
  const wanted = new Set(urls.map((url) => new URL(url, location.href).href));
  const cache = await caches.open(BUILDS);
  for (const request of await cache.keys()) if (!wanted.has(request.url)) await cache.delete(request);
}
