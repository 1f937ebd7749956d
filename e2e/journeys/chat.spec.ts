import { expect, test } from '../person.ts';

test('a message shows immediately, the reply streams in, and a reload finds both', async ({ person, page }) => {
  await person.joins();
  await person.openFirstStory();
  await person.openChat();
  await person.says('夜深了，你是谁？');
  await expect(person.log().getByText('夜深了，你是谁？')).toBeVisible();
  await person.replied();
  const before = (await person.log().allInnerTexts()).join('\n');
  await page.reload();
  await expect(person.log().getByText('夜深了，你是谁？')).toBeVisible();
  const lastLine =
    before
      .trim()
      .split('\n')
      .filter((line) => line.length > 12)
      .at(-1) ?? '';
  await expect(person.log().getByText(lastLine.slice(0, 12)).first()).toBeVisible();
});

test('a second tab follows live', async ({ person, page, context }) => {
  await person.joins();
  await person.openFirstStory();
  await person.openChat();
  const second = await context.newPage();
  await second.goto(page.url());
  await expect(second.getByRole('log')).toBeVisible();
  await person.says('你听见雨声了吗？');
  await expect(second.getByRole('log').getByText('你听见雨声了吗？')).toBeVisible();
});

test('sync.no-ws: with the socket blocked it works by polling', async ({ person, page }) => {
  await page.routeWebSocket(/\/app\//, (socket) => socket.close());
  await person.joins();
  await person.openFirstStory();
  await person.openChat();
  await person.says('灯还亮着吗？');
  await person.replied();
});

test('sync.refused: a socket that is refused permanently is tried seldom, and chat works by polling', async ({
  person,
  page,
}) => {
  let sockets = 0;
  let underWay = 0;
  await page.clock.install();
  page.on('request', () => {
    underWay += 1;
  });
  for (const end of ['requestfinished', 'requestfailed'] as const)
    page.on(end as 'requestfinished', () => {
      underWay -= 1;
    });
  await page.routeWebSocket(/\/app\//, async (socket) => {
    sockets += 1;
    underWay += 1;
    const data = JSON.stringify({ code: 4001, message: 'Application does not exist' });
    socket.send(JSON.stringify({ event: 'pusher:error', data }));
    await socket.close();
    underWay -= 1;
  });
  await person.joins();
  await person.openFirstStory();
  await person.openChat();
  await person.says('灯还亮着吗？');
  await person.replied();
  const before = sockets;
  for (let minute = 0; minute < 40; minute++) {
    // a jump of the clock would time out pending requests
    await expect.poll(() => underWay).toBe(0);
    await page.clock.fastForward('01:00');
  }
  expect(sockets - before).toBeLessThan(20);
  await person.says('雨停了吗？');
  await expect(person.log().getByText('雨停了吗？')).toBeVisible();
});

test('outbox.401: an expired session loses no text; it sends itself after sign-in, once', async ({
  person,
  page,
  context,
}) => {
  const account = await person.joins();
  await person.openFirstStory();
  await person.openChat();
  await person.hasCaughtUp();
  await context.clearCookies();
  await person.says('我还会再来的');
  await person.signIn(account);
  await person.replied();
  await expect(person.log().getByText('我还会再来的', { exact: true })).toHaveCount(1);
  await page.reload();
  await expect(person.log().getByText('我还会再来的', { exact: true })).toHaveCount(1);
});

test('an anonymous visitor writes, registers, and the words are sent once', async ({ person }) => {
  await person.openFirstStory();
  await person.openChat();
  await person.says('门外是谁？');
  await person.register();
  await person.replied();
  await expect(person.log().getByText('门外是谁？', { exact: true })).toHaveCount(1);
});

test('empty messages cannot be sent and a double tap sends one', async ({ person, page }) => {
  await person.joins();
  await person.openFirstStory();
  await person.openChat();
  await expect(page.getByRole('button', { name: '发送', exact: true })).toBeDisabled();
  await page.getByRole('textbox').last().fill('只说一次');
  await page.getByRole('button', { name: '发送', exact: true }).dblclick();
  await person.replied();
  await expect(person.log().getByText('只说一次', { exact: true })).toHaveCount(1);
});
