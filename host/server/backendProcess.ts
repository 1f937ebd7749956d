import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { repoRoot } from '@liaozhai/shared/build/facts';

export interface Backend {
  /** current origin, e.g. `http://127.0.0.1:41873` */
  url(): string;
  /** Seconds until it is restarted, at least 1; null while it runs. */
  secondsUntilRestart(): number | null;
  /** Resolves with a one-line reason once the backend has ended for good and is not restarted. */
  gone: Promise<string>;
  stop(): Promise<void>;
}

export interface BackendCommand {
  /** arguments of Node */
  args: string[];
  cwd: string;
}

const referenceBackend: BackendCommand = {
  args: [join(repoRoot, 'host/server/run.mjs'), 'src/main.ts'],
  cwd: join(repoRoot, 'backend'),
};

/** Delays before successive restarts; after the last one the backend has ended for good. */
const restartDelaysMs = [300, 1_000, 3_000, 10_000, 30_000];
/** A process that ran this long has recovered: the delays start over. */
const RECOVERED_AFTER_MS = 60_000;
/** The backend's exit status for a problem that a restart does not solve; it has logged the solution. */
const FATAL_STATUS = 2;

const listeningPattern = /listening on (http:\/\/\S+)/;

/** The backend ended before it listened. */
export class BackendRefused extends Error {
  /** Whether the backend has already logged the problem and its solution. */
  readonly isExplained: boolean;

  constructor(code: number | null) {
    super(`the reference backend ended with code ${code} before it listened`);
    this.isExplained = code === FATAL_STATUS;
  }
}

function launch({ args, cwd }: BackendCommand, env: NodeJS.ProcessEnv) {
  // it ends when the IPC channel closes, so that it never outlives this process at its database
  const stdio = ['ignore', 'pipe', 'inherit', 'ipc'] as const;
  const child = spawn(process.execPath, args, { cwd, env, stdio: [...stdio] }) as ChildProcessByStdio<
    null,
    Readable,
    null
  >;
  const url = new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const listeningUrl = listeningPattern.exec(line)?.[1];
      if (listeningUrl) resolve(listeningUrl);
      else console.log(line);
    });
    child.once('exit', (code) => reject(new BackendRefused(code)));
  });
  // callers that await it see the rejection; after a restart nobody does
  url.catch(() => {});
  return { child, url, startedAt: performance.now() };
}

/**
 * Runs the reference backend as a separate process. If it ends, it is restarted on the same port, up to five times in a row with
 * growing delays. A status that rules a restart out ends it for good. Rejects with `BackendRefused` if it never listened.
 */
export async function startBackend(
  env: NodeJS.ProcessEnv,
  { command = referenceBackend, pausesMs = restartDelaysMs } = {},
): Promise<Backend> {
  let current = launch(command, env);
  let url = await current.url;
  const { port } = new URL(url);
  let isStopping = false;
  let failures = 0;
  let backAt: number | null = null;
  let timer: NodeJS.Timeout | undefined;
  let giveUp: (reason: string) => void = () => {};
  const gone = new Promise<string>((resolve) => {
    giveUp = resolve;
  });

  const handleExit = (code: number | null) => {
    if (isStopping) return;
    if (performance.now() - current.startedAt >= RECOVERED_AFTER_MS) failures = 0;
    const pauseMs = pausesMs[failures];
    backAt ??= performance.now();
    if (code === FATAL_STATUS)
      return giveUp('The reference backend ended; starting it again would not help: see the line above.');
    if (pauseMs === undefined) {
      return giveUp(`The reference backend ended ${failures + 1} times in a row; see above why, and start again.`);
    }
    failures += 1;
    backAt = performance.now() + pauseMs;
    console.error(
      `The reference backend ended; starting it again in ${pauseMs / 1000} s (${failures} of ${pausesMs.length}).`,
    );
    timer = setTimeout(restart, pauseMs);
  };

  const restart = () => {
    const newProcess = launch(command, { ...env, PORT: port });
    current = newProcess;
    newProcess.child.once('exit', handleExit);
    newProcess.url.then(
      (newUrl) => {
        url = newUrl;
        backAt = null;
      },
      () => {},
    );
  };

  current.child.once('exit', handleExit);
  return {
    url: () => url,
    secondsUntilRestart: () => (backAt === null ? null : Math.max(1, Math.ceil((backAt - performance.now()) / 1000))),
    gone,
    stop: () =>
      new Promise((resolve) => {
        isStopping = true;
        clearTimeout(timer);
        const { child } = current;
        if ((child.exitCode ?? child.signalCode) !== null) return resolve();
        child.once('exit', () => resolve());
        child.kill('SIGTERM');
      }),
  };
}
