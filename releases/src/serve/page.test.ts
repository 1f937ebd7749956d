import type { PageSet } from '@liaozhai/shared/contract';
import { afterAll, beforeAll, describe, expect, test } from '@rstest/core';
import { openTestStore, PAGE_TEMPLATE, type TestStore } from '../testing/openTestStore.ts';
import { openReleases } from './openReleases.ts';
import { bucket, isInCandidate, renderPage, routeAt } from './renderPage.ts';

describe('canary buckets', () => {
  const visitors = Array.from({ length: 1_000_000 }, (_, n) => `visitor-${n}`);
  const places = visitors.map((visitor) => bucket(visitor, 'fixed-salt'));
  const shareOf = (percent: number) => (places.filter((place) => place < percent).length / places.length) * 100;

  test.each([0.1, 0.5, 1, 5, 10, 25, 50])('%s %% are served within 0.1 point over a million ids', (percent) => {
    expect(Math.abs(shareOf(percent) - percent)).toBeLessThanOrEqual(0.1);
  });

  test('no visitor at 0 and every visitor at 100', () => {
    expect([shareOf(0), shareOf(100)]).toEqual([0, 100]);
  });

  test('visitors stay in the candidate while the share grows', () => {
    for (const visitor of visitors.slice(0, 2000)) {
      const steps = [0, 0.1, 1, 5, 10, 50, 100].map((percent) => isInCandidate(visitor, { salt: 's', percent }));
      expect(steps).toEqual([...steps].sort());
    }
  });

  test('two salts draw independently', () => {
    const both = visitors.slice(0, 100_000).filter((visitor) => bucket(visitor, 'a') < 10 && bucket(visitor, 'b') < 10);
    expect(both.length / 1000).toBeCloseTo(1, 0);
  });
});

let at: TestStore;
let pageSet: PageSet;
beforeAll(async () => {
  at = await openTestStore();
  const route = {
    name: 'story',
    path: '/story/:id',
    title: '故事',
    requiresAuth: false,
    keepAlive: true,
    outsideShell: true,
    js: ['static/js/async/page.js'],
    css: [],
  };
  const list = { ...route, name: 'list', path: '/story/list', css: ['static/css/page.css'] };
  await at.activate(
    await at.host(),
    await at.remote('stories', '1.0.0', { description: { routes: [route, list] } }),
    await at.remote('chat'),
  );
  pageSet = (await (await openReleases({ store: at.url })).pageFor({ id: 'v' })).pageSet;
});
afterAll(() => at.remove());

describe('routes', () => {
  test('the most specific one matches; unknown addresses match none', () => {
    expect(routeAt(pageSet, '/story/7')?.name).toBe('story');
    expect(routeAt(pageSet, '/story/list')?.name).toBe('list');
    expect(routeAt(pageSet, '/story/7/x')).toBeUndefined();
    expect(routeAt(pageSet, '/')).toBeUndefined();
  });
});

const render = (parts: Partial<Parameters<typeof renderPage>[0]> = {}) =>
  renderPage({ template: PAGE_TEMPLATE, pageSet, path: '/story/7', config: {}, ...parts });

describe('the page', () => {
  test('preloads the host and the files of its own route only, each with integrity', () => {
    const { html } = render();
    const links = html.match(/<link rel="preload"[^>]*>/g) ?? [];
    expect(links).toHaveLength(4);
    for (const link of links) expect(link).toMatch(/integrity="sha384-[\w+/]{64}" crossorigin="anonymous"/);
    expect(html).not.toMatch(/<link[^>]*builds\/chat/);
  });

  test('has a policy with the loader, the inline style and every preloaded script, and nothing unsafe', () => {
    const policy = render().headers['content-security-policy'] ?? '';
    expect(policy.match(/'sha384-/g)).toHaveLength(4);
    expect(policy.match(/'sha256-/g)).toHaveLength(2);
    for (const part of [
      "default-src 'none'",
      "'strict-dynamic'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      'trusted-types liaozhai liaozhai-sw',
    ])
      expect(policy).toContain(part);
    expect(policy).not.toContain('unsafe');
  });

  test('a build of ES modules has its hashes in an import map, which the policy names; no other build has', () => {
    const stories = pageSet.remotes.stories as PageSet['remotes'][string];
    const asModules = { ...pageSet.remotes, stories: { ...stories, entryType: 'module' as const } };
    const { html, headers } = render({ pageSet: { ...pageSet, remotes: asModules } });
    const [, map = ''] = /<script type="importmap">(.*?)<\/script>/.exec(html) ?? [];
    const { integrity } = JSON.parse(map) as { integrity: Record<string, string> };
    expect(integrity[stories.entry]).toBe(pageSet.hashes[stories.entry]);
    expect(Object.keys(integrity).some((path) => /builds\/chat|\.css$/.test(path))).toBe(false);
    expect(headers['content-security-policy']?.match(/'sha256-/g)).toHaveLength(3);
    expect(headers['integrity-policy']).toBeUndefined();
    expect(render().html).not.toContain('importmap');
    expect(render().headers['integrity-policy']).toBeDefined();
  });

  test('escapes data and titles', () => {
    const evil = '</script><script>alert(1)</script>';
    const { html } = render({
      title: evil,
      config: { evil, separator: '\u2028' },
      data: [{ id: 'first', json: [evil] }],
    });
    expect(html).not.toContain(evil);
    expect(html.match(/<script>/g)).toHaveLength(1);
    expect(html).toContain('\\u2028');
  });

  test('does not replace text that looks like a placeholder', () => {
    const { html } = render({ first: '<p><!--lz:set--></p>' });
    expect(html.split('id="liaozhai-set"')).toHaveLength(2);
  });

  test('a template with a placeholder missing or twice is refused', () => {
    expect(() => render({ template: PAGE_TEMPLATE.replace('<!--lz:set-->', '') })).toThrow('lz:set');
    expect(() => render({ template: `${PAGE_TEMPLATE}<!--lz:meta-->` })).toThrow('lz:meta');
  });

  test('a set without a hash for what it needs is refused', () => {
    expect(() => render({ pageSet: { ...pageSet, hashes: {} } })).toThrow('no hash');
  });

  test('sends HSTS on https only, and further sources as configured', () => {
    expect(render().headers['strict-transport-security']).toBeUndefined();
    const { headers } = render({ https: true, connectSrc: ['wss://x.example'], imgOrigins: ['https://img.example'] });
    expect(headers['strict-transport-security']).toContain('max-age');
    expect(headers['content-security-policy']).toContain("connect-src 'self' wss://x.example");
    expect(headers['content-security-policy']).toContain("img-src 'self' data: https://img.example");
  });
});
