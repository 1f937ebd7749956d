import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@rstest/core';

const ROOT = import.meta.dirname;

/** What only the command line, the start of a server or the server of pages refuses: nobody reads it in the console. */
const ELSEWHERE =
  /^(builds\/(publish|guest|exposedTypes|gateFile)|operations\/(exportSite|collectGarbage|tokens)|model\/signing|store\/store|releaseClient|serve\/.*|testing\/.*|.*\.test)\.ts$/;
/** A setting of the operator, the upload of a file, or a cause that is passed on. */
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
