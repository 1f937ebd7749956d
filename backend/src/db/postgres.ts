import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import {
  type Compilable,
  createQueryId,
  Kysely,
  PostgresDialect,
  PostgresQueryCompiler,
  type RootOperationNode,
  sql,
} from 'kysely';
import pg from 'pg';
import { ConfigError } from '../env.ts';
import { bindable, Db, query, type TableColumn } from './database.ts';
import { migrateToLatest } from './migrations.ts';
import { DatabaseError } from './storageFault.ts';

/**
 * Advisory lock of each writing transaction. As in libsql, one backend writes at a time, so that the rows which a
 * transaction has read do not change before it ends.
 */
export const WRITERS_LOCK = 0x6c7a;

/** Maximum time that a statement blocks the process. */
const MAX_WAIT_MS = 1_000;
const CONNECT_TIMEOUT_MS = 5_000;
/** Maximum time that a client which vanished within a transaction blocks the others. */
const IDLE_TRANSACTION_MS = 10_000;
/** The worker drops the connection if Postgres does not even report a timeout. */
const ANSWER_TIMEOUT_MS = 5_000;
/** Time for a Postgres that starts together with the backend. */
const START_MS = 10_000;

/** Returns host, port and database, without user and password, for messages. */
function placeOf(url: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url);
  return `${hostname || searchParams.get('host') || 'localhost'}:${port || searchParams.get('port') || 5432}${pathname}`;
}

/**
 * Opens a Postgres database and migrates it. Several backends may do so in parallel. Waits up to 10 s for a Postgres
 * that is starting.
 * @param onEffectError receives failures of effects after their transaction was committed.
 */
export async function openPostgres(url: string, onEffectError: (error: unknown) => void): Promise<PostgresDb> {
  const deadline = performance.now() + START_MS;
  for (let isWaiting = false; ; isWaiting = true) {
    try {
      await migrate(url);
      return new PostgresDb(url, onEffectError);
    } catch (error) {
      if (!isStarting(error) || performance.now() >= deadline) throw toConfigError(error, url);
    }
    if (!isWaiting)
      console.error(`DATABASE_URL: no Postgres answers at ${placeOf(url)}; waiting ${START_MS / 1000} s for it …`);
    await sleep(250);
  }
}

async function migrate(url: string): Promise<void> {
  const pool = new pg.Pool({ connectionString: url, max: 1, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  // losing an idle connection does not affect a migration
  pool.on('error', () => {});
  try {
    const { rows } = await pool.query<{ server_encoding: string }>('show server_encoding');
    const encoding = rows[0]?.server_encoding;
    if (encoding !== 'UTF8')
      throw new ConfigError(
        `DATABASE_URL: ${placeOf(url)} has the encoding ${encoding}; make it with createdb, encoding UTF8`,
      );
    await migrateToLatest(new Kysely({ dialect: new PostgresDialect({ pool }) }), `DATABASE_URL: ${placeOf(url)}`);
  } finally {
    await pool.end();
  }
}

const startingCodes = ['57P03', 'ECONNREFUSED', 'ENOENT', 'EAI_AGAIN'];

const isStarting = (error: unknown): boolean => startingCodes.includes((error as { code?: string }).code ?? '');

/** Returns an error of the configuration as a `ConfigError` of one line, and any other error unchanged. */
function toConfigError(error: unknown, url: string): unknown {
  const { code = '', message } = error as { code?: string; message: string };
  const place = placeOf(url);
  const detail = message || code;
  if (/^28/.test(code))
    return new ConfigError(`DATABASE_URL: ${place} lets nobody in (${detail}); correct user and password`);
  if (code === '3D000')
    return new ConfigError(`DATABASE_URL: there is no such database (${detail}); make it with createdb, encoding UTF8`);
  if (code === '42501')
    return new ConfigError(`DATABASE_URL: ${place}: ${detail}; let the user create tables in its schema`);
  if (/^42/.test(code))
    return new ConfigError(`DATABASE_URL: ${place} has tables of another program (${detail}); name an empty database`);
  if (error instanceof pg.DatabaseError) return new DatabaseError(code, message, place);
  if (error instanceof ConfigError) return error;
  return new ConfigError(`DATABASE_URL: no Postgres answers at ${place} (${detail}); start it, or correct the address`);
}

type WorkerRequest =
  | { kind: 'read' | 'write' | 'inside'; query: { text: string; values: unknown[] } }
  | { kind: 'begin' | 'commit' | 'rollback' | 'end' };

const probe: WorkerRequest = { kind: 'read', query: { text: 'select 1', values: [] } };

type WorkerResponse = { result?: { rows: unknown[]; changes: number } } | { fault: { code: string; message: string } };

/** `Db` over one connection in a worker thread: the port is synchronous, but Postgres responds over a socket. */
export class PostgresDb extends Db {
  readonly #place: string;
  readonly #compiler = new PostgresQueryCompiler();
  readonly #signal = new Int32Array(new SharedArrayBuffer(4));
  readonly #port: MessagePort;
  readonly #worker: Worker;
  readonly #patienceMs: number;
  #lastRequestId = 0;
  #hasResponded = false;
  /** Whether the last request has no response yet, or its response was that Postgres is away. */
  #isUnavailable = false;
  #isClosed = false;

  constructor(url: string, onEffectError: (error: unknown) => void, patienceMs = MAX_WAIT_MS) {
    super(onEffectError);
    this.#patienceMs = patienceMs;
    this.#place = placeOf(url);
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    const config = {
      connectionString: url,
      application_name: 'liaozhai',
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: Math.max(ANSWER_TIMEOUT_MS, patienceMs),
      // below the patience, so that Postgres reports the timeout and the connection remains usable
      statement_timeout: Math.round(0.9 * patienceMs),
      lock_timeout: Math.round(0.8 * patienceMs),
      idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
    };
    const begin = `begin; select pg_advisory_xact_lock(${WRITERS_LOCK})`;
    this.#worker = new Worker(join(import.meta.dirname, 'postgresWorker.mjs'), {
      workerData: { port: port2, signal: this.#signal, config, begin },
      transferList: [port2],
      execArgv: [],
    });
    this.#worker.on('error', onEffectError);
    this.#worker.unref();
    port1.unref();
  }

  all<Row>(statement: Compilable<Row>): Row[] {
    const node = nodeOf(statement);
    return this.#run(node, node.kind === 'SelectQueryNode' || node.kind === 'RawNode' ? 'read' : 'write').rows as Row[];
  }

  run(statement: Compilable<unknown>): number {
    return this.#run(nodeOf(statement), 'write').changes;
  }

  /** Resolves immediately: backends that share a Postgres queue there for the lock, and a probe would lose the place. */
  async writable(): Promise<void> {}

  columns(): TableColumn[] {
    const columns = sql<TableColumn>`
      select table_name as "table", column_name as name, column_default as "default"
      from information_schema.columns where table_schema = current_schema()`;
    return this.all({ compile: () => columns.compile(query) });
  }

  explain(statement: Compilable<unknown>): string[] {
    const rows = this.#run(nodeOf(statement), 'read', 'explain ').rows as { 'QUERY PLAN': string }[];
    return rows.map((row) => row['QUERY PLAN']);
  }

  close(): void {
    if (this.#isClosed) return;
    // a Postgres that does not respond closes the connection later
    this.perform(() => this.#request({ kind: 'end' }));
    this.#isClosed = true;
    void this.#worker.terminate();
  }

  protected begin(): void {
    this.#request({ kind: 'begin' });
  }

  protected commit(): void {
    this.#request({ kind: 'commit' });
  }

  protected rollBack(): void {
    this.#request({ kind: 'rollback' });
  }

  #run(node: RootOperationNode, kind: 'read' | 'write', prefix = '') {
    const { sql: text, parameters } = this.#compiler.compileQuery(node, createQueryId());
    const values = parameters.map((value) => {
      const bound = bindable(value);
      // Postgres refuses a statement with a NUL, which no text should contain
      return typeof bound === 'string' ? bound.replaceAll('\0', '\ufffd') : bound;
    });
    return this.#request({ kind: this.isTransacting ? 'inside' : kind, query: { text: prefix + text, values } });
  }

  /** Sends a request to the worker and blocks until its response. Throws `DatabaseError`. */
  #request(request: WorkerRequest): { rows: unknown[]; changes: number } {
    if (this.#isClosed) throw new DatabaseError('DATABASE_AWAY', 'the connection was closed', this.#place);
    if (this.#isUnavailable) this.#catchUp();
    if (this.#isUnavailable) {
      // a transaction that its caller gave up must not stay open
      if (request.kind === 'rollback' || request.kind === 'end') this.#post(request);
      throw this.#timeoutError();
    }
    this.#post(request);
    const response = this.#waitForResponse();
    if ('fault' in response) throw new DatabaseError(response.fault.code, response.fault.message, this.#place);
    return response.result ?? { rows: [], changes: 0 };
  }

  #post(request: WorkerRequest): void {
    this.#lastRequestId += 1;
    this.#port.postMessage({ ...request, id: this.#lastRequestId });
  }

  /** Returns the response to the last request, if it has arrived, and drops those to earlier ones. */
  #receiveResponse(): WorkerResponse | undefined {
    for (;;) {
      const response = receiveMessageOnPort(this.#port)?.message as (WorkerResponse & { id: number }) | undefined;
      if (!response || response.id === this.#lastRequestId) return response;
    }
  }

  /** Updates `#isUnavailable` without waiting, and probes again if Postgres was away. */
  #catchUp(): void {
    const response = this.#receiveResponse();
    if (!response) return;
    this.#isUnavailable = 'fault' in response && response.fault.code === 'DATABASE_AWAY';
    if (this.#isUnavailable) this.#post(probe);
  }

  #waitForResponse(): WorkerResponse {
    // before the first response the backend does not serve yet, and the worker is starting
    const deadline = performance.now() + (this.#hasResponded ? this.#patienceMs : Math.max(START_MS, this.#patienceMs));
    for (;;) {
      const response = this.#receiveResponse();
      if (response) {
        this.#hasResponded = true;
        return response;
      }
      if (Atomics.wait(this.#signal, 0, 0, Math.max(0, deadline - performance.now())) === 'timed-out') {
        this.#isUnavailable = true;
        throw this.#timeoutError();
      }
      Atomics.store(this.#signal, 0, 0);
    }
  }

  #timeoutError = () => new DatabaseError('DATABASE_AWAY', 'it does not answer', this.#place);
}

/** Returns a statement's nodes, from which it is compiled for Postgres. */
function nodeOf(statement: Compilable<unknown>): RootOperationNode {
  const builder = statement as Partial<{ toOperationNode(): RootOperationNode }>;
  return builder.toOperationNode?.() ?? statement.compile().query;
}
