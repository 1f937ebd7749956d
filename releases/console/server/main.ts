import { z } from 'zod';
import { messageOf, ReleaseError } from '../../src/errors.ts';
import { issuesOf } from '../../src/model/build.ts';
import { startConsole } from './startConsole.ts';

const environmentSchema = z.object({
  RELEASES_STORE: z.string().optional(),
  RELEASES_CHANNEL: z.string().default('production'),
  RELEASES_SMOKE: z.enum(['auto', 'required', 'off']).default('auto'),
  CONSOLE_PORT: z.coerce.number().int().min(0).max(65535).default(3001),
  CONSOLE_HOST: z.string().default('127.0.0.1'),
});

async function main(): Promise<void> {
  const parsed = environmentSchema.safeParse(process.env);
  if (!parsed.success) {
    process.stderr.write(`${issuesOf(parsed.error).join('\n')}\nCorrect these environment variables.\n`);
    process.exitCode = 2;
    return;
  }
  const { RELEASES_STORE, RELEASES_CHANNEL, RELEASES_SMOKE, CONSOLE_PORT, CONSOLE_HOST } = parsed.data;
  const console = await startConsole({
    store: RELEASES_STORE,
    channel: RELEASES_CHANNEL,
    smoke: RELEASES_SMOKE,
    port: CONSOLE_PORT,
    host: CONSOLE_HOST,
  });
  process.stdout.write(`console listening on ${console.origin}\n`);
  const stop = () => void console.close().then(() => process.exit(0));
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  // whoever spawned it with a channel, as tsx does, is gone
  process.once('disconnect', stop);
}

main().catch((cause: unknown) => {
  process.stderr.write(`${messageOf(cause)}\n${cause instanceof ReleaseError ? `${cause.cure}\n` : ''}`);
  process.exitCode = 1;
});
