import { buildFolder } from '../model/build.ts';
import { say } from '../sentences.ts';
import type { GateSubject } from './gate.ts';

const EXPECTED_HEADERS: Record<string, RegExp> = {
  'content-type': /^text\/(javascript|css)/,
  'cache-control': /immutable/,
  'access-control-allow-origin': /^\*$/,
  'x-content-type-options': /^nosniff$/,
};

/** Asks the real server for every script and stylesheet of the changed builds. Returns what is wrong with its answers. */
export async function servedHeaders(origin: string, { set, changed }: GateSubject): Promise<string[]> {
  const folders = changed.map(({ id }) => `/${buildFolder(id)}/`);
  const paths = Object.keys(set.hashes).filter((path) => folders.some((folder) => path.startsWith(folder)));
  const problems = paths.map(async (path) => {
    const { status, headers } = await fetch(origin + path, { method: 'GET', headers: { 'accept-encoding': 'br' } });
    const wrong = Object.entries(EXPECTED_HEADERS).filter(
      ([name, expected]) => !expected.test(headers.get(name) ?? ''),
    );
    return [
      ...(status === 200 ? [] : [say('servedStatus', { file: path, status })]),
      ...wrong.map(([name]) => say('servedHeader', { file: path, header: name, value: String(headers.get(name)) })),
    ];
  });
  return (await Promise.all(problems)).flat();
}
