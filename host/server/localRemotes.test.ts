import { afterAll, beforeAll, describe, expect, test } from '@rstest/core';
import { openTestProduct } from './testing/testProduct.ts';

let product: Awaited<ReturnType<typeof openTestProduct>>;
let origin = '';
let development = '';

beforeAll(async () => {
  product = await openTestProduct();
  origin = await product.serve();
  development = await product.serve({ LOCAL_REMOTES: 'anyone' });
});

afterAll(() => product.close());

const local = 'stories@http://localhost:3101';

/** A browser as a server sees it: it stores cookies and follows no redirect. */
function openBrowser(at: string) {
  const cookies = new Map<string, string>();
  const ask = async (path: string, init: RequestInit = {}) => {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
    const answer = await fetch(at + path, { redirect: 'manual', ...init, headers: { cookie, ...init.headers } });
    for (const set of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      cookies.set(name, value);
    }
    return answer;
  };
  return {
    ask,
    cookies,
    text: async (path: string) => (await ask(path)).text(),
    /** Submits the form of a consent page. */
    agree: (path: string, page: string, headers: Record<string, string> = { origin: at }) => {
      const [, proof = ''] = /name="proof" value="([^"]*)"/.exec(page) ?? [];
      return ask(path, { method: 'POST', body: new URLSearchParams({ proof }), headers });
    },
  };
}

const linkTo = (words: string) => `/explore?override=${encodeURIComponent(words)}`;
const setOf = (html: string) => JSON.parse(/id="liaozhai-set">([^<]*)</.exec(html)?.[1] ?? 'null');
const requestIn = (html: string) => /preview open &#39;(.*?)&#39;/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';

describe('sec.local-remote: code from a dev server', () => {
  test('a link alone loads nothing: the visitor needs a permit from a manager', async () => {
    const victim = openBrowser(origin);
    const answer = await victim.ask(linkTo(local));
    const html = await answer.text();
    expect([answer.status, setOf(html)]).toEqual([403, null]);
    expect(requestIn(html)).toMatch(/^stories@http:\/\/localhost:3101 [0-9a-f]{32}$/);
    const page = await victim.ask('/explore');
    expect(page.headers.get('content-security-policy')).not.toContain('localhost');
    expect(setOf(await page.text()).override).toBeNull();
  });

  test('runs in the browser that requested it, after consent, until the permit expires', async () => {
    const browser = openBrowser(origin);
    await product.preview({ request: requestIn(await browser.text(linkTo(local))) });
    const asking = await browser.ask(linkTo(local));
    expect(asking.headers.get('content-security-policy')).toMatch(/^default-src 'none'.*frame-ancestors 'none'$/);
    expect(asking.headers.get('referrer-policy')).toBe('same-origin');
    expect(setOf(await browser.text('/explore')).override).toBeNull();
    const agreed = await browser.agree(linkTo(local), await asking.text());
    expect([agreed.status, agreed.headers.get('location')]).toEqual([303, '/explore']);
    const page = await browser.ask('/explore');
    expect(setOf(await page.text()).override).toMatchObject({
      local: [{ name: 'stories', origin: 'http://localhost:3101' }],
    });
    expect(page.headers.get('cache-control')).toBe('private, no-store');
    // somebody else with the link, and even the permission's name, lacks the cookie
    const other = openBrowser(origin);
    expect((await other.ask(linkTo(local))).status).toBe(403);
    await product.endPreview();
    expect(await (await browser.ask('/?override=local')).json()).toBeNull();
    expect(setOf(await browser.text('/explore')).override).toBeNull();
  });

  test('the policy allows only the accepted code, in that browser only', async () => {
    const browser = openBrowser(development);
    await browser.agree(linkTo(local), await browser.text(linkTo(local)));
    const { headers } = await browser.ask('/explore');
    const policy = Object.fromEntries(
      (headers.get('content-security-policy') ?? '').split('; ').map((part) => {
        const [name = '', ...sources] = part.split(' ');
        return [name, sources.filter((source) => !/^'sha(256|384)-/.test(source))];
      }),
    );
    const own = 'http://localhost:3101';
    expect(policy).toMatchObject({
      'script-src': ["'self'", own],
      'connect-src': ["'self'", own, 'ws://localhost:3101'],
      'style-src': ["'self'", own],
      'font-src': ["'self'", 'data:', own],
    });
    expect(JSON.stringify(policy)).not.toMatch(/unsafe|\*/);
    expect(headers.get('integrity-policy')).toBeNull();
    const other = await fetch(`${development}/explore`);
    expect(other.headers.get('content-security-policy')).not.toContain('3101');
    expect(other.headers.get('integrity-policy')).toBe('blocked-destinations=(script)');
  });

  test('another site cannot consent for a visitor, and neither can a page with another proof', async () => {
    const browser = openBrowser(development);
    const page = await browser.text(linkTo(local));
    const foreign = await browser.agree(linkTo(local), page, { origin: 'https://evil.example' });
    const none = await browser.agree(linkTo(local), page, {});
    const other = await browser.agree(linkTo('chat@http://localhost:3102'), page);
    const stranger = await openBrowser(development).agree(linkTo(local), page);
    expect([foreign.status, none.status, other.status, stranger.status]).toEqual([403, 403, 403, 403]);
    expect(setOf(await browser.text('/explore')).override).toBeNull();
  });

  test('a consent does not cover later changes of the permit', async () => {
    const browser = openBrowser(origin);
    const request = requestIn(await browser.text(linkTo(local)));
    await product.preview({ request });
    await browser.agree(linkTo(local), await browser.text(linkTo(local)));
    await product.preview({ request: request.replace('http://localhost:3101', 'https://dev.example') });
    expect(setOf(await browser.text('/explore')).override).toBeNull();
    await product.endPreview();
  });

  test('an origin on another machine needs a permit that names it, even in development', async () => {
    expect((await openBrowser(development).ask(linkTo('stories@https://dev.example'))).status).toBe(403);
    expect((await openBrowser(development).ask(linkTo('stories@http://evil.example'))).status).toBe(400);
  });

  test('is disabled by the site’s setting with any cookie', async () => {
    const browser = openBrowser(development);
    await browser.agree(linkTo(local), await browser.text(linkTo(local)));
    const closed = await product.serve({ LOCAL_REMOTES: 'off' });
    const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ');
    const page = await (await fetch(`${closed}/explore`, { headers: { cookie } })).text();
    expect(setOf(page).override).toBeNull();
    expect((await fetch(`${closed}${linkTo(local)}`)).status).toBe(403);
  });

  test('the consent page names what it replaces, and other tabs learn of it', async () => {
    const browser = openBrowser(development);
    const first = await browser.text(linkTo(local));
    expect(first).not.toContain('会换成');
    await browser.agree(linkTo(local), first);
    const other = 'wallet@http://localhost:3104';
    const second = await browser.text(linkTo(other));
    expect(second).toMatch(/会换成.*stories@http:\/\/localhost:3101/);
    expect(await browser.text(linkTo(`${local},${other}`))).not.toContain('会换成');
    await browser.agree(linkTo(other), second);
    expect(await (await browser.ask('/?override=local')).json()).toMatchObject({ local: [{ name: 'wallet' }] });
  });

  test('ends with the badge’s link', async () => {
    const browser = openBrowser(development);
    await browser.agree(linkTo(local), await browser.text(linkTo(local)));
    expect(setOf(await browser.text('/explore')).override).not.toBeNull();
    await browser.ask('/?override=off');
    expect(setOf(await browser.text('/explore')).override).toBeNull();
  });

  test('text of a link is escaped in the page', async () => {
    const html = await openBrowser(development).text(linkTo('stories@<img src=x onerror=alert(1)>'));
    expect(html).not.toContain('<img');
  });

  test('over https the cookie is limited to this host', async () => {
    const secure = await product.serve({ TRUST_PROXY: 'true', LOCAL_REMOTES: 'anyone' });
    const answer = await fetch(secure + linkTo(local), { headers: { 'x-forwarded-proto': 'https' } });
    expect(answer.headers.getSetCookie().join()).toMatch(/__Host-lz_local=[^;]+;.*HttpOnly;.*Secure;.*SameSite=Lax/);
  });
});
