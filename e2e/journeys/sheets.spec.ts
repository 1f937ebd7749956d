import { expect, type Person, test } from '../person.ts';

type Page = import('@playwright/test').Page;

/** Records motion in the page's dialogs: transitions of the panel, and scrolling. */
const noteMotion = (page: Page) =>
  page.addInitScript(() => {
    const seen: string[] = [];
    Reflect.set(globalThis, '__motion', seen);
    const isDialog = (target: EventTarget | null) => target instanceof HTMLElement && target.localName === 'dialog';
    document.addEventListener('scroll', ({ target }) => isDialog(target) && seen.push('scroll'), { capture: true });
    for (const type of ['transitionrun', 'transitionend'])
      document.addEventListener(type, (event) => {
        const { target, propertyName } = event as TransitionEvent;
        if (target instanceof HTMLElement && isDialog(target.parentElement)) seen.push(`${type} ${propertyName}`);
      });
  });

const motion = (page: Page) => page.evaluate(() => Reflect.get(globalThis, '__motion') as string[]);
const forget = (page: Page) => page.evaluate(() => void (Reflect.get(globalThis, '__motion') as string[]).splice(0));

async function opensSheet(person: Person) {
  await person.open('/my');
  await person.page.getByRole('button', { name: '注册账号' }).tap();
  await expect(person.popup()).toBeVisible();
}

const ways: Record<string, (page: Page) => Promise<unknown>> = {
  'the ✕': (page) => page.getByRole('button', { name: '关闭' }).tap(),
  Escape: (page) => page.keyboard.press('Escape'),
  'going back': (page) => page.goBack(),
  'a tap outside': (page) => page.touchscreen.tap(100, 40),
};

test.describe('a sheet', () => {
  test.beforeEach(({ page }) => noteMotion(page));

  test('slides in from the edge, and nothing scrolls to what takes the focus', async ({ person, page }) => {
    await opensSheet(person);
    await expect.poll(() => motion(page)).toContain('transitionend transform');
    expect(await motion(page)).not.toContain('scroll');
  });

  for (const [way, close] of Object.entries(ways)) {
    test(`slides out, closed by ${way}`, async ({ person, page }) => {
      await opensSheet(person);
      await expect.poll(() => motion(page)).toContain('transitionend transform');
      await forget(page);
      await close(page);
      await expect(person.popup()).toBeHidden();
      expect(await motion(page)).toContain('transitionrun transform');
    });
  }

  test('that closes while another document is on its way lets that come', async ({ person, page }) => {
    await opensSheet(person);
    await page.evaluate(() =>
      addEventListener('beforeunload', () => {
        document.querySelector<HTMLElement>('dialog[open] [aria-label="关闭"]')?.click();
        // after the task in which a closed sheet would step back
        setTimeout(() => setTimeout(() => fetch('/favicon.svg?closed')));
      }),
    );
    const closed = page.waitForRequest('**/favicon.svg?closed');
    await page.route('**/explore', async (route) => {
      await closed;
      await route.continue();
    });
    await person.open('/explore');
    await expect(page).toHaveURL('/explore');
  });

  test('stands and goes without motion for who wants none', async ({ person, page }) => {
    await page.emulateMedia({ reducedMotion: 'reduce' });
    for (const close of Object.values(ways)) {
      await opensSheet(person);
      await close(page);
      await expect(person.popup()).toBeHidden();
      expect(await motion(page)).toEqual([]);
      // going back over its history entry would cancel the next navigation
      await page.waitForFunction(() => !history.state?.overlays?.length);
    }
  });
});
