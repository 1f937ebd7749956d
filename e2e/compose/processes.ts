import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ComposeFile, Service } from './composeFile.ts';

/** Each service has its own loopback address, like a container in its network. */
export const addressOf = (index: number): string => `127.0.21.${index + 2}`;

const MAX_START_MS = 120_000;
const BETWEEN_LOOKS_MS = 300;

export interface ProcessesOptions {
  file: ComposeFile;
  /** folder of volumes, configurations and logs */
  folder: string;
  repoRoot: string;
}

/** Runs the services of a compose file as local processes: the same commands and environment, but other addresses and folders. */
export class Processes {
  readonly #options: ProcessesOptions;
  readonly #names: string[];
  readonly #running = new Map<string, ChildProcess>();
  readonly #elsewhere = new Set<string>();

  constructor(options: ProcessesOptions) {
    this.#options = options;
    this.#names = Object.keys(options.file.services);
  }

  address(name: string): string {
    return addressOf(this.#names.indexOf(name));
  }

  /** Marks a service that is started by other code, at its address. */
  isElsewhere(name: string): void {
    this.#elsewhere.add(name);
  }

  #service(name: string): Service {
    const service = this.#options.file.services[name];
    if (!service) throw new Error(`no service ${name}`);
    return service;
  }

  /** Replaces addresses and folders of the container by local ones. */
  #placed(name: string, text: string): string {
    let placed = text.replaceAll('0.0.0.0', this.address(name)).replaceAll('127.0.0.1', this.address(name));
    for (const other of this.#names) {
      const asHost = new RegExp(`(://|@|server )${other}(?=[:;]|$)`, 'g');
      placed = placed.replace(asHost, `$1${this.address(other)}`);
    }
    for (const [target, source] of this.#folders(name)) placed = placed.replaceAll(target, source);
    return placed;
  }

  /** Value of a variable, which may be just the name of a service. */
  #variable(name: string, value: string): string {
    return this.#names.includes(value) ? this.address(value) : this.#placed(name, value);
  }

  /** Folders and files of the container, with their local paths. */
  #folders(name: string): [string, string][] {
    const { folder, repoRoot } = this.#options;
    const { volumes = [], configs = [] } = this.#service(name);
    const mounted = volumes.map((volume): [string, string] => {
      const [source = '', target = ''] = volume.split(':');
      if (source === '.') return [target, repoRoot];
      return [target, source.startsWith('/') ? source : join(folder, 'volumes', source)];
    });
    const written = configs.map(({ source, target }): [string, string] => [target, join(folder, `${name}-${source}`)]);
    return [...mounted, ...written];
  }

  #spawn(name: string, words: readonly string[], log: number): ChildProcess {
    const { environment = {}, working_dir } = this.#service(name);
    const own = Object.entries(environment).map(([key, value]) => [key, this.#variable(name, String(value))]);
    const { PATH, HOME } = process.env;
    // a separate process group, so that child processes end with it
    const [command = '', ...rest] = words.map((word) => this.#placed(name, word));
    return spawn(command, rest, {
      cwd: working_dir && this.#placed(name, working_dir),
      env: { PATH, HOME, ...Object.fromEntries(own) },
      stdio: ['ignore', log, log],
      detached: true,
    });
  }

  async #isHealthy(name: string): Promise<boolean> {
    if (this.#elsewhere.has(name)) return true;
    const test = this.#service(name).healthcheck?.test;
    if (!test) return this.#running.has(name);
    const [exit] = await once(this.#spawn(name, test.slice(1), openSync('/dev/null', 'w')), 'exit');
    return exit === 0;
  }

  /** Starts a service after its dependencies. Waits until it is healthy or, for a one-off task, finished. */
  async start(name: string): Promise<void> {
    if (this.#running.has(name) || this.#elsewhere.has(name)) return;
    const { command, configs = [], depends_on = {} } = this.#service(name);
    for (const [needed, { condition }] of Object.entries(depends_on)) {
      await this.start(needed);
      if (condition === 'service_healthy') await this.healthy(needed);
    }
    const volumes = join(this.#options.folder, 'volumes');
    for (const [, source] of this.#folders(name))
      if (source.startsWith(volumes)) mkdirSync(source, { recursive: true });
    for (const { source, target } of configs) {
      const place = new Map(this.#folders(name)).get(target) ?? '';
      writeFileSync(place, this.#placed(name, this.#options.file.configs[source]?.content ?? ''));
    }
    const log = openSync(join(this.#options.folder, `${name}.log`), 'a');
    const child = this.#spawn(name, command, log);
    this.#running.set(name, child);
    if (this.#service(name).restart) return;
    const [exit] = await once(child, 'exit');
    if (exit !== 0) throw new Error(`${name} ended with ${exit}: see ${this.#options.folder}/${name}.log`);
  }

  async healthy(name: string): Promise<void> {
    const until = performance.now() + MAX_START_MS;
    while (!(await this.#isHealthy(name))) {
      if (performance.now() > until)
        throw new Error(`${name} does not become healthy: see ${this.#options.folder}/${name}.log`);
      await pause(BETWEEN_LOOKS_MS);
    }
  }

  /** Kills a service with SIGKILL, to simulate a power failure. */
  async kill(name: string): Promise<void> {
    const child = this.#running.get(name);
    this.#running.delete(name);
    if (!child?.pid || (child.exitCode ?? child.signalCode) !== null) return;
    const ended = once(child, 'exit');
    process.kill(-child.pid, 'SIGKILL');
    await ended;
  }

  async killAll(): Promise<void> {
    for (const name of [...this.#running.keys()].reverse()) await this.kill(name);
  }
}
