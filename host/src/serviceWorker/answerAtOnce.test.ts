import { afterEach, beforeEach, expect, test } from '@rstest/core';
import { createAnswerAtOnce } from './answerAtOnce';

const address = new URL('/explore', location.href).href;

interface Edition {
  style?: string;
  loader?: string;
  title?: string;
  content?: string;
  set?: string;
}

const html = ({ style = '.a{}', loader = 'load()', title = '发现', content = '画皮', set = '1' }: Edition = {}) =>
  `<!doctype html><html><head><title>${title}</title><style>${style}</style></head>` +
  `<body><div id="root">${content}</div><script>${loader}</script><script type="application/json" id="liaozhai-set">{"seq":${set}}</script>` +
  `<script type="application/json" id="liaozhai-config">{}</script></body></html>\n`;

function page(body: string, { url = address, status = 200, ...more }: Record<string, string | number> = {}) {
  const headers = { 'content-type': 'text/html', 'content-security-policy': "script-src 'sha256-a'", ...more };
  const answer = new Response(body, { status: Number(status), headers: headers as Record<string, string> });
  return Object.defineProperty(answer, 'url', { value: url });
}

let forgotten: string[];
const before = globalThis.caches;
beforeEach(() => {
  forgotten = [];
  const open = async () => ({ delete: async (url: string) => forgotten.push(url) > 0 });
  Object.assign(globalThis, { caches: { open } });
});
afterEach(() => void Object.assign(globalThis, { caches: before }));

const begun = async (fresh: Promise<Response>, kept = page(html()), answerAtOnce = createAnswerAtOnce()) => {
  const answer = await answerAtOnce(address, kept, fresh);
  if (!answer) throw new Error('not begun');
  return answer;
};
const shown = html().slice(0, html().indexOf('<script type'));
const restOf = (text: string) => text.slice(shown.length);
const askedAgain = restOf(html()).replace('{"seq":1}', 'null');

test('what the address showed last is there before the page has answered', async () => {
  const { body } = await begun(new Promise(() => undefined));
  const { value } = (await body?.getReader().read()) ?? {};
  expect(new TextDecoder().decode(value)).toBe(shown);
});

test('the fresh page goes on from its set', async () => {
  const fresh = html({ title: '新的发现', content: '聂小倩', set: '2' });
  const text = await (await begun(Promise.resolve(page(fresh)))).text();
  expect(text).toBe(shown + fresh.slice(fresh.indexOf('<script type')));
  expect(forgotten).toEqual([]);
});

test('the trace of the fresh page stands in the markup, and no header names an earlier one', async () => {
  const timing = (trace: string) => ({ 'server-timing': `traceparent;desc="${trace}"` });
  const answer = await begun(Promise.resolve(page(html(), timing('00-b-2-01'))), page(html(), timing('00-a-1-01')));
  expect(answer.headers.get('server-timing')).toBeNull();
  expect(answer.headers.get('content-security-policy')).toBe("script-src 'sha256-a'");
  expect(restOf(await answer.text())).toBe(`<meta name="traceparent" content="00-b-2-01">${restOf(html())}`);
});

const others: [string, Response][] = [
  ['has other styles', page(html({ style: '.b{}' }))],
  ['has another policy', page(html(), { 'content-security-policy': "script-src 'sha256-b'" })],
  ['is no page', page(html(), { status: 404 })],
  ['was cut off', page(html().replace('</html>', ''))],
];
test.each(others)('a page that %s is requested again, and its cached copy goes', async (_, fresh) => {
  expect(restOf(await (await begun(Promise.resolve(fresh))).text())).toBe(askedAgain);
  expect(forgotten).toEqual([address]);
});

const silences: [string, () => Promise<Response>][] = [
  ['without an answer', () => Promise.reject(new TypeError('Failed to fetch'))],
  ['when the worker took its page for any address', async () => page(html({ style: '.b{}' }), { url: `${address}/2` })],
];
test.each(silences)('%s the kept page goes on itself', async (_, fresh) => {
  expect(restOf(await (await begun(fresh())).text())).toBe(restOf(html()));
  expect(forgotten).toEqual([]);
});

const unfit: [string, string][] = [
  ['was cut off', html().replace('</html>', '')],
  ['has its loader at its end', html({ loader: '' }).replace('<script></script>', '')],
];
test.each(unfit)('a kept page that %s begins nothing', async (_, kept) => {
  expect(await createAnswerAtOnce()(address, page(kept), Promise.resolve(page(html())))).toBeNull();
});

test('a page requested again is not begun, so that contradicting servers cause no endless loop', async () => {
  const answerAtOnce = createAnswerAtOnce();
  const other = () => Promise.resolve(page(html({ style: '.b{}' })));
  expect(restOf(await (await begun(other(), page(html()), answerAtOnce)).text())).toBe(askedAgain);
  expect(await answerAtOnce(address, undefined, other())).toBeNull();
  expect(restOf(await (await begun(other(), page(html()), answerAtOnce)).text())).toBe(askedAgain);
  expect(await answerAtOnce(address, page(html()), other())).toBeNull();
  expect(restOf(await (await begun(other(), page(html()), answerAtOnce)).text())).toBe(askedAgain);
});
