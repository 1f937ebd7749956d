// `pnpm conformance --url …`: checks any backend against the contract, through its API only.
import { parseArgs } from 'node:util';
import { conform, formatSummary, formatTable, hasFailed, json, NoBackend } from './conform.ts';
import type { Target } from './world.ts';

const HELP = `pnpm conformance --url <address> [options]

Registers accounts, sends messages and deletes what it can: for test environments only.

  --url <address>     where /api, /sanctum and /broadcasting are, such as http://127.0.0.1:8000
  --origin <address>  the product's page, if elsewhere: sessions are kept for known pages only (default: --url)
  --reverb <address>  the socket's server, such as ws://127.0.0.1:8080 (default: --url)
  --key <key>         REVERB_APP_KEY (default: {key})
  --runs <n>          odd requests a call, 0 to 300 (default: 5)
  --json              one JSON document on standard output, nothing else
  --help

Exit codes: 0 nothing that the product needs fails, 1 something does, could not be tried, or nobody answers,
2 wrong usage.`;

class WrongUsage extends Error {}

function address(option: string, value: string, protocols: string[]): string {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (!url || !protocols.includes(url.protocol))
    throw new WrongUsage(`--${option} ${value}: an address that begins with ${protocols.join('// or ')}//`);
  if (url.pathname !== '/' || url.search) throw new WrongUsage(`--${option} ${value}: an address without a path`);
  return `${url.protocol}//${url.host}`;
}

/** Parses the command line; null for `--help`. */
function readArguments(words: string[]): { target: Target; isJson: boolean } | null {
  const { values } = parseArgs({
    // pnpm forwards `--`
    args: words[0] === '--' ? words.slice(1) : words,
    options: {
      url: { type: 'string' },
      origin: { type: 'string' },
      reverb: { type: 'string' },
      key: { type: 'string', default: '{key}' },
      runs: { type: 'string', default: '5' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  if (values.url === undefined)
    throw new WrongUsage('--url is missing: the address of a test environment, for it is written to');
  const url = address('url', values.url, ['http:', 'https:']);
  const runs = Number(values.runs);
  if (!Number.isInteger(runs) || runs < 0 || runs > 300)
    throw new WrongUsage(`--runs ${values.runs}: a whole number from 0 to 300`);
  if (values.key === '') throw new WrongUsage('--key is empty: the REVERB_APP_KEY of the socket’s server');
  const origin = address('origin', values.origin ?? url, ['http:', 'https:']);
  const socketUrl = address('reverb', values.reverb ?? url.replace(/^http/, 'ws'), ['ws:', 'wss:']);
  return { target: { url, origin, socketUrl, key: values.key, runs }, isJson: values.json };
}

const interrupted = new AbortController();

async function run(words: string[]): Promise<number> {
  const settings = readArguments(words);
  if (!settings) {
    console.log(HELP);
    return 0;
  }
  const { target, isJson } = settings;
  process.once('SIGINT', () => interrupted.abort());
  const report = await conform(target, {
    onWait: (seconds) => console.error(`429: waiting ${seconds} s, as it asks`),
    signal: interrupted.signal,
  });
  if (isJson) console.log(json(report));
  else {
    console.log(`${target.url} for a page of ${target.origin}, socket ${target.socketUrl}/app/${target.key}\n`);
    console.log(`${formatTable(report)}\n\n${formatSummary(report)}`);
  }
  if (interrupted.signal.aborted) return 130;
  return hasFailed(report) ? 1 : 0;
}

const isUsage = (cause: unknown): cause is Error =>
  cause instanceof WrongUsage || String((cause as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS');

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (cause) {
  if (!(cause instanceof NoBackend) && !isUsage(cause)) throw cause;
  console.error(`conformance: ${cause.message}`);
  process.exitCode = cause instanceof NoBackend ? 1 : 2;
}
// an aborted check may still wait for its response
process.stdout.write('', () => process.exit());
