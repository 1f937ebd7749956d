#!/usr/bin/env node
import { run } from './run.ts';

// `… | head` closes the pipe early, which is not a failure
process.stdout.on('error', (cause: NodeJS.ErrnoException) => {
  if (cause.code === 'EPIPE') process.exit(0);
  throw cause;
});

// a verb that succeeded may have set an exit code
process.exitCode = (await run(process.argv.slice(2))) || process.exitCode;
