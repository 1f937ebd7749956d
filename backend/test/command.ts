import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { afterAll } from '@rstest/core';
import { fastEnv } from './testBackend.ts';
import { databaseOf, makeDataDir, removeDataDir } from './testDatabase.ts';

/** A backend in a separate process. */
export interface Run {
  child: ChildProcess;
  url: string;
  /** lines of stdout and stderr */
  output: string[];
}

/** Returns the backend's command on a temporary data folder. Both are cleaned up after the last test. */
export function openCommand() {
  const dataDir = makeDataDir();
  const started = new Set<ChildProcess>();
  afterAll(() => {
    for (const child of started) child.kill('SIGKILL');
    removeDataDir(dataDir);
  });

  /** Starts the command, with `shell` through a shell. Resolves when it listens. Rejects with its output if it exits. */
  async function start(env: Record<string, string> = {}, shell?: string): Promise<Run> {
    const words = [process.execPath, 'host/server/run.mjs', 'backend/src/main.ts'];
    const [program = '', ...options] = shell ? ['/bin/sh', '-c', shell, ...words] : words;
    const child = spawn(program, options, {
      env: { ...process.env, ...fastEnv, ...databaseOf(dataDir), DATA_DIR: dataDir, ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    }) as ChildProcessByStdio<null, Readable, Readable>;
    started.add(child);
    const output: string[] = [];
    const stderrClosed = once(child.stderr, 'close');
    createInterface({ input: child.stderr }).on('line', (line) => output.push(line));
    const lines = createInterface({ input: child.stdout });
    const url = await new Promise<string | undefined>((resolve) => {
      lines.on('line', (line) => {
        output.push(line);
        const url = line.match(/^backend listening on (http:\S+)$/)?.[1];
        if (url) resolve(url);
      });
      child.once('close', () => resolve(undefined));
    });
    if (url) return { child, url, output };
    await stderrClosed;
    throw new Error(`ended with ${child.exitCode}: ${output.join('\n')}`);
  }

  return { dataDir, start, started };
}

/** Stops the command. Resolves to its exit status; null if the signal itself ended it. */
export async function stop({ child }: Run, signal: NodeJS.Signals): Promise<number | null> {
  const exit = once(child, 'exit');
  child.kill(signal);
  const [status] = await exit;
  return status;
}
