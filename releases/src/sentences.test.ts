import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@rstest/core';

const ROOT = import.meta.dirname;

/** Files whose refusals never reach the console: command line, start of servers and page server. */
const ELSEWHERE =
  /^(builds\/(publish|guest|exposedTypes|gateFile)|operations\/(exportSite|collectGarbage|tokens)|model\/signing|store\/store|releaseClient|serve\/.*|testing\/.*|.*\.test)\.ts$/;
/** Messages that need no translation: operator's settings, uploaded files and forwarded causes. */
const NO_SENTENCE = /^`(RELEASES|CONSOLE)_|^`(\$\{name\}\/)?\$\{(path|folder)\}|^`"\$\{(url|text|key)\}"/;

test('what the console can be refused with has words in each of its languages', () => {
  const files = readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).filter((file) => /\.ts$/.test(file));
  const server = ['api', 'bodies', 'ConsoleContext'].map((name) => `../console/server/${name}.ts`);
  const wordless = [...files.filter((file) => !ELSEWHERE.test(file)), ...server].flatMap((file) =>
    [
      ...readFileSync(`${ROOT}/${file}`, 'utf8').matchAll(
        /\b(?:refused|usage|conflict|forbidden|unreachable)\(\s*(.*)/g,
      ),
    ]
      .map(([, message = '']) => message)
      .filter((message) => /^['"`]/.test(message) && !NO_SENTENCE.test(message))
      .map((message) => `${file}: ${message}`),
  );
  expect(wordless).toEqual([]);
});
