// The thread in which `postgres.ts` has its connection: it may wait for Postgres, while the backend waits for it.
import { workerData } from 'node:worker_threads';
import pg from 'pg';

const { port, signal, config, begin } = workerData;

/** Sums and counts come as text, since they may exceed what a number holds; ours do not. */
const numberTypes = [pg.types.builtins.INT8, pg.types.builtins.NUMERIC];
for (const type of numberTypes) pg.types.setTypeParser(type, Number);

/** After a failed connection: requests are refused immediately for a while instead of waiting again. */
const restMs = 1_000;

/** Once a wait for a lock was too long: enough for the transactions of other backends, and no more. */
const busyLockTimeoutMs = 20;

/** What the caller hears: an SQLSTATE, or DATABASE_AWAY where the connection and not the statement is at fault. */
const faultOf = (error) => ({
  code: isAway(error) ? 'DATABASE_AWAY' : error.code,
  message: error.message || String(error.code ?? error),
});

/** Not a statement that was refused: the socket broke, or an SQLSTATE says that the server goes or has ended the connection. */
const isAway = (error) => !(error instanceof pg.DatabaseError) || /^(08|57P|25P03)/.test(error.code ?? '');

class Lost extends Error {}

class Connection {
  #client = null;
  /** the connection on which a transaction is open */
  #transacting = null;
  #refusal = null;
  #restUntil = 0;
  /** From a wait for a lock that was too long until the next commit. */
  #isBusy = false;
  /** what the connection has */
  #lockTimeoutMs = config.lock_timeout;

  async #connect() {
    if (Date.now() < this.#restUntil) throw this.#refusal;
    const client = new pg.Client(config);
    client.on('error', () => this.#drop(client));
    try {
      await client.connect();
    } catch (error) {
      this.#refusal = new Lost(error.message || error.code);
      this.#restUntil = Date.now() + restMs;
      throw this.#refusal;
    }
    this.#client = client;
    this.#lockTimeoutMs = config.lock_timeout;
  }

  /** Ends what a caller who gave up may have left open. Lets nobody wait while the database is busy. */
  async #prepare() {
    await this.rollback();
    const wanted = this.#isBusy ? Math.min(busyLockTimeoutMs, config.lock_timeout) : config.lock_timeout;
    if (wanted === this.#lockTimeoutMs) return;
    await this.#sendAnew(`set lock_timeout = ${wanted}`);
    this.#lockTimeoutMs = wanted;
  }

  #drop(client) {
    if (this.#client === client) this.#client = null;
    client.connection.stream.destroy();
  }

  /** On the connection there is; one that proves lost is given up, and nothing is sent again. */
  async #send(query) {
    const client = this.#client;
    if (client === null) throw new Lost('the connection was lost');
    try {
      const { rows, rowCount } = await client.query(query);
      return { rows, changes: rowCount ?? 0 };
    } catch (error) {
      if (isAway(error)) this.#drop(client);
      if (error.code === '55P03') this.#isBusy = true;
      throw error;
    }
  }

  /** For what has changed nothing yet: a connection that was lost since the last call costs one more try. */
  async #sendAnew(query) {
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
    return await this.#sendAnew(query);
  }

  async begin() {
    await this.#prepare();
    try {
      await this.#sendAnew(begin);
    } catch (error) {
      // the wait for the lock was too long: the transaction has begun all the same
      if (!isAway(error)) await this.#send('rollback');
      throw error;
    }
    this.#transacting = this.#client;
  }

  inside(query) {
    if (this.#transacting !== this.#client) throw new Lost('the connection was lost within a transaction');
    return this.#send(query);
  }

  async commit() {
    const result = await this.inside('commit');
    this.#isBusy = false;
    return result;
  }

  async rollback() {
    const transacting = this.#transacting;
    this.#transacting = null;
    // with the connection the transaction is gone as well
    if (transacting !== null && transacting === this.#client) await this.#send('rollback');
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

async function answer({ id, kind, query }) {
  try {
    return { id, result: await connection[kind](query) };
  } catch (error) {
    return { id, fault: faultOf(error) };
  }
}

async function handle(asked) {
  port.postMessage(await answer(asked));
  Atomics.store(signal, 0, 1);
  Atomics.notify(signal, 0);
  if (asked.kind === 'end') port.close();
}

// A rollback must come after the statement that its caller gave up.
let handled = Promise.resolve();
port.on('message', (asked) => {
  handled = handled.then(() => handle(asked));
});
