import { ConfigError, readEnv } from './env.ts';
import { startBackend } from './server.ts';

/** Calls `end` when whoever spawned this process with an IPC channel is gone; without a channel nothing ties it. */
function whenStarterEnds(end: () => void) {
  if (process.connected) process.once('disconnect', end);
  else if (process.connected === false) setImmediate(end);
}

const leave = () => process.exit(0);
whenStarterEnds(leave);
// that nobody reads any more is no fault of ours: the end comes by the channel
if (process.connected !== undefined) process.stdout.on('error', () => {});
try {
  const backend = await startBackend(readEnv(process.env));
  console.log(`backend listening on ${backend.url}`);
  const end = () => void backend.close().then(leave);
  process.off('disconnect', leave);
  whenStarterEnds(end);
  process.once('SIGTERM', end).once('SIGINT', end);
} catch (error) {
  const occupied = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
  if (!(error instanceof ConfigError) && !occupied) throw error;
  console.error(
    occupied ? 'PORT: in use by another program; name another one, or 0 for a free one' : (error as Error).message,
  );
  process.exit(2);
}
