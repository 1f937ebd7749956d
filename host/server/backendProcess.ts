import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { repoRoot } from '@liaozhai/shared/build/facts';

export interface Backend {
  /** where it answers right now, e.g. `http://127.0.0.1:41873` */
  url(): string;
  stop(): Promise<void>;
}

const listening = /listening on (http:\/\/\S+)/;
const restartDelayMs = 300;

type BackendChild = ChildProcessByStdio<null, Readable, null>;

function launch(env: NodeJS.ProcessEnv): { child: BackendChild; url: Promise<string> } {
  const main = join(repoRoot, 'backend/src/main.ts');
  const child = spawn(process.execPath, ['--import', 'tsx', main], {
    cwd: join(repoRoot, 'backend'),
    env,
    // it ends when the channel closes, so that it never outlives us at its database
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  }) as BackendChild;
  const url = new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = listening.exec(line)?.[1];
      if (found) resolve(found);
      else console.log(line);
    });
    child.once('exit', (code) => reject(new Error(`the reference backend ended with code ${code} before it listened`)));
  });
  return { child, url };
}

/** Runs the reference backend as a process of its own, and starts it again should it die. */
export async function startBackend(env: NodeJS.ProcessEnv): Promise<Backend> {
  let stopping = false;
  let current = launch(env);
  let url = await current.url;
  const port = new URL(url).port;
  const revive = () => {
    if (stopping) return;
    console.error('The reference backend ended; starting it again.');
    setTimeout(async () => {
      if (stopping) return;
      current = launch({ ...env, PORT: port });
      current.child.once('exit', revive);
      url = await current.url.catch(() => url);
    }, restartDelayMs);
  };
  current.child.once('exit', revive);
  return {
    url: () => url,
    stop: () =>
      new Promise((resolve) => {
        stopping = true;
        if ((current.child.exitCode ?? current.child.signalCode) !== null) return resolve();
        current.child.once('exit', () => resolve());
        current.child.kill('SIGTERM');
      }),
  };
}
