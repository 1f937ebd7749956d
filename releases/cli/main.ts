#!/usr/bin/env node
import { run } from './run.ts';

// `… | head` stops reading: the answer was given, so that is no failure
process.stdout.on('error', (cause: NodeJS.ErrnoException) => {
  if (cause.code === 'EPIPE') process.exit(0);
  throw cause;
});

// a verb that was carried out may have set another one
process.exitCode = (await run(process.argv.slice(2))) || process.exitCode;
