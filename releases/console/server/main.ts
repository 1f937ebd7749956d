import { listenProblem } from '@liaozhai/http/server';
import { wholeNumber } from '@liaozhai/http/settings';
import { nameSchema } from '@liaozhai/shared/contract';
import { metricsEntries, openMetrics } from '@liaozhai/telemetry/metrics';
import * as v from 'valibot';
import { lineOf } from '../../src/errors.ts';
import { issuesOf } from '../../src/model/documents.ts';
import { blankSetting, storeFrom } from '../../src/store/store.ts';
import { signInFrom, signInVariables } from './provider.ts';
import { startConsole } from './startConsole.ts';

const environmentSchema = v.object({
  RELEASES_CHANNEL: v.optional(nameSchema, 'production'),
  RELEASES_SMOKE: v.optional(v.picklist(['auto', 'required', 'off']), 'auto'),
  CONSOLE_PORT: v.optional(wholeNumber(0, 65_535), '3001'),
  // an empty one would be every address of the machine
  CONSOLE_HOST: v.optional(v.pipe(v.string(), v.nonEmpty('must not be empty')), '127.0.0.1'),
  ...signInVariables,
  ...metricsEntries,
});

async function main(): Promise<void> {
  const parsed = v.safeParse(environmentSchema, process.env, { abortPipeEarly: true });
  const blank = blankSetting(process.env);
  const problems = parsed.success ? [] : issuesOf(parsed.issues);
  if (!parsed.success || blank) {
    const lines = problems.length > 0 ? problems : [`${blank}: must not be empty`];
    process.stderr.write(`${lines.join('\n')}\nCorrect these environment variables.\n`);
    process.exitCode = 2;
    return;
  }
  const { RELEASES_CHANNEL, RELEASES_SMOKE, CONSOLE_PORT, CONSOLE_HOST } = parsed.output;
  const metrics = await openMetrics(parsed.output);
  const console = await startConsole({
    store: storeFrom(process.env),
    channel: RELEASES_CHANNEL,
    smoke: RELEASES_SMOKE,
    port: CONSOLE_PORT,
    host: CONSOLE_HOST,
    signIn: signInFrom(parsed.output),
    publicOrigin: parsed.output.CONSOLE_ORIGIN,
    metrics,
  });
  process.stdout.write(`console listening on ${console.origin}\n`);
  if (metrics) process.stdout.write(`metrics at ${metrics.url}\n`);
  const stop = () => void console.close().then(() => process.exit(0));
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  // the parent process that opened the IPC channel has ended
  process.once('disconnect', stop);
}

main().catch((cause: unknown) => {
  process.stderr.write(`${listenProblem(cause, 'CONSOLE_HOST', 'CONSOLE_PORT') ?? lineOf(cause)}\n`);
  process.exitCode = 1;
});
