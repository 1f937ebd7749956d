import type { BuildRecord } from '../model/build.ts';
import { buildFileHeaders } from '../publish/contentType.ts';
import type { GateCheck } from './gateCheck.ts';

const EXPECTED = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' };

interface Named {
  path: string;
  kind: keyof typeof EXPECTED;
}

function codeOf({ description }: BuildRecord): Named[] {
  const named = (kind: Named['kind'], paths: readonly string[]): Named[] => paths.map((path) => ({ path, kind }));
  const own = [...named('js', [description.entry]), ...named('css', description.css)];
  if (description.kind === 'host')
    return [...own, ...named('js', description.serviceWorker ? [description.serviceWorker] : [])];
  const parts = [description.module, ...description.routes, ...description.slots];
  return [...own, ...parts.flatMap(({ js, css }) => [...named('js', js), ...named('css', css)])];
}

function headerProblems({ path, kind }: Named): string[] {
  const headers = buildFileHeaders(path);
  const problems: string[] = [];
  if (headers['content-type'] !== EXPECTED[kind])
    problems.push(
      `${path} would be served as ${headers['content-type']}, not ${EXPECTED[kind]}: rename it to end in .${kind}`,
    );
  if (headers['access-control-allow-origin'] !== '*') problems.push(`${path} would be served without CORS`);
  if (!headers['cache-control']?.includes('immutable')) problems.push(`${path} would be served without a long life`);
  return problems;
}

/** Scripts and stylesheets are served with the media type, CORS and cache headers that a page accepts. */
export const servedHeaders: GateCheck = {
  name: 'served headers',
  run: async ({ changed }) =>
    changed.flatMap((record) =>
      codeOf(record).flatMap((named) => headerProblems(named).map((line) => `${record.id}: ${line}`)),
    ),
};
