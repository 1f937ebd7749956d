import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@rstest/core';
import { openBackend } from '../test/testBackend.ts';
import type { Row } from './conform.ts';

// each run is a separate process, and one takes a while
const slow = { timeout: 180_000 };

/** Runs the command in a process. */
function conformance(...words: string[]) {
  return outcomeOf(started(...words));
}

const started = (...words: string[]) =>
  spawn(process.execPath, ['host/server/run.mjs', 'backend/conformance/main.ts', ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });

async function outcomeOf(
  child: ReturnType<typeof started>,
): Promise<{ status: number | null; out: string; err: string }> {
  const [out, err, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { status, out, err };
}

async function listening(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

type Meddling = (asked: IncomingMessage, answer: { status: number; body: string }) => { status: number; body: string };

/** Starts a proxy that changes some responses of the reference backend. */
async function frontOf(backendUrl: string, meddle: Meddling): Promise<{ url: string; close: () => void }> {
  const server = createServer((asked, response) => void passOn(asked, response));
  async function passOn(asked: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url } = asked;
    const headers = { ...asked.headers, host: new URL(backendUrl).host };
    const onward = request(new URL(url ?? '/', backendUrl), { method, headers });
    asked.pipe(onward);
    const [answer]: IncomingMessage[] = await once(onward, 'response');
    if (!answer) return;
    const told = meddle(asked, { status: answer.statusCode ?? 0, body: await text(answer) });
    const { 'content-length': _, 'transfer-encoding': __, ...kept } = answer.headers;
    response.writeHead(told.status, kept).end(told.body);
  }
  return { url: await listening(server), close: () => server.closeAllConnections() };
}

const isCall = (method: string, path: string) => (asked: IncomingMessage) =>
  asked.method === method && asked.url?.split('?')[0] === path;

describe('pnpm conformance', () => {
  test('touches nothing without an address, and says in one line what is wrong with its options', slow, async () => {
    const cases: [words: string[], line: RegExp][] = [
      [[], /^conformance: --url is missing: .+\n$/],
      [['--url', 'localhost:3000'], /^conformance: --url localhost:3000: an address that begins with http:.+\n$/],
      [
        ['--url', 'http://localhost:3000/api'],
        /^conformance: --url http:\/\/localhost:3000\/api: .+ without a path\n$/,
      ],
      [['--url', 'http://localhost', '--runs', 'many'], /^conformance: --runs many: a whole number from 0 to 300\n$/],
      [['--url', 'http://localhost', '--reverb', 'localhost'], /^conformance: --reverb localhost: .+\n$/],
      [['--url', 'http://localhost', '--nonsense'], /^conformance: Unknown option '--nonsense'.*\n$/],
    ];
    const answers = await Promise.all(cases.map(([words]) => conformance(...words)));
    for (const [index, { status, out, err }] of answers.entries()) {
      expect([status, out]).toEqual([2, '']);
      expect(err).toMatch(cases[index]?.[1] ?? /^$/);
    }
  });

  test('says in one line that nobody answers, or that the server is no API', slow, async () => {
    const site = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<h1>welcome</h1>'));
    const url = await listening(site);
    const page = await conformance('--url', url);
    site.close();
    const nobody = await conformance('--url', url);
    expect([page.status, page.err]).toEqual([
      1,
      `conformance: ${url}/api/v1/stories is no API: it answers 200 text/html <h1>welcome</h1>\n`,
    ]);
    expect([nobody.status, nobody.err]).toEqual([1, `conformance: ${url} cannot be reached: ECONNREFUSED\n`]);
  });

  test.each([
    ['the first answer is on its way', 1],
    ['an account is being made', 3],
  ])('ends by Ctrl-C while %s, and asks for nothing more', slow, async (_, at) => {
    const asked: string[] = [];
    const stories = JSON.stringify({ data: [{ id: '1' }, { id: '2' }], meta: { next_cursor: null } });
    const server = createServer((request, response) => {
      asked.push(request.url ?? '');
      if (asked.length < at) return void response.setHeader('content-type', 'application/json').end(stories);
      if (asked.length > at) return void response.end('{}');
      child.kill('SIGINT');
      child.once('exit', () => response.destroy());
    });
    const child = started('--url', await listening(server));
    const { status, err } = await outcomeOf(child);
    server.closeAllConnections();
    server.close();
    expect([status, err, asked.length]).toEqual([130, '', at]);
  });

  test('names what is missing, what is otherwise and what fails, each at its call', slow, async () => {
    const backend = await openBackend({ RATE_LIMIT_LOGIN: '5' });
    const isList = isCall('GET', '/api/v1/conversations');
    const isCheckIn = isCall('POST', '/api/v1/check-in');
    const isStories = isCall('GET', '/api/v1/stories');
    const isLogin = isCall('POST', '/api/v1/login');
    const front = await frontOf(backend.url, (asked, answer) => {
      // changes a required call, an optional call, a shape, a field and a status
      if (isList(asked) || isCheckIn(asked)) return { status: 404, body: '{"message":"no such route"}' };
      if (isStories(asked)) return { ...answer, body: answer.body.replaceAll('"title":', '"name":') };
      if (asked.url === '/api/v1/user' && asked.method === 'GET')
        return { ...answer, body: answer.body.replace('"check_in_streak":0,', '') };
      if (isLogin(asked) && answer.status === 422) return { ...answer, status: 401 };
      return answer;
    });
    const elsewhere = ['--origin', backend.url, '--reverb', backend.url.replace('http', 'ws')];
    const { status, out, err } = await conformance('--url', front.url, ...elsewhere, '--runs', '1', '--json');
    front.close();
    expect([status, err]).toEqual([1, '']);
    const { ok, calls }: { ok: boolean; calls: Row[] } = JSON.parse(out);
    expect(ok).toBe(false);
    const outcomes = Object.fromEntries(calls.map(({ call, outcome }) => [call, outcome]));
    expect(outcomes).toMatchObject({
      'GET /v1/conversations': 'fails',
      'POST /v1/check-in': 'lacks',
      'GET /v1/stories': 'differs',
      'GET /v1/user': 'differs',
      'POST /v1/login': 'differs',
      'GET /v1/messages/latest': 'holds',
      'WS /app/{key}': 'holds',
    });
    const came = (name: string) => calls.flatMap(({ checks }) => checks).find((check) => check.name === name)?.came;
    expect(came('gives each story every field')).toBe('no Story.title');
    expect(came('gives every field of the user')).toBe('no User.check_in_streak');
    expect(came('lists the conversation with its story')).toBe('404 {"message":"no such route"}');
  });
});
