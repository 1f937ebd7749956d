import { afterAll, describe, expect, test } from '@rstest/core';
import { FINE, openSmokeStage, SHOW, shows, WAITING } from '../testing/smokeStage.ts';

const { store, judge } = await openSmokeStage();
afterAll(() => store.remove());

describe('the headless smoke of a set', () => {
  const breakages: [string, Record<string, string>, string | RegExp][] = [
    ['throws while it shows', { [SHOW]: 'throw new Error("torn");' }, 'an error was thrown: torn'],
    ['stays blank', { [SHOW]: ';' }, 'stayed blank'],
    ['removes its document', { [SHOW]: `${FINE} document.documentElement.remove();` }, 'stayed blank'],
    ['replaces its document', { [SHOW]: `${FINE} document.open();` }, 'stayed blank'],
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
    ...['alert', 'confirm', 'prompt', 'print'].map((name): [string, Record<string, string>, string] => [
      `opens a dialog with ${name}`,
      { [SHOW]: `${FINE} ${name}('好');` },
      `${name}() interrupts visitors`,
    ]),
    [
      'inserts a stylesheet without the asset loader',
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
      return store.remote(nameOf(what), '1.0.0', { files, description: own });
    });
    return judge(await Promise.all(builds));
  };
  test.each(breakages)('a remote that %s is refused', async (what, _, expected) => {
    broken ??= judgeBroken();
    const lines = (await broken).split('\n').filter((line) => line.includes(` ${nameOf(what)}@`));
    expect(lines.join('\n')).toMatch(expected);
  });

  // alone, because pages of one origin may share a process
  test.each([
    [
      'has a script without an end',
      '1.0.0',
      "setTimeout(() => { alert('好'); while (true); });",
      /alert\(\) interrupts .*\n.*answered nothing any more/,
    ],
    ['reloads its page without an end', '1.0.1', 'location.reload();', 'reloads again and again'],
    [
      'writes to the history without an end',
      '1.0.2',
      "const next = () => { history.pushState(null, ''); setTimeout(next); }; next();",
      'writes to the history again and again',
    ],
  ])('a remote that %s is refused, too', async (_, version, code, expected) => {
    expect(await judge(await store.remote('endless', version, shows(`${FINE} ${code}`)))).toMatch(expected);
  });
});
