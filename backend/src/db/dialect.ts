import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type Libsql from 'libsql';

/** Lets kysely run on libsql: one connection, so only the migrator, which runs alone, uses it. */
export function libsqlDialect(database: Libsql.Database): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new LibsqlDriver(database),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

class LibsqlDriver implements Driver {
  readonly #connection: DatabaseConnection;
  readonly #database: Libsql.Database;

  constructor(database: Libsql.Database) {
    this.#database = database;
    this.#connection = { executeQuery: (query) => this.#execute(query), streamQuery: refuseStreaming };
  }

  async init(): Promise<void> {}
  async destroy(): Promise<void> {}
  async releaseConnection(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }

  async beginTransaction(): Promise<void> {
    this.#database.exec('begin immediate');
  }

  async commitTransaction(): Promise<void> {
    this.#database.exec('commit');
  }

  async rollbackTransaction(): Promise<void> {
    this.#database.exec('rollback');
  }

  async #execute<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const statement = this.#database.prepare(sql);
    if (statement.reader) return { rows: statement.all([...parameters]) as Row[] };
    const { changes } = statement.run([...parameters]);
    return { rows: [], numAffectedRows: BigInt(changes) };
  }
}

function refuseStreaming(): never {
  throw new Error('this dialect does not stream');
}
