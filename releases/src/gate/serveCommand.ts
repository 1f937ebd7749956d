import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { refused } from '../errors.ts';

const READY_MILLISECONDS = 20_000;
const ORIGIN = /http:\/\/(?:127\.0\.0\.1|localhost):\d+/;

/** A running server of one set. */
export interface ServedSet {
  origin: string;
  stop: () => Promise<void>;
}

/** Starts something that serves a stored set. */
export type ServeSet = (hash: string) => Promise<ServedSet>;

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const last = setTimeout(() => child.kill('SIGKILL'), 3000);
  await ended;
  clearTimeout(last);
}

function originOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    const tooLate = setTimeout(
      () => reject(refused('the server of the set named no address in time', said.slice(-500))),
      READY_MILLISECONDS,
    );
    const hear = (piece: Buffer) => {
      said += piece.toString('utf8');
      const [origin] = ORIGIN.exec(said) ?? [];
      if (!origin) return;
      clearTimeout(tooLate);
      resolve(origin);
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    child.once('error', reject);
    child.once('exit', () => {
      clearTimeout(tooLate);
      reject(refused('the server of the set ended before it listened', said.slice(-500)));
    });
  });
}

/** Serves a set by a command, to which `--set <hash>` is added; it must print its address on loopback and end on SIGTERM. */
export function serveByCommand(command: string, environment: NodeJS.ProcessEnv): ServeSet {
  return async (hash) => {
    // exec: the signal that ends it must reach the command, not a shell around it
    const child = spawn(`exec ${command} --set ${hash}`, {
      shell: true,
      env: { ...environment, PORT: '0' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    try {
      return { origin: await originOf(child), stop: () => stop(child) };
    } catch (cause) {
      await stop(child);
      throw cause;
    }
  };
}
