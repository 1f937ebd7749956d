// Worker thread with the connection of `postgres.ts`. It awaits Postgres while the backend blocks on it.
import { workerData } from 'node:worker_threads';
import pg from 'pg';

const { port, signal, config, begin } = workerData;

/** `pg` returns sums and counts as text, since they may exceed a number. These do not. */
const numberTypes = [pg.types.builtins.INT8, pg.types.builtins.NUMERIC];
for (const type of numberTypes) pg.types.setTypeParser(type, Number);

/** Time after a failed connection in which requests are refused immediately. */
const REFUSE_MS = 1_000;

/** Lock timeout after one has expired: enough for the short transactions of other backends. */
const BUSY_LOCK_TIMEOUT_MS = 20;

/** Returns the SQLSTATE, or `DATABASE_AWAY` if the connection and not the statement failed. */
const faultOf = (error) => ({
  code: isAway(error) ? 'DATABASE_AWAY' : error.code,
  message: error.message || String(error.code ?? error),
});

/** Whether the socket broke, or an SQLSTATE reports a shutdown or a closed connection. */
const isAway = (error) => !(error instanceof pg.DatabaseError) || /^(08|57P|25P03)/.test(error.code ?? '');

class ConnectionLost extends Error {}

class Connection {
  #client = null;
  /** connection with an open transaction */
  #transactionClient = null;
  #connectError = null;
  #refuseUntil = 0;
  /** True from a lock timeout until the next commit. */
  #isBusy = false;
  /** current setting of the connection */
  #lockTimeoutMs = config.lock_timeout;

  async #connect() {
    if (Date.now() < this.#refuseUntil) throw this.#connectError;
    const client = new pg.Client(config);
    client.on('error', () => this.#drop(client));
    try {
      await client.connect();
    } catch (error) {
      this.#connectError = new ConnectionLost(error.message || error.code);
      this.#refuseUntil = Date.now() + REFUSE_MS;
      throw this.#connectError;
    }
    this.#client = client;
    this.#lockTimeoutMs = config.lock_timeout;
  }

  /** Rolls back a transaction that its caller gave up. Shortens the lock timeout while the database is busy. */
  async #prepare() {
    await this.rollback();
    const lockTimeoutMs = this.#isBusy ? Math.min(BUSY_LOCK_TIMEOUT_MS, config.lock_timeout) : config.lock_timeout;
    if (lockTimeoutMs === this.#lockTimeoutMs) return;
    await this.#sendWithRetry(`set lock_timeout = ${lockTimeoutMs}`);
    this.#lockTimeoutMs = lockTimeoutMs;
  }

  #drop(client) {
    if (this.#client === client) this.#client = null;
    client.connection.stream.destroy();
  }

  /** Sends a query on the current connection, without a retry. Drops the connection if it is lost. */
  async #send(query) {
    const client = this.#client;
    if (client === null) throw new ConnectionLost('the connection was lost');
    try {
      const { rows, rowCount } = await client.query(query);
      return { rows, changes: rowCount ?? 0 };
    } catch (error) {
      if (isAway(error)) this.#drop(client);
      if (error.code === '55P03') this.#isBusy = true;
      throw error;
    }
  }

  /** Sends a query outside of a transaction. Reconnects and retries once if the connection was lost since the last call. */
  async #sendWithRetry(query) {
    const isFresh = this.#client === null;
    if (isFresh) await this.#connect();
    try {
      return await this.#send(query);
    } catch (error) {
      if (isFresh || !isAway(error)) throw error;
      await this.#connect();
      return await this.#send(query);
    }
  }

  async read(query) {
    await this.#prepare();
    return await this.#sendWithRetry(query);
  }

  async begin() {
    await this.#prepare();
    try {
      await this.#sendWithRetry(begin);
    } catch (error) {
      // after a lock timeout the transaction is open nevertheless
      if (!isAway(error)) await this.#send('rollback');
      throw error;
    }
    this.#transactionClient = this.#client;
  }

  inside(query) {
    if (this.#transactionClient !== this.#client)
      throw new ConnectionLost('the connection was lost within a transaction');
    return this.#send(query);
  }

  async commit() {
    const result = await this.inside('commit');
    this.#isBusy = false;
    return result;
  }

  async rollback() {
    const client = this.#transactionClient;
    this.#transactionClient = null;
    // a lost connection has ended its transaction
    if (client !== null && client === this.#client) await this.#send('rollback');
  }

  async write(query) {
    await this.begin();
    try {
      const result = await this.inside(query);
      await this.commit();
      return result;
    } catch (error) {
      await this.rollback();
      throw error;
    }
  }

  async end() {
    await this.#client?.end();
  }
}

const connection = new Connection();

async function respondTo({ id, kind, query }) {
  try {
    return { id, result: await connection[kind](query) };
  } catch (error) {
    return { id, fault: faultOf(error) };
  }
}

async function handle(request) {
  port.postMessage(await respondTo(request));
  Atomics.store(signal, 0, 1);
  Atomics.notify(signal, 0);
  if (request.kind === 'end') port.close();
}

// In order, so that a rollback runs after the statement that its caller gave up.
let queue = Promise.resolve();
port.on('message', (request) => {
  queue = queue.then(() => handle(request));
});
