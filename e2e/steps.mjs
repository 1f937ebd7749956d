// Runs named commands one after another, prints their output and counts, and ends processes that they leave behind.
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isScript, preload, whenStarterEnds } from '../host/server/endWithStarter.mjs';
import { install, root } from '../host/server/install.mjs';
import { processesWith } from '../host/server/processTable.mjs';
import { forgetSettings } from './settings.mjs';

forgetSettings();

const lingerMs = 15_000;
/** Environment variable that marks every process of this run, including grandchildren. */
const mark = { LIAOZHAI_TEST_RUN: `${process.pid}-${Date.now()}` };
const running = new Set();
const interruption = new AbortController();

const resolveFrom = (folder, path) => createRequire(join(root, folder, 'package.json')).resolve(path);

/** Path of a package's command, resolved from `folder`. Running it directly avoids a shell on Windows. */
export function binary(name, command = name, folder = '.') {
  const manifest = resolveFrom(folder, `${name}/package.json`);
  const { bin } = createRequire(manifest)(manifest);
  return join(dirname(manifest), typeof bin === 'string' ? bin : bin[command]);
}

/** Interrupts the running commands, as Ctrl-C does, and skips the remaining ones. */
function interrupt() {
  interruption.abort();
  for (const child of running) child.kill('SIGINT');
}

function statusOf(args, { cwd, env, output }) {
  const child = spawn(process.execPath, ['--import', preload, ...args], {
    cwd,
    // the child exits when the IPC channel closes, so also if this process is killed
    stdio: ['inherit', output, output, 'ipc'],
    env: { ...process.env, ...env },
  });
  running.add(child);
  return new Promise((resolve) => {
    child.once('error', resolve);
    child.once('exit', resolve);
  }).finally(() => running.delete(child));
}

/**
 * Runs a command. Resolves with whether it succeeded. With `isBackground`, other commands run meanwhile, and its output appears
 * when it ends.
 */
export async function run(title, args, { cwd = root, env = {}, isBackground = false } = {}) {
  if (interruption.signal.aborted) return false;
  const started = Date.now();
  const results = join(root, 'test-results');
  mkdirSync(results, { recursive: true });
  const log = join(results, `${title}.log`);
  // a file and no pipe, which a service that a command starts would hold open
  const output = isBackground ? openSync(log, 'w') : 'inherit';
  if (!isBackground) console.log(`\n▶ ${title}`);
  const ok = (await statusOf(args, { cwd, env: { ...mark, ...env }, output })) === 0;
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  if (isBackground) {
    closeSync(output);
    process.stdout.write(`\n▶ ${title}, in the background\n${readFileSync(log, 'utf8')}`);
  }
  console.log(`${ok ? '✓' : '✗'} ${title} (${seconds} s)`);
  return ok;
}

/** Installs packages, and interrupts the commands when this process is to end. */
export function prepare() {
  install();
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  whenStarterEnds(interrupt, { isTied: isScript('test', 'test:e2e', 'check') });
}

/**
 * Installs the named needs of ./needs.ts in the background. Resolves with the names of missing needs, whose tests are skipped. Ends
 * the process if a setting is wrong.
 */
export async function provideNeeds(...needs) {
  const report = join(root, 'test-results/needs.json');
  // without the mark, because a package may install a service that keeps running
  const env = { LIAOZHAI_TEST_RUN: '', NEEDS_REPORT: report };
  if (await run('needs', ['host/server/run.mjs', 'e2e/needs.ts', ...needs], { env, isBackground: true }))
    return JSON.parse(readFileSync(report, 'utf8'));
  console.log('\n0 passed, 1 failed');
  process.exit(1);
}

/** Outcome of tests whose engine is missing; it counts as one skipped test. */
export const skipped = (title, engine) => ({
  passed: 0,
  failed: 0,
  failures: [],
  skipped: [`– ${title}: skipped, ${engine} is missing`],
});

/** Lists and kills processes of this run that still run after a grace period. */
async function leftOvers() {
  const variable = `LIAOZHAI_TEST_RUN=${mark.LIAOZHAI_TEST_RUN}`;
  const until = Date.now() + lingerMs;
  let left = processesWith(variable);
  while (left.length > 0 && Date.now() < until) {
    await wait(200);
    left = processesWith(variable);
  }
  for (const { pid, command } of left) {
    console.error(`left running: ${pid} ${command}`);
    process.kill(pid, 'SIGKILL');
  }
  return left.length;
}

const slowestShown = 20;

/**
 * Prints the slowest tests, what was skipped and what failed, then the count as the last line, and ends the process. A left-over
 * process counts as one failure.
 */
export async function finish(outcomes) {
  console.log('\n▶ left-over processes');
  const left = await leftOvers();
  console.log(`${left === 0 ? '✓' : '✗'} left-over processes`);
  const all = [...outcomes, { passed: left > 0 ? 0 : 1, failed: left > 0 ? 1 : 0, failures: [] }];
  const sum = (key) => all.reduce((total, outcome) => total + outcome[key], 0);
  const slowest = all
    .flatMap(({ durations = [] }) => durations)
    .sort((one, other) => other.ms - one.ms)
    .slice(0, slowestShown);
  console.log('\nslowest tests');
  for (const { name, ms } of slowest) console.log(`${(ms / 1000).toFixed(1).padStart(7)} s  ${name}`);
  const skips = all.flatMap((outcome) => outcome.skipped ?? []);
  for (const skip of skips) console.log(`\n${skip}`);
  for (const { failures } of all) for (const failure of failures) console.log(`\n${failure}`);
  const tail = skips.length > 0 ? `, ${skips.length} skipped` : '';
  console.log(`\n${sum('passed')} passed, ${sum('failed')} failed${tail}`);
  process.exit(interruption.signal.aborted ? 130 : sum('failed') === 0 ? 0 : 1);
}
