import type { Page } from '@playwright/test';
import { buildGuest, type Guest, kits, library } from './site/guest.ts';
import { filesOf, type Site } from './site/site.ts';
import { card, expect, test } from './site/test.ts';

const published = new Map<string, string>();

/** Publishes each guest once, and activates them. */
async function admit(site: Site, ...guests: Guest[]): Promise<void> {
  for (const guest of guests) {
    if (published.has(guest.name)) continue;
    const { dist, remove } = await buildGuest(guest);
    published.set(guest.name, (await site.release('publish', dist)).id);
    remove();
  }
  await site.activate(...guests.map(({ name }) => published.get(name) ?? ''));
}

/** Source of a page that shows the expression's value after a tap. */
const showing = (expression: string) => `
  import { createElement, useState } from 'react';
  import './page.css';
  export default function Page() {
    const [text, setText] = useState('waiting');
    const show = () => (${expression}).then(setText, (cause) => setText('failed: ' + cause.message));
    return createElement('button', { className: 'guest', onClick: show }, text);
  }`;

function violationsOf(page: Page): string[] {
  const seen: string[] = [];
  page.on('console', (message) => {
    // the page probes whether its browser rejects a changed module
    if (message.text().includes('data:text/javascript')) return;
    if (/Content.Security|TrustedScript|Integrity/i.test(message.text())) seen.push(message.text());
  });
  return seen;
}

async function opensAndTaps(page: Page, name: string) {
  await page.goto(`/${name}`);
  const button = page.locator('.guest');
  await button.click();
  return button;
}

const lateCode = {
  page: showing(`import(/* webpackChunkName: "late" */ './late.js').then(({ default: text }) => text)`),
  files: { 'src/late.js': `export default 'late code';` },
};

const plain: Guest = {
  name: 'plain',
  version: '1.0.0',
  ...lateCode,
  federation: { shareStrategy: 'version-first', remotes: { dead: 'dead@http://localhost:9/remoteEntry.js' } },
};

test('guests: late code and styles of plain federation run under the strict policy, past a dead remote it names', async ({
  site,
  page,
}) => {
  await admit(site, plain);
  const violations = violationsOf(page);
  const unwanted: string[] = [];
  page.on('request', (asked) => {
    if (/localhost:9\/|mf-manifest/.test(asked.url())) unwanted.push(asked.url());
  });
  const button = await opensAndTaps(page, 'plain');
  await expect(button).toHaveText('late code');
  await expect(button).toHaveCSS('color', 'rgb(1, 2, 3)');
  expect([violations, unwanted]).toEqual([[], []]);
});

const wasTampered = () =>
  Reflect.has(globalThis, '__tampered') ||
  getComputedStyle(document.documentElement).getPropertyValue('--tampered') !== '';

test('guests: late code of plain federation that was changed does not run', async ({ site, page }) => {
  await admit(site, plain);
  site.front.breaks(/\/builds\/plain\/.*\/late\.js/, { rewrite: (body) => `${body};globalThis.__tampered = true;` });
  await expect(await opensAndTaps(page, 'plain')).toHaveText(/^failed: .*corrupt/s);
  expect(await page.evaluate(wasTampered)).toBe(false);
});

test('guests: styles of plain federation that were changed do not apply', async ({ site, page }) => {
  await admit(site, plain);
  site.front.breaks(/\/builds\/plain\/.*\/plain\.css/, { rewrite: (body) => `${body}:root{--tampered:yes}` });
  await page.goto('/plain');
  await expect(page.getByText(card)).toBeVisible();
  expect(await page.evaluate(wasTampered)).toBe(false);
});

test('guests: a build for contract 2.0 takes its runtime from the page', async ({ site, page }) => {
  await admit(site, { name: 'former', version: '1.0.0', isFormer: true, ...lateCode });
  await expect(await opensAndTaps(page, 'former')).toHaveText('late code');
});

/** A remote of an outside team, with an entry in 我的. */
const entering = (name: string, order: number, content: string): Guest => ({
  name,
  version: '1.0.0',
  page: `import { createElement } from 'react'; export default () => createElement('h1', null, '${name} page');`,
  slots: [{ name: 'my.entries', order, file: 'entry.js' }],
  files: { 'src/entry.js': `import { createElement } from 'react'; export default () => ${content};` },
});

test('guests: an entry in 我的 leads to the page of its remote, and one that throws disappears alone and is counted', async ({
  site,
  page,
  person,
}) => {
  await admit(
    site,
    entering('lamps', 20, `createElement('a', { href: '/lamps' }, '灯谜')`),
    entering('broken', 10, `(() => { throw new Error('the entry threw'); })()`),
  );
  await person.joins();
  await page.goto('/my');
  await page.getByRole('navigation', { name: '更多' }).getByRole('link', { name: '灯谜' }).click();
  await expect(page.getByRole('heading', { name: 'lamps page' })).toBeVisible();
  const counted: string[] = [];
  const failed = () => {
    counted.push(...site.front.beacons().flatMap(({ build, failure }) => (failure ? `${build} ${failure}` : [])));
    return counted;
  };
  await expect.poll(failed).not.toEqual([]);
  // each page reports it once
  expect([...new Set(counted)]).toEqual([`${published.get('broken')} render-threw`]);
  // later tests count failures, too
  await site.release('withdraw', 'broken', '--yes');
});

const OWN_CONTAINER = 'webpack, its own container plug-in';

const charting = (name: string, version: string, kit?: Guest['kit']): Guest => ({
  name,
  version: '1.0.0',
  kit,
  page: showing(`import(/* webpackChunkName: "chart" */ 'chart').then(({ version }) => version)`),
  files: library('chart', version),
  federation: { shared: { chart: { requiredVersion: '^4.0.0' } } },
});

/** Navigates within the page, which keeps its loaded libraries. */
async function goesOnAndTaps(page: Page, name: string) {
  await page.evaluate((to) => {
    history.pushState(null, '', to);
    dispatchEvent(new PopStateEvent('popstate'));
  }, `/${name}`);
  await page.locator('.guest', { hasText: 'waiting' }).click();
  return page.locator('.guest').last();
}

test('guests: a library loads once where ranges allow it', async ({ site, page }) => {
  await admit(site, charting('first', '4.5.0'), charting('second', '4.4.0'), charting('third', '4.4.0', OWN_CONTAINER));
  await expect(await opensAndTaps(page, 'first')).toHaveText('4.5.0');
  await expect(await goesOnAndTaps(page, 'second')).toHaveText('4.5.0');
  await expect(await goesOnAndTaps(page, 'third')).toHaveText('4.5.0');
});

for (const [name, kit] of [
  ['second', undefined],
  ['third', OWN_CONTAINER],
] as const)
  test(`guests: a corrupt copy of a library breaks no other team, built by ${kit ?? 'Rspack'}`, async ({
    site,
    page,
  }) => {
    await admit(site, charting('first', '4.5.0'), charting(name, '4.4.0', kit));
    // the bundler names the library's file by a number
    site.front.breaks(/\/builds\/first\/[^/]+\/\d+\.js/, { rewrite: (body) => `${body};//` });
    await expect(await opensAndTaps(page, 'first')).toHaveText(/^failed/);
    await expect(await goesOnAndTaps(page, name)).toHaveText('4.4.0');
    await expect(await goesOnAndTaps(page, 'first')).toHaveText('4.4.0');
  });

test("guests: what two webpack containers call a singleton runs in each one's range", async ({ site, page }) => {
  const strict = (name: string, version: string, requiredVersion: string): Guest => ({
    ...charting(name, version, OWN_CONTAINER),
    federation: { shared: { chart: { singleton: true, strictVersion: true, requiredVersion } } },
  });
  await admit(site, strict('modern', '4.5.0', '^4.0.0'), strict('old3', '3.9.0', '^3.0.0'));
  await expect(await opensAndTaps(page, 'modern')).toHaveText('4.5.0');
  await expect(await goesOnAndTaps(page, 'old3')).toHaveText('3.9.0');
});

const elsewhere = { account: 'account@http://localhost:9/remoteEntry.js' };

const asking = (name: string, kit?: Guest['kit']): Guest => ({
  name,
  version: '1.0.0',
  kit,
  page: showing(`(async (runtime) => {
    await runtime.preloadRemote([{ nameOrAlias: 'account' }]);
    const [one, other] = await Promise.all([import('account/remote'), runtime.loadRemote('account/remote')]);
    return one.default.name + (one.default === other.default ? ' once' : ' twice');
  })(__FEDERATION__.__INSTANCES__.find(({ name }) => name.startsWith('${name}')) ?? __FEDERATION__.__INSTANCES__[0])`),
  federation: { remotes: elsewhere, ...(kit === OWN_CONTAINER && { remoteType: 'script' }) },
});

const askers: [name: string, kit?: Guest['kit']][] = [
  ['asking'],
  ['vitely', 'vite, ES modules'],
  ['webbing', OWN_CONTAINER],
];

for (const [which, isBroken, [name, kit]] of askers.flatMap((asker) => [
  ['the build that runs here', false, asker] as const,
  ['the last good build of one that is gone', true, asker] as const,
]))
  test(`guests: import(), preloadRemote() and loadRemote() lead to ${which}, by ${kit ?? 'Rspack'}`, async ({
    site,
    page,
  }) => {
    const guest = asking(name, kit);
    const old = await site.publish({ remote: 'account', part: 'my', says: '旧的一版' });
    const live = await site.publish({ remote: 'account', part: 'my', says: '新的一版' });
    await site.succeed(old, live);
    await admit(site, guest);
    if (isBroken) site.front.breaks(filesOf(live, 'remoteEntry'), { status: 404 });
    site.front.asked();
    await expect(await opensAndTaps(page, guest.name)).toHaveText('account once');
    expect(site.front.asked().some((path) => filesOf(old, 'remoteEntry').test(path))).toBe(isBroken);
  });

test("guests: another remote's module that did not load is requested again", async ({ site, page }) => {
  const importing: Guest = {
    name: 'importing',
    version: '1.0.0',
    kit: 'the plug-in for teams',
    page: showing(`import('account/remote').then(({ default: { name } }) => name)`),
    federation: { remotes: { account: '' } },
  };
  await admit(site, importing);
  site.front.breaks(/\/builds\/account\/.*remoteEntry/, { status: 404 });
  const button = await opensAndTaps(page, 'importing');
  await expect(button).toHaveText(/^failed/);
  site.front.mend();
  await button.click();
  await expect(button).toHaveText('account');
});

const ofKit = (at: number): Guest => ({ name: `kit${at}`, version: '1.0.0', kit: kits[at], ...lateCode });

test('guests: builds of every bundler and version of the matrix run in one page', async ({ site, page }) => {
  const guests = kits.map((_, at) => ofKit(at));
  await admit(site, ...guests);
  const violations = violationsOf(page);
  for (const [at, { name }] of guests.entries()) {
    const button = await (at === 0 ? opensAndTaps : goesOnAndTaps)(page, name);
    await expect(button, kits[at]).toHaveText('late code');
    await expect(button, kits[at]).toHaveCSS('color', 'rgb(1, 2, 3)');
  }
  expect(violations).toEqual([]);
});

test('guests: an ES module that was changed does not run', async ({ site, page }) => {
  const guest = ofKit(kits.indexOf('vite, ES modules'));
  await admit(site, guest);
  site.front.breaks(new RegExp(`/builds/${guest.name}/.*/late-.*\\.js`), {
    rewrite: (body) => `${body};globalThis.__tampered = true;`,
  });
  await expect(await opensAndTaps(page, guest.name)).toHaveText(/^failed: /);
  expect(await page.evaluate(wasTampered)).toBe(false);
});

test('guests: the gate tells what a page threw in its words, and names a slot that the module lacks', async ({
  site,
}) => {
  test.setTimeout(120_000);
  const untitled: Guest = { name: 'untitled', version: '1.0.0', page: 'export default ({ story }) => story.title;' };
  const slotless: Guest = {
    name: 'slotless',
    version: '1.0.0',
    page: `export default () => 'fine';`,
    slots: [{ name: 'my.entries', file: 'Page.js' }],
    files: {
      'src/remote.js': `const route = { name: 'slotless', path: '/slotless', title: '', page: () => import('./Page.js') };
        export default { name: 'slotless', contract: '^2.1.0', routes: [route] };`,
    },
  };
  const builds: string[] = [];
  for (const guest of [untitled, slotless]) {
    const { dist, remove } = await buildGuest(guest);
    builds.push((await site.release('publish', dist)).id);
    remove();
  }
  const refusal = await site.release('check', ...builds, '--smoke', 'required').catch((cause: Error) => cause.message);
  expect(String(refusal).match(/on \/.*/g)).toEqual([
    "on /untitled a build failed: the page reported render-threw: Cannot read properties of undefined (reading 'title')",
    'on /my as a member a build failed: the page reported module-missing: src/remote provides no slotless slot my.entries',
  ]);
});
