import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { messageOf, unreachable, usage } from '../errors.ts';
import { say } from '../sentences.ts';
import type { CreateOptions, Entry, Pointer, Store } from './store.ts';

const ATTEMPTS = 6;
const LONG_LIVED = 'public, max-age=31536000, immutable';

type WriteOutcome = 'written' | 'lost' | 'unclear';

/** How long the last time of the store's clock is extrapolated, in ms. */
const CLOCK_LIFETIME_MS = 10_000;

/** Returns the `Date` of a response in ms, or NaN. */
function dateOf(response: unknown): number {
  const headers = response instanceof Object && 'headers' in response ? response.headers : null;
  return headers instanceof Object && 'date' in headers ? Date.parse(String(headers.date)) : Number.NaN;
}

const statusOf = (cause: unknown): number =>
  cause instanceof S3ServiceException ? (cause.$metadata.httpStatusCode ?? 0) : 0;
const isMissing = (cause: unknown): boolean => statusOf(cause) === 404;

/**
 * Stores objects in a bucket below a prefix. The loser of a race gets 412, or from some stores 409 or 500. After these, and without a
 * response, the key is read again and its contents decide.
 */
export class S3Store implements Store {
  readonly label: string;
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;
  /** Some stores expect a bare tag in If-Match, others a quoted one. The first swap finds out. */
  #tagForms: ((tag: string) => string)[] = [(tag) => `"${tag}"`, (tag) => tag];
  /** `Date` of the newest response in ms, and when it arrived. */
  #clock = { dateMs: Number.NaN, at: Number.NEGATIVE_INFINITY };

  constructor(client: S3Client, bucket: string, prefix: string) {
    this.#client = client;
    this.#bucket = bucket;
    this.#prefix = prefix && `${prefix.replace(/\/+$/, '')}/`;
    this.label = `s3://${bucket}/${prefix}`;
    // closest to the network, so that it sees error responses as well
    client.middlewareStack.add(
      (next) => async (request) => {
        const output = await next(request);
        const dateMs = dateOf(output.response);
        if (!Number.isNaN(dateMs)) this.#clock = { dateMs, at: performance.now() };
        return output;
      },
      { step: 'deserialize', name: 'storeClock', priority: 'low' },
    );
  }

  async read(key: string): Promise<Buffer | null> {
    return (await this.#get(key))?.body ?? null;
  }

  async create(key: string, body: Uint8Array | string, options: CreateOptions = {}): Promise<boolean> {
    const bytes = Buffer.from(body);
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const outcome = await this.#put(key, bytes, { IfNoneMatch: '*' }, options);
      if (outcome === 'written') return true;
      if (outcome === 'lost' && attempt === 0) return false;
      const stored = await this.read(key);
      if (stored) return stored.equals(bytes);
    }
    throw this.#busyError(key);
  }

  async readPointer(key: string): Promise<Pointer | null> {
    const object = await this.#get(key);
    return object && { body: object.body.toString('utf8'), tag: object.tag };
  }

  async swapPointer(key: string, body: string, tag: string | null): Promise<boolean> {
    if (tag === null) return this.create(key, body, { contentType: 'application/json' });
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const outcome = await this.#putMatching(key, body, tag);
      if (outcome === 'written') return true;
      const currentPointer = await this.readPointer(key);
      if (currentPointer?.body === body) return true;
      if (outcome === 'lost' || currentPointer?.tag !== tag) return false;
    }
    throw this.#busyError(key);
  }

  /** Not atomic, because some stores have no conditional delete: a concurrent swap may be lost. Only for unimportant pointers. */
  async removePointer(key: string, tag: string): Promise<boolean> {
    if ((await this.readPointer(key))?.tag !== tag) return false;
    await this.remove(key);
    return true;
  }

  async list(prefix: string): Promise<string[]> {
    return (await this.entries(prefix)).map(({ key }) => key);
  }

  async entries(prefix: string): Promise<Entry[]> {
    const pages = await this.#pages(prefix);
    return pages.flatMap(({ Contents = [] }) =>
      Contents.map(({ Key = '', Size = 0, LastModified = new Date(0) }) => ({
        key: Key.slice(this.#prefix.length),
        bytes: Size,
        at: LastModified,
      })),
    );
  }

  /** A bucket has no limit. Quotas limit its cost. */
  async room(): Promise<null> {
    return null;
  }

  /** Nothing to do: uploads to a bucket are atomic. */
  async sweep(): Promise<number> {
    return 0;
  }

  async children(prefix: string): Promise<string[]> {
    const pages = await this.#pages(prefix, '/');
    const start = this.#prefix.length + prefix.length;
    const files = pages.flatMap(({ Contents = [] }) => Contents.map(({ Key = '' }) => Key.slice(start)));
    const folders = pages.flatMap(({ CommonPrefixes = [] }) =>
      CommonPrefixes.map(({ Prefix = '' }) => Prefix.slice(start)),
    );
    return [...files, ...folders].sort();
  }

  async remove(key: string): Promise<void> {
    await this.#guard(() =>
      this.#client.send(new DeleteObjectCommand({ Bucket: this.#bucket, Key: this.#prefix + key })),
    );
  }

  /** Returns this machine's time if the store's responses have no `Date`. */
  async time(): Promise<Date> {
    const elapsedMs = () => performance.now() - this.#clock.at;
    if (!(elapsedMs() < CLOCK_LIFETIME_MS)) await this.#get('store.json');
    return Number.isNaN(this.#clock.dateMs) ? new Date() : new Date(this.#clock.dateMs + elapsedMs());
  }

  async #get(key: string): Promise<{ body: Buffer; tag: string } | null> {
    return this.#guard(async () => {
      const output = await this.#client.send(new GetObjectCommand({ Bucket: this.#bucket, Key: this.#prefix + key }));
      const bytes = await output.Body?.transformToByteArray();
      return { body: Buffer.from(bytes ?? []), tag: (output.ETag ?? '').replaceAll('"', '') };
    }, null);
  }

  async #putMatching(key: string, body: string, tag: string): Promise<WriteOutcome> {
    let outcome: WriteOutcome = 'lost';
    for (const form of this.#tagForms) {
      outcome = await this.#put(key, Buffer.from(body), { IfMatch: form(tag) }, { contentType: 'application/json' });
      if (outcome === 'written') this.#tagForms = [form];
      if (outcome !== 'lost') return outcome;
    }
    return outcome;
  }

  async #put(key: string, Body: Buffer, condition: object, options: CreateOptions): Promise<WriteOutcome> {
    const headers = {
      CacheControl: key.startsWith('builds/') ? LONG_LIVED : 'no-cache',
      ContentType: options.contentType ?? 'application/json',
      ...(options.contentEncoding ? { ContentEncoding: options.contentEncoding } : {}),
    };
    const command = new PutObjectCommand({
      Bucket: this.#bucket,
      Key: this.#prefix + key,
      Body,
      ...headers,
      ...condition,
    });
    return this.#guard(async () => {
      try {
        await this.#client.send(command);
        return 'written';
      } catch (cause) {
        const status = statusOf(cause);
        if (status === 412 || (status === 404 && 'IfMatch' in condition)) return 'lost';
        if (status === 0 || status === 409 || status >= 500) return 'unclear';
        throw cause;
      }
    });
  }

  async #pages(prefix: string, Delimiter?: string): Promise<ListObjectsV2CommandOutput[]> {
    const pages: ListObjectsV2CommandOutput[] = [];
    let token: string | undefined;
    do {
      const command = new ListObjectsV2Command({
        Bucket: this.#bucket,
        Prefix: this.#prefix + prefix,
        Delimiter,
        ContinuationToken: token,
      });
      const page = await this.#guard(() => this.#client.send(command));
      pages.push(page);
      token = page.NextContinuationToken;
    } while (token);
    return pages;
  }

  #busyError(key: string) {
    return unreachable(say('unwritten', { store: this.label, file: key }), say('unwrittenCure'));
  }

  async #guard<Result>(work: () => Promise<Result>, missingValue?: Result): Promise<Result> {
    try {
      return await work();
    } catch (cause) {
      if (missingValue !== undefined && isMissing(cause)) return missingValue;
      const problem = `${statusOf(cause) || ''} ${messageOf(cause)}`.trim();
      throw unreachable(say('storeFailed', { store: this.label, problem }), say('bucketCure'));
    }
  }
}

/** In ms. The socket timeout detects a hanging store; the request timeout allows large files on slow networks. */
const TIMEOUTS_MS = { connectionTimeout: 3000, socketTimeout: 20_000, requestTimeout: 60_000 };

/** Opens `s3://bucket/prefix`; address and credentials come from the SDK's own variables. Throws usage. */
export function openS3Store(url: string, environment: NodeJS.ProcessEnv, timeouts = TIMEOUTS_MS): S3Store {
  const [, bucket = '', prefix = ''] = /^s3:\/\/([a-z0-9.-]{3,63})(?:\/(.*))?$/.exec(url) ?? [];
  if (!bucket) throw usage(`"${url}" names no bucket`, 'Use s3://bucket or s3://bucket/prefix.');
  const endpoint = environment.AWS_ENDPOINT_URL_S3;
  // the SDK's warning about future Node.js versions is useless to users of the command line
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  const client = new S3Client({
    region: environment.AWS_REGION || 'us-east-1',
    // after an unclear response the key must be read before the write is repeated
    maxAttempts: 1,
    requestHandler: { ...timeouts, throwOnRequestTimeout: true },
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...(endpoint ? { endpoint, forcePathStyle: true } : {}),
  });
  return new S3Store(client, bucket, prefix);
}
