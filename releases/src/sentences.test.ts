import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@rstest/core';

const ROOT = import.meta.dirname;

/** Files whose refusals never reach the console: command line, start of servers and page server. */
const ELSEWHERE =
  /^(builds\/(publish|guest|exposedTypes)|operations\/(exportSite|collectGarbage|tokens|publishLocal)|model\/signing|store\/store|releaseClient|serve\/.*|testing\/.*|.*\.test)\.ts$/;
/** Messages that need no translation: operator's settings, uploaded files and forwarded causes. */
const NO_SENTENCE =
  /^[`'](RELEASES|CONSOLE|CHROMIUM)_|^`(\$\{name\}\/)?\$\{(path|folder)\}|^`"\$\{(url|text|key|version)\}"/;

test('what the console can be refused with has words in each of its languages', () => {
  const files = readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).filter((file) => /\.ts$/.test(file));
  const server = ['api', 'ConsoleContext', 'startConsole'].map((name) => `../console/server/${name}.ts`);
  const wordless = [...files.filter((file) => !ELSEWHERE.test(file)), ...server].flatMap((file) =>
    [
      ...readFileSync(`${ROOT}/${file}`, 'utf8').matchAll(
        /(?:\b(?:refused|usage|conflict|forbidden|unreachable|deny)\((?:\s*context,\s*\d+,)?|json\(\{ message:(?! ''))\s*(.*)/g,
      ),
    ]
      .map(([, message = '']) => message)
      .filter((message) => /^['"`]/.test(message) && !NO_SENTENCE.test(message))
      .map((message) => `${file}: ${message}`),
  );
  expect(wordless).toEqual([]);
});

/** A setting of the operator, or the command line's words of a refusal that the console phrases itself. */
const SAID_ELSEWHERE = /RELEASES_SITE|Set it to|--force with|`check` says|goes back with/;
const TEXT = /(?<![\w)\]])(`[^`]*`|'[^'\n]*'|"[^"\n]*")/g;

test('what plans, switches and the log say has them too', () => {
  const files = readdirSync(ROOT, { recursive: true, encoding: 'utf8' });
  const ours = files.filter(
    (file) => /^(channel|health|operations|policies)\/.*\.ts$/.test(file) && !ELSEWHERE.test(file),
  );
  const wordless = ours.flatMap((file) =>
    [
      ...readFileSync(`${ROOT}/${file}`, 'utf8')
        .replace(/\/\*[\s\S]*?\*\/|^(import|\s*\/\/) .*$/gm, '')
        .matchAll(TEXT),
    ]
      .map(([text]) => text.replace(/\$\{[^}]*\}/g, '…'))
      .filter((text) => /[a-z]{2,} [a-z]{2,} [a-z]{2,}/i.test(text) && !SAID_ELSEWHERE.test(text))
      .map((text) => `${file}: ${text}`),
  );
  expect(wordless).toEqual([]);
});
