import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Beacon, ErrorReport, PageSet, SetBody, VitalsReport } from '@liaozhai/shared/contract';
import { Catalog } from '../builds/catalog.ts';
import { type Place, SourceMaps } from '../builds/sourceMaps.ts';
import { channelKey, type ReadChannel } from '../channel/readChannel.ts';
import { lineOf, messageOf, ReleaseError, refused, unreachable } from '../errors.ts';
import { addedMisfits } from '../gate/fit.ts';
import { HealthRecorder, type Reporter } from '../health/healthRecord.ts';
import { makeSet, mergeBuilds, setHash } from '../model/build.ts';
import { type ChannelDocument, candidatesOf, liveIn, reachableBuilds, verifyChannel } from '../model/channel.ts';
import { sha384Integrity } from '../model/signing.ts';
import { type Preview, readOverride, readPreview } from '../operations/override.ts';
import { cached, DEFAULT_STORE, openStore, requirePublicKey, type Store } from '../store/store.ts';
import { BuildFiles, type Encoding, type ServedFile } from './buildFiles.ts';
import { type ChosenSet, isInCandidate, makePageSet } from './renderPage.ts';

export interface ReleasesOptions
  extends Pick<ChannelReaderOptions, 'recheckMilliseconds' | 'seenFile' | 'now' | 'onProblem'> {
  /** `file:<dir>` or `s3://bucket/prefix`; default `.data/releases`. */
  store?: string;
  channel?: string;
  /** Base64 SPKI; default: the key in the store's own record. */
  publicKey?: string;
  /** Serves this stored set to everyone, independent of the channel: for the gate's smoke test. */
  set?: string;
}

export interface PageVisitor {
  id: string;
  override?: string;
}

export interface VisitorPage {
  pageSet: PageSet;
  template: string;
}

/** The reading side of the release system, for page servers: cheap per request, at most a second behind. */
export class Releases {
  readonly #catalog: Catalog;
  readonly #reader: ChannelReader;
  readonly #files: BuildFiles;
  readonly #health: HealthRecorder;
  readonly #maps: SourceMaps;
  readonly #publicKey: string;
  readonly #fixedSet: string | undefined;
  readonly #now: () => Date;
  #pages = new Map<string, Promise<VisitorPage>>();
  #sets = new Map<string, Promise<{ hash: string; body: SetBody }>>();
  #pagesSeq = 0;

  constructor(
    catalog: Catalog,
    reader: ChannelReader,
    health: HealthRecorder,
    publicKey: string,
    options: ReleasesOptions,
  ) {
    this.#catalog = catalog;
    this.#reader = reader;
    this.#files = new BuildFiles(catalog);
    this.#health = health;
    this.#maps = new SourceMaps(catalog.store);
    this.#publicKey = publicKey;
    this.#fixedSet = options.set;
    this.#now = options.now ?? (() => new Date());
  }

  async current(): Promise<ChannelDocument> {
    return (await this.#reader.current()).document;
  }

  /** Returns the same object for all visitors of a set until the channel changes. */
  async pageFor(visitor: PageVisitor): Promise<VisitorPage> {
    const document = await this.current();
    if (this.#pagesSeq !== document.seq) [this.#pages, this.#sets] = [new Map(), new Map()];
    this.#pagesSeq = document.seq;
    const chosenSet = await this.#chooseSet(document, visitor);
    const key = `${chosenSet.hash} ${chosenSet.candidate} ${chosenSet.override?.id}`;
    return cached(this.#pages, key, () => this.#buildPage(document, chosenSet));
  }

  /** A browser's permission to run remotes from a dev server; read from the store each time. */
  async previewFor(browser: string): Promise<Preview | null> {
    const { channel } = await this.current();
    return readPreview(this.#catalog.store, channel, browser, this.#publicKey, this.#now());
  }

  /** `/builds/…`, or null for 404. */
  file(pathname: string, encoding?: Encoding): Promise<ServedFile | null> {
    return this.#files.file(pathname, encoding);
  }

  /** `/channels/<channel>.json`. */
  async channelFile(): Promise<ServedFile> {
    const { source, document } = await this.#reader.current();
    const body = Buffer.from(source);
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      etag: `"${document.seq}-${document.nonce.slice(0, 8)}"`,
      'content-length': String(body.length),
    };
    return { headers, body };
  }

  /** `/sw.js` of the stable host, or null. */
  async serviceWorker(encoding?: Encoding): Promise<ServedFile | null> {
    const document = await this.current();
    const hash = this.#fixedSet ?? document.stable?.set;
    const path = hash && (await this.#catalog.set(hash)).host.serviceWorker;
    const workerFile = path ? await this.#files.file(path, encoding) : null;
    if (!workerFile) return null;
    const headers = { ...workerFile.headers, 'cache-control': 'no-cache', 'service-worker-allowed': '/' };
    return { ...workerFile, headers };
  }

  recordHealth(beacon: Beacon, visitor: string): void {
    this.#health.record(beacon, visitor);
  }

  /** Records vitals of builds that are live, candidates or last good, and ignores those of others. */
  async recordVitals({ vitals }: VitalsReport): Promise<void> {
    const isKnownBuild = await this.#knownBuildFilter();
    this.#health.recordVitals({ vitals: vitals.filter(isKnownBuild) });
  }

  /** Records errors of builds that are live, candidates or last good, and returns these errors. */
  async recordErrors(reports: readonly ErrorReport[], by: Reporter): Promise<ErrorReport[]> {
    const acceptedReports = reports.filter(await this.#knownBuildFilter());
    for (const report of acceptedReports) this.#health.recordError(report, by);
    return acceptedReports;
  }

  /** Resolves a stack frame of a build to a place in the sources; null if no source map has it. */
  placeOf(frame: string): Promise<Place | null> {
    return this.#maps.place(frame);
  }

  /** Ignores other builds, because invented ids could fill the record. */
  async #knownBuildFilter(): Promise<(report: { build: string }) => boolean> {
    // a fixed set is opened by the gate only
    if (this.#fixedSet) return () => false;
    const knownIds = new Set(reachableBuilds(await this.current()));
    return ({ build }) => knownIds.has(build);
  }

  close(): Promise<void> {
    return this.#health.flush();
  }

  async #chooseSet(document: ChannelDocument, visitor: PageVisitor): Promise<ChosenSet> {
    const { stable } = document;
    if (this.#fixedSet) return this.#storedSet(this.#fixedSet, false);
    if (!stable)
      throw refused(`channel ${document.channel} has nothing live yet`, 'Publish the packages, then `activate` them.');
    const overrideSet = visitor.override ? await this.#overrideSet(document, visitor.override) : null;
    if (overrideSet) return overrideSet;
    const candidates = candidatesOf(document).filter((candidate) => isInCandidate(visitor.id, candidate));
    const [first, second] = candidates;
    if (!first) return this.#storedSet(stable.set, false);
    const candidateSets = candidates.map(({ set }) => set);
    if (!second) return { ...(await this.#storedSet(first.set, true)), candidateSets };
    const builds = candidates.flatMap((candidate) => candidate.builds);
    return { ...(await this.#composeSet(document, builds)), candidate: true, candidateSets, override: null };
  }

  async #storedSet(hash: string, candidate: boolean): Promise<ChosenSet> {
    return { hash, body: await this.#catalog.set(hash), candidate, override: null };
  }

  /** Composes a set of builds over stable that is not stored. */
  async #composeSet(document: ChannelDocument, builds: readonly string[], moreDigests: Record<string, string> = {}) {
    const ids = mergeBuilds(liveIn(document), builds);
    const key = `${document.seq} ${ids.join(' ')}`;
    const digests = { ...document.digests, ...moreDigests };
    return cached(this.#sets, key, async () => {
      const body = makeSet(await this.#catalog.records(ids, digests));
      return { hash: setHash(body), body };
    });
  }

  async #overrideSet(document: ChannelDocument, id: string): Promise<ChosenSet | null> {
    const override = await readOverride(this.#catalog.store, document.channel, id, this.#publicKey, this.#now());
    if (!override || override.builds.some((build) => document.killed.includes(build))) return null;
    const live = liveIn(document);
    const digests = { ...document.digests, ...override.digests };
    const [liveRecords, overrideRecords] = await Promise.all([
      this.#catalog.records(live, digests),
      this.#catalog.records(mergeBuilds(live, override.builds), digests),
    ]);
    // the builds no longer fit the live set: fallbacks would silently replace them
    if (addedMisfits(overrideRecords, liveRecords).length > 0) return null;
    const set = await this.#composeSet(document, override.builds, override.digests);
    return { ...set, candidate: false, override: { id, expires: override.expires } };
  }

  async #buildPage(document: ChannelDocument, chosenSet: ChosenSet): Promise<VisitorPage> {
    const { template: path, templateIntegrity, id } = chosenSet.body.host;
    const body = await this.#catalog.store.read(path.slice(1));
    if (!body || sha384Integrity(body) !== templateIntegrity)
      throw refused(`the page template of ${id} is missing or was changed`, 'Roll the host back, or publish it again.');
    const pageSet = await makePageSet(this.#catalog, document, this.#publicKey, chosenSet);
    return { pageSet, template: body.toString('utf8') };
  }
}

/** Writes a problem of the store and its cure to stderr. */
export const tellProblem = (cause: unknown) => console.error(cause instanceof ReleaseError ? lineOf(cause) : cause);

/** Opens a store for reading and serving. Throws refused if the store or its channel does not exist. */
export async function openReleases(options: ReleasesOptions = {}): Promise<Releases> {
  const { store } = await openStore(options.store ?? DEFAULT_STORE);
  const channel = options.channel ?? 'production';
  const publicKey = options.publicKey ?? (await requirePublicKey(store));
  const onProblem = options.onProblem ?? tellProblem;
  const reader = new ChannelReader({ ...options, store, channel, publicKey, onProblem });
  const health = new HealthRecorder(store, channel, onProblem);
  await reader.current();
  return new Releases(new Catalog(store), reader, health, publicKey, options);
}

/** How long a page waits for the store if a state is already known. */
const KNOWN_STATE_TIMEOUT_MS = 500;

interface ChannelReaderOptions {
  store: Store;
  channel: string;
  publicKey: string;
  /** Age at which the known state is read again. */
  recheckMilliseconds?: number;
  /** File with the highest state seen, so that an older one is refused even after a restart. */
  seenFile?: string;
  now?: () => Date;
  /** Receives the reason why a newer document was refused, once per reason. The last accepted state stays in use. */
  onProblem?: (cause: unknown) => void;
}

/** Follows one channel. Accepts only documents that are signed, not expired and not older than an accepted one. */
export class ChannelReader {
  readonly #options: ChannelReaderOptions;
  #current: ReadChannel | null = null;
  #highestSeq = 0;
  #problem = '';
  #checkedAt = Number.NEGATIVE_INFINITY;
  #pendingCheck: Promise<ReadChannel> | null = null;

  constructor(options: ChannelReaderOptions) {
    this.#options = options;
  }

  /** Returns the newest accepted state, usually at most a second old. Throws refused or unreachable before the first one. */
  async current(): Promise<ReadChannel> {
    const { recheckMilliseconds = 500 } = this.#options;
    if (this.#current && performance.now() - this.#checkedAt < recheckMilliseconds) return this.#current;
    this.#pendingCheck ??= this.#requestState();
    return this.#pendingCheck;
  }

  /** Returns the known state if the store is slow, so that pages do not wait. The check continues for later requests. */
  #requestState(): Promise<ReadChannel> {
    const current = this.#current;
    const check = this.#check().finally(() => {
      this.#pendingCheck = null;
    });
    return current ? Promise.race([check, pause(KNOWN_STATE_TIMEOUT_MS, current)]) : check;
  }

  async #check(): Promise<ReadChannel> {
    try {
      this.#current = await this.#read();
      this.#problem = '';
    } catch (cause) {
      if (!this.#current) throw cause;
      if (messageOf(cause) !== this.#problem) this.#options.onProblem?.(cause);
      this.#problem = messageOf(cause);
    }
    this.#checkedAt = performance.now();
    return this.#current;
  }

  async #read(): Promise<ReadChannel> {
    const { store, channel, publicKey } = this.#options;
    const pointer = await store.readPointer(channelKey(channel));
    if (!pointer)
      throw refused(`${store.label} has no channel "${channel}"`, `Make it with \`init --channel ${channel}\`.`);
    const isSame = this.#current?.source === pointer.body;
    const document = isSame && this.#current ? this.#current.document : verifyChannel(pointer.body, channel, publicKey);
    await this.#assertFresh(document);
    return { document, source: pointer.body, tag: pointer.tag };
  }

  async #assertFresh(document: ChannelDocument): Promise<void> {
    if (this.#highestSeq === 0) this.#highestSeq = await this.#readSeenSeq();
    if (document.seq < this.#highestSeq)
      throw refused(
        `channel ${document.channel} went back from state ${this.#highestSeq} to ${document.seq}: an old document was put back`,
        'Restore the newest state; to go back on purpose use `rollback`, which makes a newer one.',
      );
    const knownDocument = this.#current?.document;
    if (knownDocument && document.seq === knownDocument.seq && document.nonce !== knownDocument.nonce)
      throw refused(
        `channel ${document.channel} has two documents for state ${document.seq}: it was put back and changed`,
        'Find out who may write the store; the next switch is taken again.',
      );
    if (Date.parse(document.expires) <= (this.#options.now?.() ?? new Date()).getTime())
      throw refused(
        `channel ${document.channel} expired at ${document.expires}`,
        'Sign it again with `pnpm release init`; check the clock of this machine.',
      );
    if (document.seq > this.#highestSeq) await this.#storeSeenSeq(document.seq);
  }

  async #readSeenSeq(): Promise<number> {
    const file = this.#options.seenFile;
    // an unreadable file is written next, and that failure is reported
    return file ? Number(await readFile(file, 'utf8').catch(() => 0)) || 0 : 0;
  }

  /** Stores the number. A failure is only reported, so that a full or damaged disk does not prevent serving. */
  async #storeSeenSeq(seq: number): Promise<void> {
    this.#highestSeq = seq;
    const { seenFile: file, onProblem } = this.#options;
    if (!file) return;
    try {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(`${file}.${process.pid}`, String(seq));
      await rename(`${file}.${process.pid}`, file);
    } catch (cause) {
      const cure =
        'Free room there, or mend its disk or rights: until then a restart would take an older state as well.';
      onProblem?.(unreachable(`${file} cannot be written: ${messageOf(cause)}`, cure));
    }
  }
}
