import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { rawRequest, statusOf } from '@liaozhai/http/testing';
import { describe, expect, onTestFinished, test } from '@rstest/core';
import { drawingAddress, fetchPublicAnswer, fill, freshAnswer, inlinedCss, shareCard } from './prerendered.ts';
import { openTestProduct } from './testing/testProduct.ts';

const answer = { data: [{ id: 'a/b?', title: '<b>画皮</b>', tags: ['惊悚', '人心', '志怪', '夜行'], note: null }] };

describe('prerendered content', () => {
  test('tokens become escaped text, addresses are encoded, lists have three items', () => {
    expect(fill('<a href="/story/lzu-data.0.id-lz">lz-data.0.title-lz · lz-data.0.tags-lz</a>', answer)).toBe(
      '<a href="/story/a%2Fb%3F">&lt;b&gt;画皮&lt;/b&gt; · 惊悚 · 人心 · 志怪</a>',
    );
  });

  test('sec.xss: a field cannot leave the attribute it stands in', () => {
    const hostile = { data: [{ title: '"><img src=x onerror=alert(1)>' }] };
    expect(fill('<img alt="lz-data.0.title-lz">', hostile)).toBe(
      '<img alt="&quot;&gt;&lt;img src=x onerror=alert(1)&gt;">',
    );
  });

  test.each([
    ['marks that turn a sentence round', '甲\u202e乙\u2066', '甲乙'],
    ['marks piled on one letter', `狐${'\u0310'.repeat(9)}`, `狐${'\u0310'.repeat(4)}`],
    ['half a character', '狐\ud800', '狐'],
    ['what shows nothing', '\u200b\u2060', null],
    ['an object', { a: 1 }, null],
    ['a list of objects and words', [{ a: 1 }, '狐'], '狐'],
  ])('%s: the served page shows the same text as the app', (_, value, read) => {
    expect(fill('lz-title-lz', { title: value })).toBe(read);
    const card = { title: 'lz-title-lz', description: '…', image: '/a.png' };
    expect(shareCard({ template: { html: '', card }, source: { answer: { title: value } } } as never)?.title).toBe(
      read ?? undefined,
    );
  });

  test('a shared link has a picture if the response has an invalid picture address', () => {
    const card = { title: '画皮', description: '…', image: ['lz-cover_url-lz', '/icon.png'] };
    for (const cover_url of ['http://[', 'https://', 'javascript:alert(1)'])
      expect(shareCard({ template: { html: '', card }, source: { answer: { cover_url } } } as never)?.image).toBe(
        '/icon.png',
      );
  });

  test('a short or incomplete response is not rendered', () => {
    expect(fill('lz-data.1.title-lz', answer)).toBeNull();
    expect(fill('lz-data.0.note-lz', answer)).toBeNull();
  });

  test('a drawing is encoded completely in an address and cannot leave its attribute', () => {
    const svg =
      '<svg xmlns="http://www.w3.org/2000/svg"\n  width="3"><text fill="#A33">100% 「画皮」 &amp; \'</text></svg>';
    const address = drawingAddress(svg);
    expect(address).not.toMatch(/["&\n]/);
    expect(decodeURIComponent(address.replace('data:image/svg+xml,', ''))).toBe(svg.replace('\n  ', ' '));
  });

  test.each([
    ['url(a.png)', 'url(/builds/s/1/css/a.png)'],
    ['url( "../img/a b.svg#x" )', 'url( "/builds/s/1/img/a%20b.svg#x" )'],
    ["url('../img/a.svg#x')", "url('/builds/s/1/img/a.svg#x')"],
    ['url("./a.woff2?v=1")', 'url("/builds/s/1/css/a.woff2?v=1")'],
    ['URL(a.png)', 'URL(/builds/s/1/css/a.png)'],
    ["@import 'b.css';", "@import '/builds/s/1/css/b.css';"],
    ['url(/root.png)', 'url(/root.png)'],
    ['url(//cdn.example/a.png)', 'url(//cdn.example/a.png)'],
    ['url(https://cdn.example/a.png)', 'url(https://cdn.example/a.png)'],
    ['url(data:image/png;base64,AA==)', 'url(data:image/png;base64,AA==)'],
    ['url(#gradient)', 'url(#gradient)'],
    ['url()', 'url()'],
  ])('in an inline style, %s is %s', (written, read) => {
    expect(inlinedCss(`a{b:${written}}`, '/builds/s/1/css/route.css')).toBe(`a{b:${read}}`);
  });
});

describe('a response of the backend', () => {
  /** A backend that sends these responses one after the other, then none. */
  async function openBackend(...said: [status: number, body: string][]) {
    const server = createServer((_, response) => {
      const next = said.shift();
      if (next) response.writeHead(next[0]).end(next[1]);
    });
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  }
  const list: [number, string] = [200, '{"data":[{"id":"ying-ning"}]}'];

  test('keeps the digits of ids beyond 2^53', async () => {
    const url = await openBackend([200, '{"data":[{"id":9007199254740993}]}']);
    expect(await fetchPublicAnswer(url, 0)).toEqual({ data: [{ id: '9007199254740993' }] });
  });

  test.each<[string, [number, string][]]>([
    ['no answer', []],
    ['a failure', [[503, '']]],
    ['no JSON', [[200, '<html>']]],
  ])('is replaced after %s by the former one, for five minutes', async (_, later) => {
    const url = await openBackend(list, ...later);
    const first = await fetchPublicAnswer(url, 0);
    expect(first).toEqual({ data: [{ id: 'ying-ning' }] });
    expect(await fetchPublicAnswer(url, 6_000)).toBe(first);
    expect(await fetchPublicAnswer(url, 310_000)).toBeNull();
  });

  test('is requested again although the clock was set back', async () => {
    const url = await openBackend(list, [200, '{"data":[{"id":"hua-pi"}]}']);
    const [clock, running] = [Date.now, performance.now];
    onTestFinished(() => {
      Date.now = clock;
      performance.now = running;
    });
    await fetchPublicAnswer(url);
    Date.now = () => clock() - 3_600_000;
    performance.now = () => running.call(performance) + 6_000;
    expect(freshAnswer(url)).toBeUndefined();
    expect(await fetchPublicAnswer(url)).toEqual({ data: [{ id: 'hua-pi' }] });
  });

  test('is not shown after it became 404', async () => {
    const url = await openBackend(list, [404, '{}']);
    await fetchPublicAnswer(url, 0);
    expect(await fetchPublicAnswer(url, 6_000)).toBeNull();
  });
});

async function openSite(mend: (folder: string) => void, settings: { backendUrl?: () => string } = {}) {
  const product = await openTestProduct(mend);
  onTestFinished(() => product.close());
  return product.serve({}, settings);
}

test.each([
  ['small', 100, 1],
  ['large, though little once packed', 200_000, 0],
])('a drawing that is %s (%d characters) is inlined %d times', async (_, letters, count) => {
  const backend = createServer(({ url = '' }, response) => {
    if (!url.endsWith('.svg')) return response.end(JSON.stringify({ cover: '/api/media/covers/1.svg' }));
    response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(`<svg><desc>${'a'.repeat(letters)}</desc></svg>`);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void backend.close());
  await once(backend, 'listening');
  const backendUrl = () => `http://127.0.0.1:${(backend.address() as AddressInfo).port}`;
  const first = { source: '/v1/stories', html: '<img src="lz-cover-lz" alt="" loading="eager">' };
  const origin = await openSite(
    (folder) => writeFileSync(join(folder, 'stories/first/explore.json'), JSON.stringify(first)),
    { backendUrl },
  );
  const page = await (await fetch(`${origin}/explore`)).text();
  expect(page.split('data:image/svg').length - 1).toBe(count);
});

describe('a team’s build', () => {
  const many = Array.from({ length: 40 }, (_, at) => `chunk${at}`);

  test('with forty scripts and styles in a route keeps the headers within nginx’s limit', async () => {
    const origin = await openSite((folder) => {
      const path = join(folder, 'stories/liaozhai.json');
      const description = JSON.parse(readFileSync(path, 'utf8'));
      for (const name of many) {
        writeFileSync(join(folder, 'stories', `${name}.js`), `'${name}'`);
        writeFileSync(join(folder, 'stories', `${name}.css`), `.${name}{color:red}`);
      }
      description.routes[1].js = many.map((name) => `${name}.js`);
      description.routes[1].css = many.map((name) => `${name}.css`);
      writeFileSync(path, JSON.stringify(description));
    });
    const head = await rawRequest(origin, 'HEAD /guide HTTP/1.1', 'Host: app.example', 'Connection: close');
    expect([statusOf(head), head.length]).toEqual([200, expect.toSatisfy((length: number) => length < 3_800)]);
  });

  test('reserves space for an open slot only if a remote of the set fills it', async () => {
    const place = '<div data-slot="explore.tiles" hidden=""></div>';
    const openWith = async (slots: object[]) => {
      const origin = await openSite((folder) => {
        writeFileSync(join(folder, 'stories/first/guide.json'), JSON.stringify({ html: place }));
        const path = join(folder, 'stories/liaozhai.json');
        writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), slots }));
      });
      return (await fetch(`${origin}/guide`)).text();
    };
    expect(await openWith([])).toContain(place);
    expect(await openWith([{ name: 'explore.tiles', js: [], css: [] }])).toContain(
      '<div data-slot="explore.tiles"></div>',
    );
  });

  test.each(['{"title": "mine"}', 'no JSON', '[]', 'null', '{"html": 5}', '{"html": "", "card": {}}'])(
    'with its own file at first/guide.json (%s) loses the page’s prerendered content only',
    async (text) => {
      const origin = await openSite((folder) => writeFileSync(join(folder, 'stories/first/guide.json'), text));
      const page = await fetch(`${origin}/guide`);
      expect([page.status, (await page.text()).includes('id="liaozhai-set"')]).toEqual([200, true]);
    },
  );
});
