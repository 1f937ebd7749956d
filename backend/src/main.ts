import { listenProblem } from '@liaozhai/http/server';
import { MetricsRefused } from '@liaozhai/telemetry/metrics';
import { TracingRefused } from '@liaozhai/telemetry/tracing';
import { storageCure, storageFaultOf } from './db/storageFault.ts';
import { ConfigError, readEnv } from './env.ts';
import { startBackend } from './server.ts';

/** Calls `end` when the parent process has closed the IPC channel. Does nothing without a channel. */
function onParentExit(end: () => void) {
  if (process.connected) process.once('disconnect', end);
  else if (process.connected === false) setImmediate(end);
}

const exit = () => process.exit(0);
onParentExit(exit);
// a closed stdout is not an error, since the closed channel ends this process
if (process.connected !== undefined) process.stdout.on('error', () => {});
/** Exits with status 2, which means that a restart does not help. */
function exitWith(line: string): never {
  console.error(line);
  return process.exit(2);
}

/** Returns one line with the cause and remedy of an error in the environment; null for a defect of this program. */
function explain(error: unknown, dataDir: string): string | null {
  const isExplained = [ConfigError, MetricsRefused, TracingRefused].some((kind) => error instanceof kind);
  if (error instanceof Error && isExplained) return error.message;
  const problem = listenProblem(error, 'BACKEND_HOST', 'PORT');
  if (problem) return problem;
  const fault = storageFaultOf(error);
  return fault && storageCure(fault, dataDir, error);
}

try {
  const env = readEnv(process.env);
  const backend = await startBackend(env);
  void backend.damaged.then((error) => exitWith(storageCure('damaged', env.DATA_DIR, error)));
  console.log(`backend listening on ${backend.url}`);
  if (backend.metricsUrl) console.log(`backend metrics at ${backend.metricsUrl}`);
  const stopping = new AbortController();
  // a failure is logged by the storyteller
  backend.services.storyteller.check?.({ signal: stopping.signal }).then(
    (line) => console.log(`storyteller: ${line}`),
    () => {},
  );
  const shutDown = (drainMs: number) => {
    stopping.abort();
    void backend.close(drainMs).then(exit);
  };
  process.off('disconnect', exit);
  // without draining: the front server, which forwards the calls, has ended
  onParentExit(() => shutDown(0));
  const signals = ['SIGTERM', 'SIGINT'] as const;
  const onSignal = () => {
    // a second signal of either kind ends it immediately
    for (const signal of signals) process.off(signal, onSignal);
    shutDown(env.DRAIN_SECONDS * 1000);
  };
  for (const signal of signals) process.on(signal, onSignal);
} catch (error) {
  const cure = explain(error, process.env.DATA_DIR ?? '.data');
  if (cure === null) throw error;
  exitWith(cure);
}
