// A process killed with -9 cannot end what it started, so what it started has to notice. Plain JavaScript on Node's own modules:
// it runs before anything is installed.
import { entryOf } from './processTable.mjs';

const pollMs = 100;
const shells = new Set(['sh', 'dash', 'ash', 'bash', 'zsh', 'busybox']);

/** Says whether the parent lives; npm and Playwright put a shell in between, which outlives them, so then its parent counts as well. */
function parentLives() {
  const parent = process.ppid;
  const entry = entryOf(parent);
  const beyond = entry && shells.has(entry.name) ? entry.parent : null;
  return () => process.ppid === parent && (beyond === null || entryOf(parent)?.parent === beyond);
}

/**
 * Calls `end` when the starter of this process has ended, in any way. The starter is the process that opened an IPC channel; without a
 * channel it is the parent, if `isTied`. A server in the background of a shell outlives the shell.
 */
export function whenStarterEnds(end, { isTied = false } = {}) {
  const hasChannel = process.connected !== undefined;
  if (!hasChannel && !isTied) return;
  const lives = hasChannel ? () => process.connected : parentLives();
  // polled: a listener for 'disconnect' would keep the process alive
  const timer = setInterval(() => {
    if (lives()) return;
    clearInterval(timer);
    end();
  }, pollMs);
  timer.unref();
}

/** Whether npm or pnpm runs this script of ours, so that its end is the end of the command. */
export const isScript = (...names) =>
  process.env.npm_package_name === 'liaozhai' && names.includes(process.env.npm_lifecycle_event ?? '');

/** For `node --import`: ties a tool that knows nothing of us to who spawns it with an IPC channel. */
export const preload = `${import.meta.url.split('?')[0]}?preload`;

if (import.meta.url === preload) {
  whenStarterEnds(() => {
    // tools clean up at Ctrl-C; one that does not is ended
    process.kill(process.pid, 'SIGINT');
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), 5_000).unref();
  });
}
