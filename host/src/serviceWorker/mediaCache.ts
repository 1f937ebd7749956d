export const MEDIA = 'media';

const kept = 200;

/** Lets go of the pictures that were asked for longest ago: a cache lists its entries in the order they were written. */
export async function forgetOldMedia() {
  const cache = await caches.open(MEDIA);
  const requests = await cache.keys();
  for (const request of requests.slice(0, -kept)) await cache.delete(request);
}
