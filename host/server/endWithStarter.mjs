// A process killed with SIGKILL cannot end its children, so they have to notice. Plain JavaScript with Node's own modules: it
// runs before anything is installed.
import { entryOf } from './processTable.mjs';

const pollMs = 100;
const shells = new Set(['sh', 'dash', 'ash', 'bash', 'zsh', 'busybox']);

/**
 * Returns a check of whether the parent lives. npm and Playwright start through a shell that outlives them, so a shell's parent
 * must live as well.
 */
function createParentCheck() {
  const parent = process.ppid;
  const entry = entryOf(parent);
  const grandparent = entry && shells.has(entry.name) ? entry.parent : null;
  return () => process.ppid === parent && (grandparent === null || entryOf(parent)?.parent === grandparent);
}

/**
 * Calls `end` when the starter of this process has ended, in any way. The starter is the process that opened an IPC channel;
 * without a channel it is the parent, if `isTied`. Untied, a server in the background of a shell outlives the shell.
 */
export function whenStarterEnds(end, { isTied = false } = {}) {
  const hasChannel = process.connected !== undefined;
  if (!hasChannel && !isTied) return;
  const isStarterAlive = hasChannel ? () => process.connected : createParentCheck();
  // polled: a listener for 'disconnect' would keep the process alive
  const timer = setInterval(() => {
    if (isStarterAlive()) return;
    clearInterval(timer);
    end();
  }, pollMs);
  timer.unref();
}

/** Whether npm or pnpm runs one of these scripts, so that the process must end with the command. */
export const isScript = (...names) =>
  process.env.npm_package_name === 'liaozhai' && names.includes(process.env.npm_lifecycle_event ?? '');

/** For `node --import`: ties a third-party tool to the process that spawned it with an IPC channel. */
export const preload = `${import.meta.url.split('?')[0]}?preload`;

if (import.meta.url === preload) {
  whenStarterEnds(() => {
    // tools clean up on SIGINT; one that does not exit is killed
    process.kill(process.pid, 'SIGINT');
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), 5_000).unref();
  });
}
