import { storedBytesLimit, writeFile } from '../../src/builds/files.ts';
import { contentProblem, fileProblem, LIMITS, packageProblems } from '../../src/builds/package.ts';
import { claimVersion, type Quota } from '../../src/builds/publish.ts';
import { mapsFolder, toStoredMap } from '../../src/builds/sourceMaps.ts';
import { refused } from '../../src/errors.ts';
import { type BuildRecord, buildFolder, nameOf, parseRecord } from '../../src/model/build.ts';
import { canonicalJson, sha384Integrity } from '../../src/model/signing.ts';
import type { Store } from '../../src/store/store.ts';

interface Pending {
  files: number;
  bytes: number;
}

/** Accepts builds over HTTP: files in any order, then `build.json`. The build is published only if every file matches that record. */
export class Uploads {
  readonly #store: Store;
  readonly #quota: Quota;
  readonly #pending = new Map<string, Pending>();

  constructor(store: Store, quota: Quota) {
    this.#store = store;
    this.#quota = quota;
  }

  /** Stores a file; uploading the same file again is allowed. Throws refused. */
  async file(id: string, path: string, body: Buffer): Promise<void> {
    const problem = fileProblem(path, body.length);
    if (problem) throw refused('this file cannot be part of a build', 'Mend the build and publish again.', [problem]);
    this.#countFile(id, body.length);
    const write = () => writeFile(this.#store, `${buildFolder(id)}/${path}`, body);
    await this.#quota.writeIfRoom(nameOf(id), storedBytesLimit(path, body), write);
  }

  /** Stores a source map at a path that is not served. Throws refused. */
  async map(id: string, path: string, body: Buffer): Promise<void> {
    const text = toStoredMap(body);
    if (text === null) throw refused(`${path} is no source map`, 'Leave it out, or build it again.');
    this.#countFile(id, body.length);
    const write = () => this.#store.create(`${mapsFolder(buildFolder(id))}/${path}`, text);
    await this.#quota.writeIfRoom(nameOf(id), Buffer.byteLength(text), write);
  }

  #countFile(id: string, bytes: number): void {
    const pending = this.#pending.get(id) ?? { files: 0, bytes: 0 };
    if (pending.files >= LIMITS.files * 2 || pending.bytes + bytes > LIMITS.buildBytes * 2)
      throw refused(`${id} has become too large`, 'Builds hold up to 2,000 files and 50 MiB.');
    this.#pending.set(id, { files: pending.files + 1, bytes: pending.bytes + bytes });
  }

  /** Checks every file against the record and claims the version. Removes damaged files. Throws refused. */
  async finish(id: string, source: string, publisher: string): Promise<{ id: string; created: boolean }> {
    const sentRecord = parseRecord(source, id);
    const record = { ...sentRecord, provenance: { ...sentRecord.provenance, publisher, at: new Date().toISOString() } };
    const sizes = new Map(Object.entries(record.files).map(([path, { size }]) => [path, size]));
    const problems = [...packageProblems(record.description, sizes), ...(await this.#fileProblems(record))];
    if (problems.length > 0) throw refused(`${id} did not arrive whole`, 'Publish it again.', problems);
    const text = canonicalJson(record);
    const write = () => this.#store.create(`${buildFolder(id)}/build.json`, text);
    await this.#quota.writeIfRoom(nameOf(id), text.length, write);
    this.#pending.delete(id);
    return { id, created: await claimVersion(this.#store, record) };
  }

  async #fileProblems(record: BuildRecord): Promise<string[]> {
    const problems: string[] = [];
    for (const [path, file] of Object.entries(record.files)) {
      const key = `${buildFolder(record.id)}/${path}`;
      const body = await this.#store.read(key);
      if (body && sha384Integrity(body) === file.integrity) {
        problems.push(...[contentProblem(record.description, path, body)].filter((problem) => problem !== null));
        continue;
      }
      problems.push(body ? `${path} is not what build.json says` : `${path} is missing`);
      for (const suffix of ['', '.br', '.gz']) await this.#store.remove(key + suffix);
    }
    return problems;
  }
}
