export const BUILDS = 'builds';

/** The file's bytes as the set lists them; corrupt ones may lie in the HTTP cache, so the second question goes past it. */
const verified = (url: string, integrity: string) =>
  fetch(url, { integrity })
    .catch(() => fetch(url, { integrity, cache: 'reload' }))
    .catch(() => null);

/** Keeps every file of the set (address → integrity), one after another so that the page's own requests go first. */
export async function keepSet(hashes: Record<string, string>) {
  const cache = await caches.open(BUILDS);
  for (const [url, integrity] of Object.entries(hashes)) {
    if (await cache.match(url)) continue;
    const answer = await verified(url, integrity);
    // a full device keeps what it can, and still lets go of what is no longer needed
    if (answer?.ok) await cache.put(url, answer).catch((cause) => console.info(`${url} not kept`, cause));
  }
}

export const isBuildKept = async (url: string) => (await (await caches.open(BUILDS)).match(url)) !== undefined;

/** Lets go of builds that none of the named sets has. */
export async function forgetOthers(hashes: Record<string, string>) {
  const wanted = new Set(Object.keys(hashes).map((url) => new URL(url, location.href).href));
  const cache = await caches.open(BUILDS);
  for (const request of await cache.keys()) if (!wanted.has(request.url)) await cache.delete(request);
}
