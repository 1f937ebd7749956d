#!/usr/bin/env node
// Runs the program named by GUARDED with this process's arguments and streams, and ends it with the starter: a test runner killed
// with SIGKILL cannot.
import { spawn } from 'node:child_process';
import { whenStarterEnds } from './endWithStarter.mjs';

const { GUARDED: program, GUARDED_STREAMS: streams = '3', ...env } = process.env;
const child = spawn(program, process.argv.slice(2), {
  env,
  stdio: Array.from({ length: Number(streams) }, (_, descriptor) => descriptor),
});
const end = () => child.kill('SIGTERM');
process.on('SIGTERM', end);
whenStarterEnds(
  () => {
    end();
    setTimeout(() => child.kill('SIGKILL'), 2_000);
  },
  { isTied: true },
);
child.once('error', (error) => {
  console.error(error.message);
  process.exit(1);
});
child.once('exit', (code) => process.exit(code ?? 1));
