import { expect, holdBack, type Person, test } from '../person.ts';
import { seededAccount } from '../seeds.ts';

const user = async (person: Person) =>
  (
    await person.read<{
      data: { name: string; avatar: string; persona: string; balance: number; invite_code: string };
    }>('/api/v1/user')
  ).data;

test('who edits the profile is asked before the changes are lost, and finds them after saving', async ({
  person,
  page,
}) => {
  await person.returns(await seededAccount({}));
  await person.open('/my');
  await page
    .getByRole('link', { name: /个人资料/ })
    .last()
    .tap();
  const persona = page.getByRole('textbox', { name: /人设/ });
  await persona.fill('赶考的书生');
  await expect(page.getByText('有修改还没保存')).toBeVisible();
  await page.goBack();
  const question = page.getByRole('alertdialog').or(page.getByRole('dialog')).filter({ hasText: '修改还没保存' });
  await question.getByRole('button', { name: '继续编辑' }).tap();
  await expect(persona).toHaveValue('赶考的书生');
  await page.locator('input[name="name"]').fill('新名字');
  await page.getByRole('radio', { name: '头像 3' }).check({ force: true });
  await page.getByRole('button', { name: '保存', exact: true }).tap();
  await expect(page.getByText('已保存')).toBeVisible();
  await page.getByRole('button', { name: '返回' }).tap();
  await expect(page).toHaveURL('/my');
  await expect(page.getByText('新名字')).toBeVisible();
  const saved = await user(person);
  expect(saved).toMatchObject({ name: '新名字', persona: '赶考的书生' });
  expect(saved.avatar).toMatch(/^\/api\/media\/avatars\//);
});

test('我的 stands still while the balance and the days in a row arrive', async ({ person, page }) => {
  await person.returns(await seededAccount({}));
  const arrive = await holdBack(page, /\/api\/v1\/user$|\/builds\/wallet\//);
  await person.open('/my');
  const entry = page.getByRole('link', { name: /个人资料/ }).last();
  await expect(entry).toBeVisible();
  await expect(page.getByText('充值', { exact: true })).toHaveCount(1);
  const before = await entry.boundingBox();
  arrive();
  await expect(page.getByText('充值', { exact: true })).toHaveCount(2);
  await expect(page.getByRole('button', { name: /看整月/ })).toBeVisible();
  const after = await entry.boundingBox();
  expect(Math.abs((after?.y ?? 0) - (before?.y ?? 99))).toBeLessThanOrEqual(1);
});

test('giving up the changes leaves the profile as it was', async ({ person, page }) => {
  await person.returns(await seededAccount({}));
  await person.open('/my');
  await page
    .getByRole('link', { name: /个人资料/ })
    .last()
    .tap();
  await page.getByRole('textbox', { name: /人设/ }).fill('不要了');
  await page.getByRole('button', { name: '返回' }).tap();
  await page.getByRole('button', { name: '不保存，离开' }).tap();
  await expect(page).toHaveURL('/my');
  expect((await user(person)).persona ?? '').toBe('');
});

test('a new password ends the other sessions and signs in from then on', async ({ person, page, anotherBrowser }) => {
  const account = await seededAccount({});
  const elsewhere = await anotherBrowser();
  const other = person.at(await elsewhere.newPage());
  await other.returns(account);
  await other.open('/my/profile');
  await expect(other.page.getByRole('textbox', { name: /人设/ })).toBeVisible();
  await person.returns(account);
  await person.open('/my/profile');
  await page.locator('input[name="current_password"]').fill('wrong-one');
  await page.locator('input[name="password"]').fill('深夜叩门的人');
  await page.locator('input[name="password_confirmation"]').fill('深夜叩门的人');
  await page.getByRole('button', { name: '修改密码' }).tap();
  await expect(page.locator('input[name="current_password"][aria-invalid="true"]')).toBeVisible();
  await page.locator('input[name="current_password"]').fill(account.password);
  await page.getByRole('button', { name: '修改密码' }).tap();
  await person.isTold('密码已修改');
  // reported over the socket; a reload while the popup opens would disturb the browser's history
  await expect(other.popup()).toBeVisible();
  await other.page.reload();
  await other.signIn({ login: account.login, password: '深夜叩门的人' });
  await expect(other.page.getByRole('textbox', { name: /人设/ })).toBeVisible();
});

test('a password that breaks a rule shows why at its field, before anything is sent', async ({ person, page }) => {
  await person.returns(await seededAccount({}));
  await person.open('/my/profile');
  const field = (name: string) => page.locator(`input[name="${name}"]`);
  const form = page.getByRole('form', { name: '修改密码' });
  await expect(form.getByText('至少 6 位')).toBeVisible();
  await form.getByRole('button', { name: '修改密码' }).tap();
  await expect(form.getByText('请填写当前密码')).toBeVisible();
  await expect(form.getByText('请填写新密码')).toBeVisible();
  await expect(field('current_password')).toBeFocused();
  await field('current_password').fill('246810');
  await field('password').fill('月下叩门');
  await field('password_confirmation').fill('月下叩门');
  await form.getByRole('button', { name: '修改密码' }).tap();
  await expect(form.getByText('密码至少 6 位')).toBeVisible();
  await expect(field('password')).toBeFocused();
  await expect(field('password')).toHaveAttribute('aria-invalid', 'true');
});

test('who comes by an invite link brings points to both', async ({ person, page, anotherBrowser }) => {
  await person.returns(await seededAccount({ balance: 200 }));
  await person.open('/my');
  const { invite_code } = await user(person);
  await expect(page.getByText(invite_code)).toBeVisible();
  const elsewhere = await anotherBrowser();
  const friend = person.at(await elsewhere.newPage());
  // a tap before the app has started is plain navigation
  const hostScript = '**/builds/host/**/*.js';
  await friend.page.route(hostScript, () => {});
  await friend.open(`/?invite=${invite_code}`);
  await friend.page.getByRole('navigation').getByRole('link', { name: '我的' }).tap();
  await expect(friend.page).toHaveURL(/\/my$/);
  await friend.page.unroute(hostScript);
  const greeting = friend.page.getByRole('dialog', { name: '好友的邀请' });
  await expect(greeting.getByText(/邀请你一起读故事/)).toBeVisible();
  await greeting.getByRole('button', { name: '接受邀请，去注册' }).tap();
  await expect(friend.popup().getByText(`邀请码 ${invite_code}`)).toBeVisible();
  await friend.register();
  await expect(friend.page.getByRole('region', { name: '余额' })).toContainText('120');
  await expect(page.getByRole('region', { name: '余额' })).toContainText('250');
  await person.isTold('应邀来了，你得 50 点');
});

test('a check-in counts once a day, however often it is tapped', async ({ person, page }) => {
  await person.returns(await seededAccount({ balance: 100 }));
  await person.open('/my');
  await page.getByRole('button', { name: '签到，领 10 点' }).dblclick();
  await expect(page.getByText('签到成功，得 10 点，已连续 1 天')).toBeVisible();
  await expect(page.getByText('今日已签到，明天可领 12 点')).toBeVisible();
  await expect(page.getByRole('region', { name: '余额' })).toContainText('110');
  await page.reload();
  await expect(page.getByText('今日已签到，明天可领 12 点')).toBeVisible();
  await expect(page.getByRole('button', { name: /^签到/ })).toHaveCount(0);
  expect((await user(person)).balance).toBe(110);
});

test('sec.user-switch: logging out leaves nothing of the user on the device, but theme and font size', async ({
  person,
  page,
}) => {
  const account = await seededAccount({ story: 'nie-xiaoqian', messages: 4 });
  await person.returns(account);
  await person.opensChat();
  const { data } = await person.latest();
  await page.getByRole('textbox', { name: '说点什么' }).fill('一段没有写完的话');
  await person.open('/conversations');
  await expect(page.getByText('聂小倩').first()).toBeVisible();
  await page.getByRole('navigation').getByRole('link', { name: '我的' }).tap();
  await page.getByRole('radio', { name: '深色' }).check({ force: true });
  await page.getByRole('radio', { name: '特大' }).check({ force: true });
  const { id } = (await person.read<{ data: { id: string } }>('/api/v1/user')).data;
  expect(await person.kept()).toContain(id);
  await page.getByRole('button', { name: '退出登录' }).tap();
  await page.getByRole('alertdialog').or(page.getByRole('dialog')).getByRole('button', { name: '退出登录' }).tap();
  await expect(page.getByRole('button', { name: '注册账号' })).toBeVisible();
  const traces = [id, account.login, '一段没有写完的话', data[0]?.body ?? '?', '读书人'];
  const found = async () => {
    const kept = await person.kept();
    return traces.filter((trace) => kept.includes(trace));
  };
  await expect.poll(found).toEqual([]);
  // cached screens contain nothing of the user either
  await page.getByRole('navigation').getByRole('link', { name: '聊过' }).tap();
  await expect(page.getByText('聊过的故事会留在这里')).toBeVisible();
  expect(await page.content()).not.toContain(account.login);
  await person.open('/my');
  await expect(page.getByRole('radio', { name: '深色' })).toBeChecked();
  await expect(page.getByRole('radio', { name: '特大' })).toBeChecked();
});

test('theme and font size are kept and change what is seen', async ({ person, page }) => {
  await person.open('/my');
  const look = () =>
    page.evaluate(() => [
      getComputedStyle(document.body).backgroundColor,
      getComputedStyle(document.documentElement).fontSize,
    ]);
  const before = await look();
  await page.getByRole('radio', { name: '深色' }).check({ force: true });
  await page.getByRole('radio', { name: '特大' }).check({ force: true });
  const chosen = await look();
  expect(chosen[0]).not.toBe(before[0]);
  await page.reload();
  await expect(page.getByRole('radio', { name: '深色' })).toBeChecked();
  expect(await look()).toEqual(chosen);
});

test.describe('in a session that has run out the sign-in popup alone speaks', () => {
  /** Input before the session ends, and the button whose request finds that out. */
  const acts: Record<string, { path: string; fields: Record<string, string>; button: RegExp }> = {
    'checking in': { path: '/my', fields: {}, button: /^签到/ },
    'saving the profile': { path: '/my/profile', fields: { persona: '赶考的书生' }, button: /^保存$/ },
    'changing the password': {
      path: '/my/profile',
      fields: { current_password: '246810', password: '135791', password_confirmation: '135791' },
      button: /^修改密码$/,
    },
  };
  for (const [name, { path, fields, button }] of Object.entries(acts))
    test(name, async ({ person, page, context }) => {
      await person.returns(await seededAccount({}));
      await person.open(path);
      for (const [field, text] of Object.entries(fields)) await page.locator(`[name="${field}"]`).fill(text);
      await expect(page.getByRole('button', { name: button })).toBeEnabled();
      await person.isSettled();
      await context.clearCookies();
      await page.getByRole('button', { name: button }).tap();
      await expect(person.popup().locator('input[name="password"]')).toBeVisible();
      await expect(page.getByText(/出了点问题|请先登录|Unauthenticated/)).toHaveCount(0);
    });

  test('who signs in again finds the address that they were binding', async ({ person, page, context }) => {
    const account = await seededAccount({});
    await person.returns(account);
    await person.open('/my/security');
    await page.getByRole('button', { name: '绑定邮箱' }).tap();
    const address = page.getByRole('textbox', { name: '新邮箱' });
    await address.fill('wang@mail.example');
    await page.locator('input[name="current_password"]').fill('246810');
    await person.isSettled();
    await context.clearCookies();
    await page.getByRole('button', { name: '发送确认邮件' }).tap();
    await person.signIn(account);
    await expect(address).toHaveValue('wang@mail.example');
  });

  test('who signs in again finds what they typed, and the next press saves it', async ({ person, page, context }) => {
    const account = await seededAccount({});
    await person.returns(account);
    await person.open('/my/profile');
    const persona = page.getByRole('textbox', { name: /人设/ });
    const currentPassword = page.locator('input[name="current_password"]');
    await persona.fill('赶考的书生');
    await currentPassword.fill('246810');
    await person.isSettled();
    await context.clearCookies();
    await page.getByRole('button', { name: '保存', exact: true }).tap();
    await person.signIn(account);
    await expect(persona).toHaveValue('赶考的书生');
    await expect(currentPassword).toHaveValue('246810');
    await page.getByRole('button', { name: '保存', exact: true }).tap();
    await expect(page.getByText('已保存')).toBeVisible();
    expect((await user(person)).persona).toBe('赶考的书生');
  });
});

test('no field of the profile moves when the portraits arrive', async ({ person, page }) => {
  await person.returns(await seededAccount({}));
  const arrive = await holdBack(page, /avatars\.json$/);
  await person.open('/my/profile');
  const name = page.getByLabel('昵称');
  await expect(name).toBeVisible();
  const before = await name.boundingBox();
  arrive();
  await expect(page.getByRole('radio', { name: /头像/ })).toHaveCount(12);
  expect(await name.boundingBox()).toEqual(before);
});
