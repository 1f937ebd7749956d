import { randomUUID } from 'node:crypto';
import { expect, type Person, test } from '../person.ts';
import { mailsTo } from '../seeds.ts';

const password = '隔壁灯还亮着';

/** Path of the link in the newest mail to an address. */
async function linkSentTo(address: string): Promise<string> {
  await expect.poll(() => mailsTo(address).length).toBeGreaterThan(0);
  const link =
    mailsTo(address)
      .at(-1)
      ?.match(/https?:\/\/\S+\/email\/verify\/\S+/)?.[0] ?? '';
  const { pathname, search } = new URL(link);
  return pathname + search;
}

/** Registers with an email address. Returns while the popup waits for its confirmation. */
async function registersByMail(person: Person): Promise<string> {
  const address = `reader-${randomUUID().slice(0, 8)}@example.org`;
  await person.open('/my');
  await person.page.getByRole('button', { name: '注册账号' }).tap();
  await person.popup().locator('input[name="login"]').fill(address);
  await person.popup().locator('input[name="password"]').fill(password);
  await person.popup().getByRole('button', { name: '注册（请截图保存）' }).tap();
  await expect(waiting(person)).toContainText(address);
  return address;
}

const waiting = ({ page }: Person) => page.getByRole('dialog', { name: '确认邮箱' });

test('an address is confirmed by the link of its mail, in the browser that registered: signed in', async ({
  person,
  page,
}) => {
  const address = await registersByMail(person);
  expect(await page.evaluate(() => localStorage.getItem('user-store'))).toBeNull();
  await person.open(await linkSentTo(address));
  await expect(page.getByText('邮箱已确认，欢迎来到聊斋。')).toBeVisible();
  await person.open('/my');
  await expect(page.getByText(`用户名 ${address}`)).toBeVisible();
});

test('opened on another device the link confirms and leads to the log-in', async ({ person, anotherBrowser }) => {
  const address = await registersByMail(person);
  const elsewhere = await anotherBrowser();
  const phone = person.at(await elsewhere.newPage());
  await phone.open(await linkSentTo(address));
  await expect(phone.page.getByText('邮箱已确认，请登录。')).toBeVisible();
  await phone.page.getByRole('button', { name: '去登录' }).tap();
  await phone.signIn({ login: address, password });
  await expect(phone.page).toHaveURL('/explore');
  await phone.open('/my');
  await expect(phone.page.getByText(`用户名 ${address}`)).toBeVisible();
});

test('confirmed on another device, the waiting window signs in automatically', async ({
  person,
  page,
  anotherBrowser,
}) => {
  const address = await registersByMail(person);
  const elsewhere = await anotherBrowser();
  const phone = person.at(await elsewhere.newPage());
  await phone.open(await linkSentTo(address));
  await expect(phone.page.getByText('邮箱已确认，请登录。')).toBeVisible();
  await person.isTold('邮箱已确认，欢迎来到聊斋。');
  await expect(waiting(person)).toBeHidden();
  await expect(page.getByText(`用户名 ${address}`)).toBeVisible();
});

test('the mail can be sent again after a pause, and a refusal is said', async ({ person, page }) => {
  await page.clock.install();
  const address = await registersByMail(person);
  const counting = waiting(person).getByRole('button', { name: /^\d+ 秒后可重新发送$/ });
  const again = waiting(person).getByRole('button', { name: '重新发送', exact: true });
  await expect(counting).toBeDisabled();
  await page.clock.fastForward(61_000);
  await again.tap();
  await person.isTold('确认邮件已发送');
  await expect.poll(() => mailsTo(address).length).toBe(2);
  await expect(counting).toBeDisabled();
  // still counts down after it was closed and reopened
  await page.clock.fastForward(20_000);
  await waiting(person).getByRole('button', { name: '返回登录' }).tap();
  await person.popup().locator('input[name="login"]').fill(address);
  await person.popup().locator('input[name="password"]').fill(password);
  await person.popup().getByRole('button', { name: '登录', exact: true }).tap();
  await expect(counting).toBeDisabled();
  await page.clock.fastForward(61_000);
  await page.route('**/email/verification-notification/resend', (route) =>
    route.fulfill({ status: 500, contentType: 'application/json', body: '{}' }),
  );
  await again.tap();
  await person.isTold('发送失败');
});

test('a log-in before the confirmation comes to the same wait', async ({ person, page }) => {
  const address = await registersByMail(person);
  await waiting(person).getByRole('button', { name: '返回登录' }).tap();
  const popup = person.popup();
  await popup.locator('input[name="login"]').fill(address);
  await popup.locator('input[name="password"]').fill(password);
  await popup.getByRole('button', { name: '登录', exact: true }).tap();
  await expect(waiting(person)).toContainText(address);
  expect(await page.evaluate(() => localStorage.getItem('user-store'))).toBeNull();
});

test('a link that was tampered with confirms nothing, says so, and another one is a tap away', async ({
  person,
  page,
}) => {
  const address = await registersByMail(person);
  const link = await linkSentTo(address);
  await page.clock.install();
  await person.open(link.replace(/signature=\w{4}/, 'signature=0000'));
  await expect(page.getByText('链接无效或已过期')).toBeVisible();
  await expect(page.getByRole('link', { name: '去看故事' })).toBeVisible();
  await expect(page.getByText(/^邮箱已确认/)).toHaveCount(0);
  await page.clock.fastForward(61_000);
  await page.getByRole('button', { name: '重新发送' }).tap();
  await person.isTold('确认邮件已发送');
  await expect.poll(() => mailsTo(address).length).toBe(2);
  await person.open(await linkSentTo(address));
  await expect(page.getByText('邮箱已确认，欢迎来到聊斋。')).toBeVisible();
});

test('a bad link on a device that knows nothing of the account leads through the log-in to another', async ({
  person,
  anotherBrowser,
}) => {
  const address = await registersByMail(person);
  const link = await linkSentTo(address);
  const elsewhere = await anotherBrowser();
  const phone = person.at(await elsewhere.newPage());
  await phone.open(link.replace(/signature=\w{4}/, 'signature=0000'));
  await phone.page.getByRole('button', { name: '登录后重新发送' }).tap();
  await phone.popup().locator('input[name="login"]').fill(address);
  await phone.popup().locator('input[name="password"]').fill(password);
  await phone.popup().getByRole('button', { name: '登录', exact: true }).tap();
  await waiting(phone).getByRole('button', { name: '重新发送' }).tap();
  await expect.poll(() => mailsTo(address).length).toBe(2);
});

test('a forgotten password is replaced by the link of a mail, and devices signed in elsewhere have to sign in again', async ({
  person,
  anotherBrowser,
}) => {
  const address = await registersByMail(person);
  await person.open(await linkSentTo(address));
  await expect(person.page.getByText('邮箱已确认，欢迎来到聊斋。')).toBeVisible();
  const elsewhere = await anotherBrowser();
  const phone = person.at(await elsewhere.newPage());
  await phone.open('/my');
  await phone.page.getByRole('button', { name: '已有账号，登录' }).tap();
  await phone.page.getByRole('button', { name: '忘记密码？' }).tap();
  await phone.page.getByRole('textbox', { name: '邮箱' }).fill(address);
  await phone.page.getByRole('button', { name: '发送链接' }).tap();
  await expect.poll(() => mailsTo(address).at(-1)).toContain('/reset-password?');
  const { pathname, search } = new URL(
    mailsTo(address)
      .at(-1)
      ?.match(/https?:\/\/\S+/)?.[0] ?? '',
  );
  await phone.open(pathname + search);
  await phone.page.getByRole('textbox', { name: '新密码' }).fill('灯灭了再点上');
  await phone.page.getByRole('button', { name: '保存并登录' }).tap();
  await expect(phone.page).toHaveURL('/explore');
  await person.open('/my/profile');
  await expect(person.popup()).toContainText('登录已过期，你的对话都在');
});
