import type { Writer } from '../channel/changeChannel.ts';
import { refused } from '../errors.ts';
import { buildFolder } from '../model/ids.ts';

/** Checks that every file of these builds is in the store. Throws refused. */
export async function assertStored(writer: Writer, builds: readonly string[]): Promise<void> {
  const missing: string[] = [];
  for (const record of await writer.catalog.records(builds)) {
    const folder = `${buildFolder(record.id)}/`;
    const stored = new Set(await writer.store.list(folder));
    missing.push(
      ...Object.keys(record.files)
        .filter((path) => !stored.has(folder + path))
        .map((path) => `${record.id}: ${path}`),
    );
  }
  if (missing.length > 0)
    throw refused('files of these builds are missing from the store', 'Publish the builds again.', missing);
}
