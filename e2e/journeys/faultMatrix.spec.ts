import { randomUUID } from 'node:crypto';
import type { Page } from '@playwright/test';
import type { Edition } from '../federation/site/edition.ts';
import { startSite } from '../federation/site/site.ts';
import { test as base, expect, toldBy, triesAgain } from '../person.ts';
import { startBackend } from '../product.ts';
import { startSlowLink } from '../slowLink.ts';
import { faults } from './matrix/faults.ts';
import { flows } from './matrix/flows.ts';
import type { Scene } from './matrix/scene.ts';

type Stage = Pick<Scene, 'site' | 'link' | 'backend' | 'editions'>;

const edition = (says: string): Edition => ({ remote: 'account', part: 'my', says });
const quickly = { STORYTELLER_START_DELAY_MS: '100', STORYTELLER_PIECE_DELAY_MS: '20' };
const unlimited = { RATE_LIMIT_REGISTER: '1000', RATE_LIMIT_LOGIN: '1000', RATE_LIMIT_WRITES: '10000' };

const test = base.extend<{ scene: Scene }, { stage: Stage }>({
  stage: [
    async ({ browserName: _ }, use) => {
      const backend = await startBackend({ ...quickly, ...unlimited });
      const site = await startSite({ BACKEND_URL: backend.url });
      const editions = [await site.publish(edition('旧的一版')), await site.publish(edition('新的一版'))] as const;
      await site.activate(editions[0]);
      const link = await startSlowLink(site.front.origin);
      await use({ site, link, backend, editions });
      link.stop();
      await site.stop();
      await backend.stop();
    },
    { scope: 'worker', timeout: 300_000 },
  ],
  baseURL: ({ stage }, use) => use(stage.link.origin),
  // a separate reader for each case, signed in on this device
  scene: async ({ stage, person, page, context }, use) => {
    stage.site.front.mend();
    stage.link.mend();
    const account = { login: `m${randomUUID().replaceAll('-', '').slice(0, 12)}`, password: '246810', name: '读书人' };
    const { request } = page.context();
    await request.get('/sanctum/csrf-cookie');
    const token = (await page.context().cookies()).find(({ name }) => name === 'XSRF-TOKEN')?.value ?? '';
    const headers = { Accept: 'application/json', 'X-XSRF-TOKEN': decodeURIComponent(token) };
    expect((await request.post('/api/v1/register', { data: account, headers })).status()).toBe(201);
    await person.returns(account);
    await use({ ...stage, person, page, context });
    stage.site.front.mend();
  },
});

test.describe.configure({ mode: 'parallel' });

const honest =
  /发送中|等待网络|点按重试|重新发送|稍后|重试|没有网络|连不上|排队中|正在书写|频繁|自动发出|等得太久|没有收到回应|暂时/;
const anyRetry = (page: Page) => page.getByRole('button', { name: /^(重试|刷新|刷新看看)$/ });

/** Taps what the page offers until the flow is done. */
async function insist(scene: Scene, flow: (typeof flows)[number]) {
  const nothing = scene.page.locator('nothing');
  const offered = anyRetry(scene.page).or(flow.again?.(scene) ?? nothing);
  const button = offered.filter({ visible: true }).and(scene.page.locator(':enabled')).first();
  const shown = flow.shown(scene).first();
  const onTheWay = (flow.onTheWay?.(scene) ?? nothing).first();
  await expect(async () => {
    if ((await shown.isVisible()) && !(await onTheWay.isVisible())) return;
    if (await button.isVisible()) await button.tap({ timeout: 5000 });
    await expect(shown).toBeVisible({ timeout: 5000 });
    await expect(onTheWay).toBeHidden({ timeout: 5000 });
  }).toPass({ timeout: 90_000 });
}

async function opens({ person, page }: Scene) {
  await person.open('/explore');
  await expect(page.locator('main a[href^="/story/"]').first()).toBeVisible();
}

const notBlank = (page: Page) => expect(page.locator('main').filter({ visible: true }).first()).not.toBeEmpty();

for (const fault of faults)
  for (const flow of flows.filter(({ act }) => act || !fault.onlyWrites))
    test(`${fault.name} × ${flow.name}: nothing lost, nothing doubled, and the page says what goes on`, async ({
      scene,
      page,
    }) => {
      await fault.prepare?.(scene);
      await opens(scene);
      if (flow.act) {
        await flow.towards(scene);
        await flow.ready(scene);
      }
      await fault.strike?.(scene);
      await (flow.act ?? flow.towards)(scene);
      await notBlank(page);
      const shown = flow.shown(scene).or(page.getByText(honest)).filter({ visible: true }).first();
      const isTold = async () => (await toldBy(page)).some((text) => honest.test(text));
      await expect.poll(async () => (await shown.isVisible()) || isTold()).toBe(true);
      await fault.mend?.(scene);
      await insist(scene, flow);
      await flow.once(scene);
      await page.reload();
      await notBlank(page);
      await flow.once(scene);
    });

for (const flow of flows)
  test(`a dead remote × ${flow.name}: a card in its pane, the rest alive, and 重试 leads on`, async ({
    scene,
    page,
  }) => {
    scene.site.front.breaks(new RegExp(`^/builds/${flow.remote}/`), { status: 404 });
    await opens(scene);
    await flow.towards(scene);
    const card = page.getByText('暂时打不开').filter({ visible: true });
    await expect(card.first()).toBeVisible();
    scene.site.front.mend();
    await triesAgain(page, anyRetry(page));
    await expect(card).toHaveCount(0);
    if (flow.name === 'profile')
      await page
        .getByRole('link', { name: /个人资料/ })
        .last()
        .tap();
    await flow.ready(scene);
    await flow.act?.(scene);
    await insist(scene, flow);
    await flow.once(scene);
  });
