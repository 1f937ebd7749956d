import { execFile } from 'node:child_process';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type GateFile, READY, type RemoteDescription, STORAGE_KEYS } from '@liaozhai/shared/contract';
import { afterAll, beforeAll, describe, expect, test } from '@rstest/core';
import { activate } from '../operations/switching.ts';
import { openTestStore, PAGE_TEMPLATE, type TestStore } from '../testing/openTestStore.ts';
import { launchOptions, requireSmokeBrowser } from './chromium.ts';
import { type CheckResult, type GateCheck, makeGate } from './gate.ts';
import { type ServeSet, serveByCommand, serveInProcess } from './serveSet.ts';
import { chooseSmoke, smoke } from './smoke.ts';

/**
 * A minimal host that runs the entry of the route's remote and then its module, with integrity and Trusted Types. Opens pages that need
 * a login only for members.
 */
const HOST = `
const set = JSON.parse(document.getElementById('liaozhai-set').textContent);
const isHere = (route) => location.pathname === route.path;
const remote = Object.values(set.remotes).find((one) => one.routes.some(isHere));
const route = remote.routes.find(isHere);
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
const files = route.requiresAuth && !localStorage.getItem('user-store') ? [] : route.preload.js;
if (files.length === 0) root.textContent = '登录';
const report = (failure, cause) => {
  if (cause) console.warn('[it] ' + remote.id + ' failed', new Error(failure, { cause }));
  navigator.sendBeacon('/beacon', new Blob([JSON.stringify({
  build: remote.id, set: set.set, candidate: false, outcome: failure ? 'failed' : 'loaded', failure,
  })], { type: 'application/json' }));
};
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
/** A screen whose skeleton stays, as while its module loads. */
const WAITING = `${FINE} document.getElementById('root').dataset.skeleton = 'row';`;
/** A page that shows other remotes in its slots, and throws if `grudge` is in the set. */
const STORIES = `${FINE} for (const { slots } of Object.values(set.remotes)) for (const { name, preload } of slots)
  if (name.startsWith('stories.')) preload.js.forEach(run);
  else if (name === 'message.menu') root.append(Object.assign(document.createElement('button'), {
    textContent: '更多操作', onclick: () => preload.js.forEach(run),
  }));
  if ('grudge' in set.remotes) throw new Error('not here');`;
const route = (name: string, requiresAuth = false): RemoteDescription['routes'][number] => ({
  name,
  path: `/${name}`,
  title: '',
  requiresAuth,
  keepAlive: false,
  outsideShell: false,
  js: [SHOW],
  css: [],
});

const chromium = await requireSmokeBrowser();
let at: TestStore;
beforeAll(async () => {
  at = await openTestStore();
  await at.activate(
    await at.host('1.0.0', { files: { 'page.html': PAGE, 'static/js/host.js': HOST } }),
    await at.remote('stories', '1.0.0', shows(STORIES)),
  );
});
afterAll(() => at.remove());

const judge = (
  builds: string | string[],
  by: ServeSet | GateCheck | null = serveInProcess({ store: at.url, channel: 'production' }),
  notes: string[] = [],
) => {
  const onResults = (results: CheckResult[]) => notes.push(...results.flatMap((result) => result.notes));
  const check = typeof by === 'function' ? smoke(by, chromium) : by;
  return activate(at.writer, [builds].flat(), {
    gate: makeGate(at.writer, { smoke: check, onResults }),
  }).then(
    () => '',
    (cause: { details?: string[]; message: string }) => (cause.details ?? [cause.message]).join('\n'),
  );
};

/** Serves a set behind a proxy, which may delay responses and change their headers. */
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

/** Simulates browsers without support for Integrity-Policy. */
const withoutIntegrityPolicy = behind((_, headers) => headers.delete('integrity-policy'));

describe('the headless smoke of a set', () => {
  test('a page that opens passes, also where a login is needed', async () => {
    const chat = await at.remote('chat', '1.0.0', shows(FINE));
    const wallet = await at.remote('wallet', '1.0.0', { ...shows(FINE), description: { routes: [route('w', true)] } });
    expect(await judge([chat, wallet])).toBe('');
  });

  test('what is avoided after a failure on one page is judged on the others', async () => {
    const avoids = `${FINE} const key = '${STORAGE_KEYS.quarantine}';
      if (localStorage.getItem(key)) throw new Error('avoided');
      localStorage.setItem(key, 'it');
      if (localStorage.getItem(key) !== 'it') throw new Error('forgotten');`;
    const description = { routes: Array.from({ length: 6 }, (_, at) => route(`shy${at}`)) };
    expect(await judge(await at.remote('shy', '1.0.0', { ...shows(avoids), description }))).toBe('');
  });

  test('a page that takes long and goes on is sound, however long', async () => {
    // the files load one after another, each faster than the limit of a stalled page
    const serveSlowly = behind(async ({ url, headers }) => {
      if (url?.endsWith('.js') && headers['sec-fetch-dest']) await pause(2500);
    });
    expect(await judge(await at.remote('slow', '1.0.0', shows(FINE)), serveSlowly)).toBe('');
  });

  test('a page whose data never comes is sound', async () => {
    const ready = `performance.measure('${READY}' + remote.id, { start: 0 });`;
    expect(await judge(await at.remote('patient', '1.0.0', shows(`${WAITING} ${ready}`)))).toBe('');
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

  /** Makes a remote with parts that a guest never sees without tapping: behind a login, far down, in a slot, behind a tap. */
  const hiding = (
    name: string,
    parts: Record<'member' | 'last' | 'slot' | 'tapped', string>,
    gate: GateFile,
    plain = 1,
  ) => {
    const file = (part: string) => `static/js/async/${part}.js`;
    // a menu whose first item closes it
    const taps = `${FINE} const item = (textContent, onclick) =>
        root.append(Object.assign(document.createElement('button'), { textContent, onclick }));
      const shut = () => [...root.querySelectorAll('button')].slice(1).forEach((one) => one.remove());
      item('更多', () => { item('甲', shut); item('乙', () => run(files.at(-1).replace('page.js', 'tapped.js'))); });`;
    const routes = Array.from({ length: plain }, (_, at) => route(`${name}${at}`));
    return at.remote(name, '1.0.0', {
      files: {
        [SHOW]: taps,
        ...Object.fromEntries(Object.entries(parts).map(([part, code]) => [file(part), code])),
        'gate.json': JSON.stringify(gate),
      },
      description: {
        routes: [
          ...routes,
          { ...route(`${name}Own`, true), js: [file('member')] },
          { ...route(`${name}Last`), js: [file('last')] },
        ],
        slots: [{ name: `stories.${name}`, js: [file('slot')], css: [] }],
      },
    });
  };

  test('what throws behind a login, on a thirteenth route, in a slot or behind a tap is refused', async () => {
    const throws = (word: string) => `throw new Error("${word}");`;
    const parts = { member: throws('own'), last: throws('13'), slot: throws('slot'), tapped: throws('tap') };
    const found = await judge(await hiding('deep', parts, { answers: {}, unopened: {} }, 11));
    expect(found).toMatch(/on \/deepOwn as a member an error was thrown: own/);
    expect(found).toMatch(/on \/deepLast an error was thrown: 13/);
    expect(found).toMatch(/deep@1\.0\.0.*: on \/stories as a member an error was thrown: slot/);
    expect(found).toMatch(/an error was thrown: tap after a tap on "乙"/);
  });

  test('what throws after a scroll, a hover, a choice, a tick or a key is refused', async () => {
    const ways = {
      scroll: `const end = root.appendChild(document.createElement('p'));
        root.style.cssText = 'display: block; padding-top: 3000px';
        new IntersectionObserver(([{ isIntersecting }]) => isIntersecting && late('scroll')).observe(end);`,
      hover: `add('button', { textContent: '悬停', onmouseover: () => late('hover') });`,
      focus: `add('input', { title: '名字', onfocus: () => late('focus') });`,
      choice: `const choices = add('select', { title: '甲或乙', onchange: () => late('choice') });
        for (const text of ['甲', '乙']) choices.append(Object.assign(document.createElement('option'), { text }));`,
      tick: `add('input', { type: 'checkbox', title: '同意', onchange: () => late('tick') });`,
      key: `add('input', { title: '搜索', onkeydown: ({ key }) => key === 'Enter' && late('key') });`,
      form: `const form = add('form', { onsubmit: (event) => { event.preventDefault(); late('form'); } });
        form.append(Object.assign(document.createElement('input'), { title: '留言', required: true }));`,
    };
    const page = `${FINE} const add = (tag, fields) => root.appendChild(Object.assign(document.createElement(tag), fields));
      const late = (part) => run(files.at(-1).replace('page.js', part + '.js')); ${Object.values(ways).join('')}`;
    const parts = Object.keys(ways).map((part) => [`static/js/async/${part}.js`, `throw new Error("after ${part}");`]);
    const files = { [SHOW]: page, ...Object.fromEntries(parts), 'gate.json': '{}' };
    const found = await judge(await at.remote('coy', '1.0.0', { files }));
    expect(found.match(/after \w+(?= after)/g)?.sort()).toEqual(
      Object.keys(ways)
        .map((part) => `after ${part}`)
        .sort(),
    );
  });

  test('what throws after a long press is refused, and what a menu covers is held, too', async () => {
    const page = `${FINE} const add = (tag, fields) => root.appendChild(Object.assign(document.createElement(tag), fields));
      add('button', { textContent: '更多', onclick: () => add('dialog', { textContent: '单' }).showModal() });
      const row = add('article', {});
      row.append(Object.assign(document.createElement('p'), { textContent: '一句话' }));
      let timer;
      row.onpointerdown = ({ pointerType, pointerId }) => {
        row.setPointerCapture(pointerId);
        if (pointerType === 'touch') timer = setTimeout(() => run(files.at(-1).replace('page.js', 'held.js')), 500);
      };
      row.onpointerup = row.onpointercancel = () => clearTimeout(timer);`;
    const files = { [SHOW]: page, 'static/js/async/held.js': 'throw new Error("held");', 'gate.json': '{}' };
    const found = await judge(await at.remote('pressed', '1.0.0', { files }));
    expect(found).toMatch(/an error was thrown: held after a long press on "一句话"/);
  });

  test("what throws in a slot behind a tap on another remote's page is refused", async () => {
    const slot = 'static/js/async/menu.js';
    const build = await at.remote('menu', '1.0.0', {
      files: { [SHOW]: FINE, [slot]: 'throw new Error("menu");', 'gate.json': '{}' },
      description: { slots: [{ name: 'message.menu', js: [slot], css: [] }] },
    });
    expect(await judge(build)).toMatch(/on \/stories as a member an error was thrown: menu after a tap on "更多操作"/);
  });

  test('the same parts pass where they are sound, by the answers of the remote, and another remote does not count', async () => {
    const member = `fetch('/api/v1/lanterns/7').then((answer) => answer.json()).then(({ light }) => { root.textContent = light.on; });`;
    const answers = { 'GET /api/v1/lanterns/:id': { status: 200, body: { light: { on: '亮' } } } };
    const notes: string[] = [];
    const build = await hiding('grudge', { member, last: FINE, slot: '', tapped: '' }, { answers, unopened: {} });
    expect(await judge(build, undefined, notes)).toBe('');
    expect(notes.join('\n')).toMatch(/not of this change: stories@.* an error was thrown: not here/);
    expect(notes.join('\n')).not.toContain('no page opened');
  });

  test('further origins of the product are open to its pages, and answered by the file of the remote', async () => {
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
    const build = await at.remote('partner', '1.0.0', {
      files: { [SHOW]: calls, 'gate.json': JSON.stringify({ answers }) },
    });
    const environment = { ...process.env, CONNECT_ORIGINS: `${api}, ${live}`, IMG_ORIGINS: pictures };
    const choose = (environment: NodeJS.ProcessEnv) =>
      chooseSmoke({ mode: 'required', store: at.url, channel: 'production', environment, note: () => {} });
    expect(await judge(build)).toContain('content security policy was violated');
    expect(await judge(build, await choose(environment))).toBe('');
    await expect(choose({ ...environment, IMG_ORIGINS: 'img.partner.example' })).rejects.toThrow(
      'IMG_ORIGINS: every entry must be an origin like https://cdn.example',
    );
  });

  test('what nothing opened is refused, unless the remote says why; a build that tells the gate nothing has it named', async () => {
    const lanterns = (name: string, gate: string | null) =>
      at.remote(name, '1.0.0', {
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
      /^(.*(y\.js|on \/broken\d+ \/lantern\.png) answered 404\n?){2}$/,
    ],
    [
      'has an entry that throws',
      { 'remoteEntry.js': 'throw new Error("entry"); /* first pieces */' },
      'an error was thrown: entry',
    ],
    [
      'calls its container like a part of the browser',
      { 'remoteEntry.js': `var matchMedia = {}; ${FINE} /* matchMedia chunks3 */` },
      'global "matchMedia" is a part of the browser',
    ],
    ['waits for ever for its module', { [SHOW]: WAITING }, 'its module never came: await nothing'],
    ['stands still', { 'remoteEntry.js': `const wait = 1; ${FINE} /* second chunks */` }, 'its entry did not run'],
    [
      'fails where its last good build takes over',
      { [SHOW]: `${FINE} report('render-threw');` },
      'reported render-threw',
    ],
    [
      'fails with words that the host warns of',
      { [SHOW]: `${FINE} report('render-threw', new Error('no title'));` },
      'reported render-threw: no title',
    ],
    [
      'fails with words that federation puts below its own',
      {
        [SHOW]: `${FINE} report('init-threw', new Error('#RUNTIME-015\\nOriginal Error Message:\\n Error: no start'));`,
      },
      'reported init-threw: Error: no start',
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
  const nameOf = (what: string) => `broken${breakages.findIndex(([name]) => name === what)}`;
  let broken: Promise<string> | undefined;
  /** Judges all in one browser, because they do not affect each other. */
  const judgeBroken = async () => {
    const builds = breakages.map(([what, files]) => {
      const [, global, chunkGlobal] = /\/\* (\w+) (\w+) \*\//.exec(files['remoteEntry.js'] ?? '') ?? [];
      const own = global && chunkGlobal ? { global, chunkGlobal } : {};
      return at.remote(nameOf(what), '1.0.0', { files, description: own });
    });
    return judge(await Promise.all(builds));
  };
  test.each(breakages)('a remote that %s is refused', async (what, _, expected) => {
    broken ??= judgeBroken();
    const lines = (await broken).split('\n').filter((line) => line.includes(` ${nameOf(what)}@`));
    expect(lines.join('\n')).toMatch(expected);
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
