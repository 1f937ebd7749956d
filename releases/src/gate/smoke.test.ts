import { execFile } from 'node:child_process';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { READY, STORAGE_KEYS } from '@liaozhai/shared/contract';
import { afterAll, describe, expect, test } from '@rstest/core';
import { FINE, openSmokeStage, route, SHOW, shows, WAITING } from '../testing/smokeStage.ts';
import { launchOptions } from './chromium.ts';
import { type ServeSet, serveByCommand } from './serveSet.ts';
import { chooseSmoke } from './smoke.ts';

const { store, serve, judge } = await openSmokeStage();
afterAll(() => store.remove());

/** Serves a set behind a proxy, which may delay responses and change their headers. */
const behind =
  (meddle: (request: IncomingMessage, headers: Headers) => unknown): ServeSet =>
  async (hash) => {
    const { origin, stop } = await serve(hash);
    const proxy = createServer(async (request, answer) => {
      const found = await fetch(origin + request.url, { headers: { accept: request.headers.accept ?? '*/*' } });
      const headers = new Headers(found.headers);
      await meddle(request, headers);
      for (const name of ['content-encoding', 'content-length']) headers.delete(name);
      answer.writeHead(found.status, Object.fromEntries(headers)).end(Buffer.from(await found.arrayBuffer()));
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    return {
      origin: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
      stop: async () => {
        proxy.closeAllConnections();
        proxy.close();
        await stop();
      },
    };
  };

/** Simulates browsers without support for Integrity-Policy. */
const withoutIntegrityPolicy = behind((_, headers) => headers.delete('integrity-policy'));

describe('the headless smoke of a set', () => {
  test('a page that opens passes, also where a login is needed', async () => {
    const chat = await store.remote('chat', '1.0.0', shows(FINE));
    const wallet = await store.remote('wallet', '1.0.0', {
      ...shows(FINE),
      description: { routes: [route('w', true)] },
    });
    expect(await judge([chat, wallet])).toBe('');
  });

  test('a quarantine from one page does not apply to the others', async () => {
    const avoids = `${FINE} const key = '${STORAGE_KEYS.quarantine}';
      if (localStorage.getItem(key)) throw new Error('avoided');
      localStorage.setItem(key, 'it');
      if (localStorage.getItem(key) !== 'it') throw new Error('forgotten');`;
    const description = { routes: Array.from({ length: 6 }, (_, at) => route(`shy${at}`)) };
    expect(await judge(await store.remote('shy', '1.0.0', { ...shows(avoids), description }))).toBe('');
  });

  test('a slow page passes as long as it makes progress', async () => {
    // the files load one after another, each faster than the limit of a stalled page
    const serveSlowly = behind(async ({ url, headers }) => {
      if (url?.endsWith('.js') && headers['sec-fetch-dest']) await pause(2500);
    });
    expect(await judge(await store.remote('slow', '1.0.0', shows(FINE)), serveSlowly)).toBe('');
  });

  test('a page without data passes', async () => {
    const ready = `performance.measure('${READY}' + remote.id, { start: 0 });`;
    expect(await judge(await store.remote('patient', '1.0.0', shows(`${WAITING} ${ready}`)))).toBe('');
  });

  test('late files that bypass the asset loader are refused, since changed bytes would run', async () => {
    const late = "document.title = 'late';";
    const appends = `${FINE} const late = document.createElement('script');
      late.src = policy.createScriptURL(files.at(-1).replace('page.js', 'late.js')); document.head.append(late);
      fetch(remote.routes[0].preload.css[0]).then((answer) => answer.text()).then((text) => {
        const sheet = new CSSStyleSheet();
        sheet.replaceSync(text);
        document.adoptedStyleSheets = [sheet];
      });`;
    const build = await store.remote('past', '1.0.0', {
      files: { [SHOW]: appends, 'static/js/async/late.js': late },
    });
    const found = await judge(build, withoutIntegrityPolicy);
    expect(found).toContain('late.js ran with changed bytes');
    expect(found).toContain('page.css took effect with changed bytes');
  });

  test('further origins of the product are allowed and answered by the remote’s gate.json', async () => {
    const [api, live, pictures] = [
      'https://api.partner.example',
      'wss://live.partner.example',
      'https://img.partner.example',
    ];
    const calls = `${FINE} new Image().src = '${pictures}/lantern.png'; new WebSocket('${live}/lanterns');
      fetch('${api}/v1/lanterns/7', { headers: { 'x-lantern': '7' }, credentials: 'include' })
        .then((answer) => (answer.status === 503 && !('user-store' in localStorage) ? { light: { on: '' } } : answer.json()))
        .then(({ light }) => { root.title = light.on; });`;
    const answers = { [`GET ${api}/v1/lanterns/:id`]: { status: 200, body: { light: { on: '亮' } } } };
    const build = await store.remote('partner', '1.0.0', {
      files: { [SHOW]: calls, 'gate.json': JSON.stringify({ answers }) },
    });
    const environment = { ...process.env, CONNECT_ORIGINS: `${api}, ${live}`, IMG_ORIGINS: pictures };
    const choose = (environment: NodeJS.ProcessEnv) =>
      chooseSmoke({ mode: 'required', store: store.url, channel: 'production', environment, note: () => {} });
    expect(await judge(build)).toContain('content security policy was violated');
    expect(await judge(build, await choose(environment))).toBe('');
    await expect(choose({ ...environment, IMG_ORIGINS: 'img.partner.example' })).rejects.toThrow(
      'IMG_ORIGINS: every entry must be an origin like https://cdn.example',
    );
  });

  test('an unopened part is refused unless gate.json gives a reason; a build without gate.json has it reported', async () => {
    const lanterns = (name: string, gate: string | null) =>
      store.remote(name, '1.0.0', {
        files: { [SHOW]: FINE, 'static/js/async/far.js': name, 'static/css/far.css': name, 'gate.json': gate },
        description: { slots: [{ name: `${name}.far`, js: ['static/js/async/far.js'], css: [] }] },
      });
    const silent = await lanterns('silent', null);
    const guilty = await lanterns('guilty', '{}');
    const why = 'opens at midnight';
    const frank = await lanterns('frank', JSON.stringify({ unopened: { far: why, 'frank.far': why } }));
    const notes: string[] = [];
    const found = await judge([silent, guilty, frank], undefined, notes);
    const named = (build: string, name: string) => `${build}: no page opened slot ${name}.far, static/js/async/far.js`;
    expect(found.split('\n')).toEqual([expect.stringContaining(`${named(guilty, 'guilty')}: answer what`)]);
    expect(notes.join('\n')).toMatch(
      /silent@.* no page opened slot silent\.far, .*css\/far\.css, .*js\/async\/far\.js$/m,
    );
    expect(notes.filter((line) => line.startsWith(frank) && line.endsWith(why))).toHaveLength(2);
  });

  test('the command line has the same result', async () => {
    const build = await store.remote('chat', '1.1.0', shows(FINE));
    const words = ['--store', store.url, '--smoke', 'required', 'check', build];
    const { stdout } = await promisify(execFile)(process.execPath, [
      'host/server/run.mjs',
      'releases/cli/main.ts',
      ...words,
    ]);
    expect(stdout).toContain('passed  headless smoke');
  });

  test('a server given as a command is started, used and stopped', async () => {
    const script = `const server = require('node:http').createServer((_, answer) => answer.end('<p>x</p>')).listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port))`;
    const command = `"${process.execPath}" -e "${script.replaceAll('"', '\\"')}" --`;
    const found = await judge(
      await store.remote('stories', '4.0.0', shows(FINE)),
      serveByCommand(command, process.env),
    );
    expect(found).toContain('is served with content-type');
  });

  test('a command without a server is refused by name', async () => {
    const command = `"${process.execPath}" -e "console.error('no port'); process.exit(1)" --`;
    expect(
      await judge(await store.remote('stories', '4.0.1', shows(FINE)), serveByCommand(command, process.env)),
    ).toContain('ended before it listened');
  });
});

test.each([
  ['inside the sandbox for a user', 1000, true],
  ['without it for root, for whom Chromium has none', 0, false],
])('the code of a build opens %s', (_, user, chromiumSandbox) => {
  const options = launchOptions('chromium', user);
  expect(options.chromiumSandbox).toBe(chromiumSandbox);
  expect(options.args).not.toContain('--no-sandbox');
});
