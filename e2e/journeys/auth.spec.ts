import { expect, test } from '../person.ts';

type Page = import('@playwright/test').Page;

const opened = async (page: Page) => {
  await page.goto('/my');
  await page
    .getByRole('button', { name: /登录|注册/ })
    .first()
    .click();
};

const refuseClipboard = (page: Page) =>
  page.addInitScript(() => {
    Object.defineProperty(navigator, 'clipboard', {
      value: { writeText: () => Promise.reject(new Error('refused')) },
    });
    document.execCommand = () => false;
  });

test.describe('the auth popup', () => {
  test('opens to register with everything filled in', async ({ person, page }) => {
    await opened(page);
    const popup = person.popup();
    await expect(popup.locator('input[name="login"]')).toHaveValue(/^a\d+$/);
    await expect(popup.locator('input[name="password"]')).toHaveValue(/^\d{6}$/);
    await expect(popup.locator('input[name="name"]')).toHaveValue(/^\p{Script=Han}{2,4}$/u);
    await expect(popup.getByRole('radio')).toHaveCount(2);
  });

  test('gender and refresh bring another nickname', async ({ person, page }) => {
    await opened(page);
    const popup = person.popup();
    const name = popup.locator('input[name="name"]');
    const refresh = popup.getByRole('button', { name: '换一个昵称' });
    const genders = ['女', '男'].map((gender) => popup.getByRole('radio', { name: gender }));
    for (const renewals of [genders, [refresh, refresh]]) {
      const names = new Set([await name.inputValue()]);
      for (const renew of [...renewals, ...renewals, ...renewals]) {
        await renew.click();
        names.add(await name.inputValue());
      }
      expect(names.size).toBeGreaterThan(4);
    }
  });

  test('switching clears for login and fills again for register', async ({ person, page }) => {
    await opened(page);
    const popup = person.popup();
    await popup.getByRole('button', { name: /登录/ }).first().click();
    await expect(popup.locator('input[name="login"]')).toHaveValue('');
    await expect(popup.locator('input[name="password"]')).toHaveValue('');
    await expect(popup.locator('input[name="password"]')).toHaveAttribute('type', 'password');
    await popup.getByRole('button', { name: /注册/ }).first().click();
    await expect(popup.locator('input[name="login"]')).toHaveValue(/^a\d+$/);
  });

  test('a double tap on register makes one account', async ({ person, page }) => {
    await opened(page);
    const posts: string[] = [];
    page.on('request', (request) => request.url().endsWith('/v1/register') && posts.push(request.url()));
    await person.popup().getByRole('button', { name: '注册（请截图保存）' }).dblclick();
    await person.dismissCopyDialog();
    await expect(person.popup()).toBeHidden();
    expect(posts).toHaveLength(1);
  });

  test('a wrong password is said at the field and in a toast', async ({ person, page }) => {
    const account = await person.joins();
    await person.losesSession();
    await page.evaluate(() => localStorage.clear());
    await opened(page);
    const popup = person.popup();
    await popup.getByRole('button', { name: /登录/ }).first().click();
    await popup.locator('input[name="login"]').fill(account.login);
    await popup.locator('input[name="password"]').fill('000000x');
    const answer = page.waitForResponse(
      (response) => response.url().endsWith('/v1/login') && response.status() !== 419,
    );
    await popup.getByRole('button', { name: '登录', exact: true }).click();
    expect((await answer).status()).toBe(422);
    await expect(
      popup.locator('input[name="login"][aria-invalid="true"], input[name="password"][aria-invalid="true"]').first(),
    ).toBeVisible();
    await popup.locator('input[name="password"]').fill(account.password);
    await popup.getByRole('button', { name: '登录', exact: true }).click();
    await person.isTold('登录成功');
    await expect(popup).toBeHidden();
  });

  test('any 401 opens it to register with the password shown', async ({ person }) => {
    await person.joins();
    await person.losesSession();
    await person.open('/my');
    const popup = person.popup();
    await expect(popup).toBeVisible();
    await expect(popup.locator('input[name="password"]')).toHaveAttribute('type', 'text');
    await expect(popup.getByRole('button', { name: '注册（请截图保存）' })).toBeVisible();
  });
});

test.describe('what is missing or breaks a rule is said at its field, in the product’s words', () => {
  /** Text that describes an invalid field. */
  const saidAt = async (page: Page, name: string) => {
    const field = page.locator(`input[name="${name}"][aria-invalid="true"]`);
    await expect(field).toBeVisible();
    return page.locator(`[id="${await field.getAttribute('aria-describedby')}"]`).textContent();
  };

  test('signing up', async ({ person, page }) => {
    await opened(page);
    const popup = person.popup();
    for (const name of ['login', 'name']) await popup.locator(`input[name="${name}"]`).fill('');
    await popup.locator('input[name="password"]').fill('12345');
    await popup.getByRole('button', { name: '注册（请截图保存）' }).tap();
    expect(await saidAt(page, 'name')).toBe('请填写昵称');
    expect(await saidAt(page, 'login')).toBe('请填写用户名');
    expect(await saidAt(page, 'password')).toBe('密码至少 6 位');
    await expect(popup.locator('input[name="name"]')).toBeFocused();
    // another nickname is valid, and typing clears the error
    await popup.getByRole('button', { name: '换一个昵称' }).tap();
    await expect(popup.locator('input[name="name"][aria-invalid]')).toHaveCount(0);
    await popup.locator('input[name="login"]').fill('a');
    await expect(popup.locator('input[name="login"][aria-invalid]')).toHaveCount(0);
  });

  test('signing in', async ({ person, page }) => {
    await opened(page);
    const popup = person.popup();
    await popup.getByRole('button', { name: /登录/ }).first().click();
    await popup.locator('input[name="login"]').fill('fox');
    await popup.getByRole('button', { name: '登录', exact: true }).tap();
    expect(await saidAt(page, 'password')).toBe('请填写密码');
    await expect(popup.locator('input[name="password"]')).toBeFocused();
    await expect(popup.locator('input[name="login"][aria-invalid]')).toHaveCount(0);
  });
});

test('the gender chosen at registration stands in the profile', async ({ person, page }) => {
  await opened(page);
  // on the label, which is the touch target, after the sheet's animation
  await person.popup().locator('label', { hasText: '女' }).click();
  await person.register();
  await page
    .getByRole('link', { name: /个人资料/ })
    .last()
    .tap();
  await expect(page.getByRole('radio', { name: '女' })).toBeChecked();
  await expect
    .poll(async () => (await person.read<{ data: object }>('/api/v1/user')).data)
    .toMatchObject({ gender: 'female' });
});

test('the popup stays above a keyboard that lies over the page', async ({ person, page }) => {
  // imitates Safari's keyboard, which Chromium does not emulate: the window keeps its height, the visual viewport shrinks
  await page.addInitScript(() => {
    const view = Object.assign(new EventTarget(), { height: window.innerHeight, offsetTop: 0, scale: 1 });
    Object.defineProperty(window, 'visualViewport', { value: view });
  });
  await opened(page);
  const popup = person.popup();
  await popup.getByRole('button', { name: /登录/ }).first().click();
  await popup.locator('input[name="password"]').focus();
  const inSight = await page.evaluate(() => {
    const height = window.innerHeight - 336;
    Object.assign(window.visualViewport as VisualViewport, { height }).dispatchEvent(new Event('resize'));
    return height;
  });
  const bottomOf = (name: string) =>
    popup.getByRole('button', { name, exact: true }).evaluate((button) => button.getBoundingClientRect().bottom);
  expect(await bottomOf('登录')).toBeLessThanOrEqual(inSight);
  await expect(popup.locator('input[name="password"]')).toBeInViewport();
  // the taller form scrolls inside the remaining space
  await popup.getByRole('button', { name: /注册/ }).first().click();
  const submit = popup.getByRole('button', { name: '注册（请截图保存）' });
  await submit.scrollIntoViewIfNeeded();
  expect(await bottomOf('注册（请截图保存）')).toBeLessThanOrEqual(inSight);
  expect(await popup.getByRole('heading').evaluate((heading) => heading.getBoundingClientRect().top)).toBeGreaterThan(
    0,
  );
});

test('a registration whose answer is lost is found again by the second press', async ({ person, page }) => {
  let isLost = false;
  await page.route('**/api/v1/register', async (route) => {
    const answer = await route.fetch();
    if (isLost) return route.fulfill({ response: answer });
    isLost = true;
    return route.abort();
  });
  await opened(page);
  const popup = person.popup();
  const name = await popup.locator('input[name="name"]').inputValue();
  const register = popup.getByRole('button', { name: '注册（请截图保存）' });
  await register.click();
  await person.isTold('连不上服务');
  await register.click();
  await person.dismissCopyDialog();
  await expect(popup).toBeHidden();
  await expect(page.getByText(name).first()).toBeVisible();
});

test.describe('credentials that the clipboard refuses', () => {
  test('stand in a dialog that only its button closes', async ({ person, page }) => {
    await refuseClipboard(page);
    await opened(page);
    const login = await person.popup().locator('input[name="login"]').inputValue();
    await person.popup().getByRole('button', { name: '注册（请截图保存）' }).click();
    const dialog = page.getByRole('alertdialog').filter({ hasText: '自动复制失败' });
    await expect(dialog).toBeVisible();
    await expect(dialog.getByText('请手工复制账号密码')).toBeVisible();
    await expect(dialog.getByRole('textbox')).toHaveValue(new RegExp(login));
    await page.mouse.click(5, 5);
    for (let press = 0; press < 4; press += 1) await page.keyboard.press('Escape');
    await page.goBack();
    await expect(dialog).toBeVisible();
    await dialog.getByRole('button', { name: '我已经复制' }).click();
    await expect(dialog).toBeHidden();
    // one tap closes both sheet and dialog: one step back past both, without leaving the app
    await expect(person.popup()).toBeHidden();
    await expect(page).toHaveURL('/my');
    await expect(page.getByRole('heading', { name: '我的' })).toBeVisible();
  });

  test('outlive the page until they are copied', async ({ person, page }) => {
    await refuseClipboard(page);
    await opened(page);
    await person.popup().getByRole('button', { name: '注册（请截图保存）' }).click();
    const box = page.getByRole('alertdialog').filter({ hasText: '自动复制失败' }).getByRole('textbox');
    const credentials = await box.inputValue();
    await page.reload();
    await expect(box).toHaveValue(credentials);
    await page.getByRole('button', { name: '我已经复制' }).click();
    await expect(box).toBeHidden();
    await page.reload();
    await expect(page.getByRole('button', { name: '退出登录' })).toBeVisible();
    await expect(box).toBeHidden();
    expect(await person.kept()).not.toContain(credentials.replace(/^.*\n/, ''));
  });
});
