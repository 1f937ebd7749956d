import { run } from '../../cli/run.ts';

export interface CommandResult {
  code: number;
  out: string;
  err: string;
}

const streams = { out: process.stdout, err: process.stderr } as const;

async function runNow(words: readonly string[], variables: Record<string, string | undefined>): Promise<CommandResult> {
  const output = { out: '', err: '' };
  const writes = { out: streams.out.write, err: streams.err.write };
  const environment = { ...process.env };
  for (const name of ['out', 'err'] as const)
    streams[name].write = (text: string | Uint8Array) => {
      output[name] += String(text);
      return true;
    };
  for (const [name, value] of Object.entries(variables))
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  const exitCode = process.exitCode;
  try {
    process.exitCode = 0;
    const code = (await run(words)) || Number(process.exitCode);
    return { code, ...output };
  } finally {
    process.exitCode = exitCode;
    for (const name of ['out', 'err'] as const) streams[name].write = writes[name];
    for (const name of Object.keys(variables))
      if (environment[name] === undefined) delete process.env[name];
      else process.env[name] = environment[name];
  }
}

const queue = { last: Promise.resolve<unknown>(undefined) };

/**
 * Runs `pnpm release …` inside this process, with these environment variables (undefined: unset). A separate process takes two seconds
 * of CPU to start. Commands run one after another, because standard output and error are captured globally.
 */
export function runCommand(
  words: readonly string[],
  variables: Record<string, string | undefined> = {},
): Promise<CommandResult> {
  const result = queue.last.then(() => runNow(words, variables));
  queue.last = result.catch(() => undefined);
  return result;
}
