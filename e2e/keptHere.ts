/** Everything stored for the page's origin, as one text: storage, databases, caches. Runs in the page. */
export const keptHere = async () => {
  const rows: unknown[] = [Object.entries(localStorage), Object.entries(sessionStorage)];
  for (const { name = '' } of await indexedDB.databases()) {
    const database = await new Promise<IDBDatabase>((resolve, reject) => {
      const openRequest = indexedDB.open(name);
      openRequest.onsuccess = () => resolve(openRequest.result);
      openRequest.onerror = () => reject(openRequest.error);
    });
    for (const store of database.objectStoreNames) {
      const getRequest = database.transaction(store).objectStore(store).getAll();
      rows.push(
        await new Promise((resolve, reject) => {
          getRequest.onsuccess = () => resolve(getRequest.result);
          getRequest.onerror = () => reject(getRequest.error);
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
