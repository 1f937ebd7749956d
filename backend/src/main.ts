import { ConfigError, readEnv } from './env.ts';
import { startBackend } from './server.ts';

try {
  const backend = await startBackend(readEnv(process.env));
  console.log(`backend listening on ${backend.url}`);
  const end = () => void backend.close().then(() => process.exit(0));
  process.once('SIGTERM', end).once('SIGINT', end);
} catch (error) {
  const occupied = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
  if (!(error instanceof ConfigError) && !occupied) throw error;
  console.error(
    occupied ? 'PORT: in use by another program; name another one, or 0 for a free one' : (error as Error).message,
  );
  process.exit(2);
}
