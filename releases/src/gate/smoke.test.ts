import { execFile } from 'node:child_process';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { RemoteDescription } from '@liaozhai/shared/contract';
import { afterAll, beforeAll, describe, expect, test } from '@rstest/core';
import { activate } from '../operations/switching.ts';
import { openTestStore, PAGE_TEMPLATE, type TestStore } from '../testing/openTestStore.ts';
import { launchOptions, requireChromium } from './chromium.ts';
import { type CheckResult, makeGate } from './gate.ts';
import { type ServeSet, serveByCommand, serveInProcess } from './serveSet.ts';
import { smoke } from './smoke.ts';

/** A host small enough to read: it runs the entry of the route's remote and then its module, with integrity and Trusted Types. */
const HOST = `
const set = JSON.parse(document.getElementById('liaozhai-set').textContent);
const remote = Object.values(set.remotes).find((one) => one.routes.some((route) => location.pathname === route.path));
const run = (url) => new Promise((done, fail) => {
  const script = document.createElement('script');
  script.integrity = set.hashes[url];
  script.crossOrigin = 'anonymous';
  script.src = globalThis.policy.createScriptURL(url);
  script.onload = done;
  script.onerror = () => fail(new Error('lost ' + url));
  document.head.append(script);
});
const root = document.getElementById('root');
const files = remote.routes[0].preload.js;
const report = (failure) => navigator.sendBeacon('/beacon', new Blob([JSON.stringify({
  build: remote.id, set: set.set, candidate: false, outcome: failure ? 'failed' : 'loaded', failure,
})], { type: 'application/json' }));
(async () => { for (const file of files) await run(file); report(); })().catch(() => { report('unreachable'); root.textContent = '!'; });
globalThis.report = report;
`;
const LOADER = `const at = JSON.parse(document.getElementById('liaozhai-set').textContent);
globalThis.policy = trustedTypes.createPolicy('liaozhai', { createScriptURL: (url) => url });
const script = document.createElement('script');
script.integrity = at.hashes[at.host.entry]; script.crossOrigin = 'anonymous'; script.src = policy.createScriptURL(at.host.entry);
document.head.append(script);`;
const PAGE = PAGE_TEMPLATE.replace('globalThis.__loadAsset = {};', LOADER);
const SHOW = 'static/js/async/page.js';
const shows = (code: string) => ({ files: { [SHOW]: code } });
const FINE = "document.getElementById('root').textContent = '好';";

const chromium = await requireChromium();
let at: TestStore;
beforeAll(async () => {
  at = await openTestStore();
  await at.activate(
    await at.host('1.0.0', { files: { 'page.html': PAGE, 'static/js/host.js': HOST } }),
    await at.remote('stories', '1.0.0', shows(FINE)),
  );
});
afterAll(() => at.remove());

const judge = (build: string, serve = serveInProcess({ store: at.url, channel: 'production' })) =>
  activate(at.writer, [build], { gate: makeGate(at.writer, { smoke: smoke(serve, chromium) }) }).then(
    () => '',
    (cause: { details?: string[]; message: string }) => (cause.details ?? [cause.message]).join('\n'),
  );

/** Serves a set behind a proxy, which may wait and change what the server's headers say. */
const behind =
  (meddle: (request: IncomingMessage, headers: Headers) => unknown): ServeSet =>
  async (hash) => {
    const { origin, stop } = await serveInProcess({ store: at.url, channel: 'production' })(hash);
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

/** As browsers see it that know no Integrity-Policy. */
const withoutIntegrityPolicy = behind((_, headers) => headers.delete('integrity-policy'));

describe('the headless smoke of a set', () => {
  test('a page that opens passes, also where a login is needed', async () => {
    expect(await judge(await at.remote('chat', '1.0.0', shows(FINE)))).toBe('');
    const route: RemoteDescription['routes'][number] = {
      name: 'w',
      path: '/w',
      title: '',
      requiresAuth: true,
      keepAlive: false,
      outsideShell: false,
      js: [SHOW],
      css: [],
    };
    expect(await judge(await at.remote('wallet', '1.0.0', { ...shows(FINE), description: { routes: [route] } }))).toBe(
      '',
    );
  });

  test('a page that takes long and goes on is sound, however long', async () => {
    // the files come one after another, each in less time than what counts as standing still
    const serveSlowly = behind(async ({ url, headers }) => {
      if (url?.endsWith('.js') && headers['sec-fetch-dest']) await pause(2500);
    });
    expect(await judge(await at.remote('slow', '1.0.0', shows(FINE)), serveSlowly)).toBe('');
  });

  test('late files that go past the asset loader are refused, for a browser would take them with changed bytes', async () => {
    const late = "document.title = 'late';";
    const appends = `${FINE} const late = document.createElement('script');
      late.src = policy.createScriptURL(files.at(-1).replace('page.js', 'late.js')); document.head.append(late);
      fetch(remote.routes[0].preload.css[0]).then((answer) => answer.text()).then((text) => {
        const sheet = new CSSStyleSheet();
        sheet.replaceSync(text);
        document.adoptedStyleSheets = [sheet];
      });`;
    const build = await at.remote('past', '1.0.0', {
      files: { [SHOW]: appends, 'static/js/async/late.js': late },
    });
    const found = await judge(build, withoutIntegrityPolicy);
    expect(found).toContain('late.js ran with changed bytes');
    expect(found).toContain('page.css took effect with changed bytes');
  });

  test('slots and scripts that no page opened are named', async () => {
    const build = await at.remote('lanterns', '1.0.0', {
      files: { [SHOW]: FINE, 'static/js/async/tapped.js': '1' },
      description: { slots: [{ name: 'story.lanterns', js: ['static/js/async/tapped.js'], css: [] }] },
    });
    const notes: string[] = [];
    const onResults = (results: CheckResult[]) => notes.push(...results.flatMap((result) => result.notes));
    const serve = serveInProcess({ store: at.url, channel: 'production' });
    await activate(at.writer, [build], { gate: makeGate(at.writer, { smoke: smoke(serve, chromium), onResults }) });
    expect(notes).toContain(`${build}: no page opened slot story.lanterns, static/js/async/tapped.js`);
  });

  test('a page that stands still is refused', async () => {
    const files = { 'remoteEntry.js': `const wait = 1; ${FINE} /* global chunk */` };
    const build = await at.remote('still', '1.0.0', { files, description: { global: 'global', chunkGlobal: 'chunk' } });
    expect(await judge(build)).toContain('its entry did not run');
  });

  const breakages: [string, Record<string, string>, string | RegExp][] = [
    ['throws while it shows', { [SHOW]: 'throw new Error("torn");' }, 'an error was thrown: torn'],
    ['stays blank', { [SHOW]: '' }, 'stayed blank'],
    [
      'evaluates text',
      { [SHOW]: `${FINE} try { new Function("1")() } catch {}` },
      'content security policy was violated',
    ],
    [
      'writes markup',
      { [SHOW]: `${FINE} try { document.body.insertAdjacentHTML("beforeend", "<b>x</b>") } catch {}` },
      'content security policy was violated',
    ],
    [
      'calls another origin',
      { [SHOW]: `${FINE} fetch("https://evil.example/").catch(() => 0);` },
      'content security policy was violated',
    ],
    [
      'asks for files that are not there',
      { [SHOW]: `${FINE} fetch("/builds/x/y.js"); fetch("/lantern.png"); fetch("/api/lantern.png");` },
      /^(.*(y\.js|on \/stories \/lantern\.png) answered 404\n?){2}$/,
    ],
    [
      'has an entry that throws',
      { 'remoteEntry.js': 'throw new Error("entry"); /* global chunk */' },
      'an error was thrown: entry',
    ],
    [
      'fails where its last good build takes over',
      { [SHOW]: `${FINE} report('render-threw');` },
      'reported render-threw',
    ],
    [
      'inserts a stylesheet by itself',
      {
        [SHOW]: `${FINE} const link = document.createElement('link'); link.rel = 'stylesheet';
          link.href = remote.routes[0].preload.css[0]; document.head.append(link);`,
      },
      "went past the host's asset loader",
    ],
    [
      'lost a file on the way',
      { [SHOW]: `${FINE} run('/builds/lost.js').catch(() => report('chunk-lost'));` },
      'reported chunk-lost',
    ],
  ];
  test.each(breakages)('a remote that %s is refused', async (what, files, expected) => {
    const description = what.includes('entry') ? { global: 'global', chunkGlobal: 'chunk' } : {};
    const version = `3.0.${breakages.findIndex(([name]) => name === what)}`;
    expect(await judge(await at.remote('stories', version, { files, description }))).toMatch(expected);
  });

  test('the command line as people run it, compiled on the way, comes to the same', async () => {
    const build = await at.remote('chat', '1.1.0', shows(FINE));
    const main = fileURLToPath(new URL('../../cli/main.ts', import.meta.url));
    const words = ['--store', at.url, '--smoke', 'required', 'check', build];
    const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', main, ...words]);
    expect(stdout).toContain('passed  headless smoke');
  });

  test('a server of the set that is given as a command is started, asked and stopped', async () => {
    const script = `const server = require('node:http').createServer((_, answer) => answer.end('<p>x</p>')).listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port))`;
    const command = `"${process.execPath}" -e "${script.replaceAll('"', '\\"')}" --`;
    const found = await judge(await at.remote('stories', '4.0.0', shows(FINE)), serveByCommand(command, process.env));
    expect(found).toContain('is served with content-type');
  });

  test('a command that does not serve is refused by name', async () => {
    const command = `"${process.execPath}" -e "console.error('no port'); process.exit(1)" --`;
    expect(
      await judge(await at.remote('stories', '4.0.1', shows(FINE)), serveByCommand(command, process.env)),
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
