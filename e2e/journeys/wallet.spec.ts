import { expect, test } from '../person.ts';
import { seededAccount } from '../seeds.ts';

test('the ledger groups by day, adds up, filters by kind, and follows live', async ({ person, page, context }) => {
  await person.returns(await seededAccount({ balance: 500 }));
  await person.open('/my/wallet/transactions');
  const today = page.getByRole('region', { name: '今天' });
  await expect(today.getByRole('listitem')).toHaveCount(2);
  await expect(today).toContainText('+100');
  await expect(today).toContainText('余额 500 点');
  const elsewhere = await context.newPage();
  await elsewhere.goto('/my');
  await elsewhere.getByRole('button', { name: /^签到/ }).tap();
  await expect(elsewhere.getByText('签到成功')).toBeVisible();
  await elsewhere.close();
  await expect(today.getByRole('listitem').first()).toContainText('+10');
  await expect(page.getByText('510', { exact: true }).first()).toBeVisible();
  await page.getByRole('button', { name: '签到', exact: true }).tap();
  await expect(today.getByRole('listitem')).toHaveCount(1);
  await page.reload();
  await expect(today.getByRole('listitem')).toHaveCount(1);
  await page.getByRole('button', { name: '续写', exact: true }).tap();
  await expect(page.getByText('这一类还没有明细')).toBeVisible();
});

test('充值 says truthfully that nobody can pay yet, and what gives points instead', async ({ person, page }) => {
  await page.route('**/api/v1/capabilities', (route) => route.fulfill({ json: { data: [] } }));
  await person.returns(await seededAccount({ balance: 42 }));
  await person.open('/my/wallet/recharge');
  await expect(page.getByText('42', { exact: true })).toBeVisible();
  await expect(page.getByRole('heading', { name: '充值还没有开通' })).toBeVisible();
  await expect(page.getByRole('button', { name: /支付/ })).toHaveCount(0);
  await expect(page.getByRole('link', { name: /支付/ })).toHaveCount(0);
  await page.getByRole('link', { name: /每日签到/ }).tap();
  await expect(page.getByRole('button', { name: /^签到/ })).toBeVisible();
});

test('points are bought: order, checkout, back to the order, credited once, receipt in the ledger', async ({
  person,
  page,
}) => {
  await person.returns(await seededAccount({ balance: 42 }));
  await person.open('/my/wallet/recharge');
  await page.getByRole('button', { name: '去付款 ¥6.00' }).tap();
  await expect(page.getByText('沙盒付款，不会真的扣款')).toBeVisible();
  await page.getByRole('button', { name: '取消' }).tap();
  await expect(page.getByRole('heading', { name: '等待付款' })).toBeVisible();
  // as after closing the tab: the open order is offered again
  await person.open('/my/wallet/recharge');
  await page.getByRole('region', { name: '还没付款的订单' }).getByRole('link').tap();
  await page.getByRole('link', { name: '去付款' }).tap();
  await page.getByRole('button', { name: '付款成功' }).tap();
  await expect(page.getByRole('heading', { name: '充值成功' })).toBeVisible();
  await expect(page.getByText('102', { exact: true })).toBeVisible();
  await page.getByRole('link', { name: '看消费明细' }).tap();
  await expect(page.getByRole('link', { name: /^订单 \d{16} · ¥6\.00 · 沙盒付款$/ })).toHaveCount(1);
  await page.reload();
  await expect(page.getByRole('region', { name: '今天' })).toContainText('余额 102 点');
});

test('the answers of 客服中心 name what this site really gives and takes', async ({ person, page }) => {
  await person.joins();
  const { data } = await person.read<{ data: { amount: number }[] }>('/api/v1/transactions');
  const gift = data.reduce((sum, { amount }) => sum + amount, 0);
  const stories = await person.read<{ data: { price_per_message: number }[] }>('/api/v1/stories');
  const prices = stories.data.map((story) => story.price_per_message);
  await person.open('/my/support');
  await page.getByText('点数不够了怎么办？').tap();
  await expect(page.getByText(`新账号注册即有 ${gift} 点`)).toBeVisible();
  await page.getByText('聊天怎么收费？').tap();
  await expect(page.getByText(`每发一条消息 ${Math.min(...prices)}–${Math.max(...prices)} 点`)).toBeVisible();
  await page.getByText('签到有什么奖励？').tap();
  await expect(page.getByText('第 1 天 10、第 2 天 12')).toBeVisible();
});

test('the diagnostics can be copied, with builds and account but no secrets', async ({ person, page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const account = await seededAccount({});
  await person.returns(account);
  await person.open('/my/support');
  const { id } = (await person.read<{ data: { id: string } }>('/api/v1/user')).data;
  await page.getByText('详情', { exact: true }).tap();
  await page.getByRole('button', { name: '复制诊断信息' }).tap();
  await person.isTold('已复制');
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  for (const part of [id, 'stories', 'wallet', '在线']) expect(copied).toContain(part);
  expect(copied).not.toContain(account.password);
});
