import { expect, test } from '../person.ts';
import { seededAccount } from '../seeds.ts';

test('signing in and logging out follow in the other tab', async ({ person, page, context }) => {
  const account = await seededAccount({});
  await person.open('/my');
  const other = await context.newPage();
  await other.goto('/my');
  await expect(other.getByRole('button', { name: '注册账号' })).toBeVisible();
  await page.bringToFront();
  await page.getByRole('button', { name: '已有账号，登录' }).tap();
  await person.signIn(account);
  await expect(other.getByText(`用户名 ${account.login}`)).toBeVisible();
  await other.bringToFront();
  await other.getByRole('button', { name: '退出登录' }).tap();
  await other.getByRole('alertdialog').or(other.getByRole('dialog')).getByRole('button', { name: '退出登录' }).tap();
  await expect(other.getByRole('button', { name: '注册账号' })).toBeVisible();
  await expect(page.getByRole('button', { name: '注册账号' })).toBeVisible();
});

test('a draft and a line that waits are the same in both tabs', async ({ person, page, context }) => {
  await person.returns(await seededAccount({}));
  await person.opensChat();
  const other = person.at(await context.newPage());
  await other.opensChat();
  const field = page.getByRole('textbox', { name: '说点什么' });
  const otherField = other.page.getByRole('textbox', { name: '说点什么' });
  await field.fill('两处写的是一封信');
  await expect(otherField).toHaveValue('两处写的是一封信');
  await page.bringToFront();
  await context.setOffline(true);
  await page.getByRole('button', { name: '发送', exact: true }).tap();
  await expect(other.log().getByText('两处写的是一封信', { exact: true })).toBeVisible();
  await expect(other.log().getByText('等待网络')).toBeVisible();
  await expect(otherField).toHaveValue('');
  await context.setOffline(false);
  for (const tab of [person, other]) {
    await expect(tab.log().getByText('等待网络')).toHaveCount(0);
    await expect(tab.log().getByText('两处写的是一封信', { exact: true })).toHaveCount(1);
  }
  const written = async () => (await person.latest()).data.filter(({ role }) => role === 'user').length;
  await expect.poll(written).toBe(1);
});

test('a picture of a reply that the other tab has retold closes, and shows no empty page', async ({
  person,
  page,
  context,
}) => {
  await person.returns(await seededAccount({ story: 'nie-xiaoqian', messages: 4 }));
  await person.opensChat();
  await person
    .log()
    .getByRole('article')
    .last()
    .getByRole('button', { name: /更多操作/ })
    .tap();
  await page.getByRole('button', { name: '生成图片' }).tap();
  const picture = page.getByRole('dialog', { name: '生成图片' });
  await expect(picture.getByRole('img')).toBeVisible();
  const other = person.at(await context.newPage());
  await other.opensChat();
  await other.page.getByRole('button', { name: /^换一种说法/ }).tap();
  await page.bringToFront();
  await expect(picture).toBeHidden();
});

test('another account in one tab takes the former one out of the other', async ({ person, page, context }) => {
  const [first, second] = [await seededAccount({}), await seededAccount({})];
  await person.returns(first);
  await person.open('/my');
  await expect(page.getByText(`用户名 ${first.login}`)).toBeVisible();
  const other = person.at(await context.newPage());
  await other.open('/my');
  await page.bringToFront();
  await page.getByRole('button', { name: '退出登录' }).tap();
  await page.getByRole('alertdialog').or(page.getByRole('dialog')).getByRole('button', { name: '退出登录' }).tap();
  await page.getByRole('button', { name: '已有账号，登录' }).tap();
  await person.signIn(second);
  await expect(other.page.getByText(`用户名 ${second.login}`)).toBeVisible();
  await expect(other.page.getByText(first.login)).toHaveCount(0);
});
