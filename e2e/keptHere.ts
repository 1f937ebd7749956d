/** Everything stored for the page's origin, as one text: storage, databases, caches. Runs in the page. */
export const keptHere = async () => {
  const rows: unknown[] = [Object.entries(localStorage), Object.entries(sessionStorage)];
  for (const { name = '' } of await indexedDB.databases()) {
    const database = await new Promise<IDBDatabase>((resolve, reject) => {
      const opening = indexedDB.open(name);
      opening.onsuccess = () => resolve(opening.result);
      opening.onerror = () => reject(opening.error);
    });
    for (const store of database.objectStoreNames) {
      const all = database.transaction(store).objectStore(store).getAll();
      rows.push(
        await new Promise((resolve, reject) => {
          all.onsuccess = () => resolve(all.result);
          all.onerror = () => reject(all.error);
        }),
      );
    }
    database.close();
  }
  for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    for (const { url } of await cache.keys()) {
      const isText = !new URL(url).pathname.startsWith('/builds/');
      rows.push(url, isText && (await (await cache.match(url))?.text()));
    }
  }
  return JSON.stringify(rows);
};
