// Lists processes from /proc on Linux, where `ps` may be missing, else from `ps`. Plain JavaScript with Node's own modules: it
// runs before anything is installed.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const isLinux = existsSync('/proc/self/stat');

const ps = (...options) =>
  execFileSync('ps', options, { encoding: 'utf8', maxBuffer: 2 ** 26 })
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

/** A process's entry in /proc; null if it is gone or a zombie, and on other systems. */
export function entryOf(pid) {
  try {
    const [, name, state, parent] = /\((.*)\) (\S) (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    return state === 'Z' ? null : { pid, parent: Number(parent), name };
  } catch {
    return null;
  }
}

function fromPs(line) {
  const [pid, parent, state = '', name = ''] = line.split(/\s+/);
  return state.startsWith('Z') ? [] : [{ pid: Number(pid), parent: Number(parent), name }];
}

const pids = () =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

export const processes = () =>
  isLinux ? pids().flatMap((pid) => entryOf(pid) ?? []) : ps('-A', '-o', 'pid=,ppid=,state=,comm=').flatMap(fromPs);

/** Descendants of a process, nearest first. */
export function descendantsOf(pid) {
  const all = processes();
  const family = [pid];
  for (const parent of family) family.push(...all.filter((entry) => entry.parent === parent).map((entry) => entry.pid));
  return family.slice(1);
}

export const childrenOf = (pid) =>
  processes()
    .filter(({ parent }) => parent === pid)
    .map((entry) => entry.pid);

function linuxProcessWith(pid, variable) {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim();
    return environment.includes(variable) && entryOf(pid) ? [{ pid, command }] : [];
  } catch {
    return [];
  }
}

/** Processes of this user that were started with `variable` ("NAME=value") in their environment, except this one. */
export function processesWith(variable) {
  const matches = isLinux
    ? pids().flatMap((pid) => linuxProcessWith(pid, variable))
    : ps('axeww', '-o', 'pid=,command=')
        .filter((line) => line.includes(variable))
        .map((line) => ({ pid: Number.parseInt(line, 10), command: line.replace(/^\d+ /, '') }));
  return matches.filter(({ pid }) => pid !== process.pid);
}
