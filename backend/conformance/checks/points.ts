import { randomUUID } from 'node:crypto';
import { type Check, checksOf, expectThat, shown, tolerated } from '../check.ts';
import { CheckIn, expectFields, idOf, Order, recordOf, Ticket, Transaction } from '../entities.ts';
import { pathOf } from '../visitor.ts';
import { announcedRules, createdId, currentUser, listOf, pagesOf, type World } from '../world.ts';

const MAX_PAGES = 30;

async function placedOrder(world: World) {
  const { form, answer } = await world.order();
  return { form, id: createdId(answer) };
}

export const pointChecks: Check[] = [
  ...checksOf('GET /v1/support/tickets', {
    'lists what the reader wrote to support': tolerated(async (world) => {
      const { answer } = await world.ticket();
      const { items } = (await world.mine.get('/support/tickets')).expectStatus(200).page;
      Ticket.expectReadable(...items);
      Ticket.expectAgreed(...items);
      const { form } = await world.ticket();
      const ticket = items.find((item) => idOf(item) === createdId(answer));
      expectFields('Ticket', ticket, { kind: form.kind, body: form.body, status: 'open' });
    }, 'shows what can be read of it'),
  }),
  ...checksOf('POST /v1/support/tickets', {
    'keeps a ticket once for each key': tolerated(async (world) => {
      const { form, answer } = await world.ticket();
      answer.expectSuccess();
      const repeatedAnswer = (await world.mine.postOnce('/support/tickets', form)).expectSuccess();
      expectThat(idOf(repeatedAnswer.entity) === createdId(answer), repeatedAnswer);
    }, 'sends a draft with the same key until it is accepted'),
  }),
  ...checksOf('POST /v1/support/tickets/{id}/read', {
    'takes note that an answer was read': tolerated(async (world) => {
      const { answer } = await world.ticket();
      (await world.mine.post(pathOf`/support/tickets/${createdId(answer)}/read`)).expectSuccess();
    }, 'marks it as new again on the next visit'),
  }),
  ...checksOf('POST /v1/check-in', {
    'awards points once a day': tolerated(async (world) => {
      const checkIn = () => world.mine.post('/check-in', {}, { 'Idempotency-Key': randomUUID() });
      const balanceBefore = Number((await currentUser(world.mine)).balance);
      const first = (await checkIn()).expectSuccess();
      CheckIn.expectReadable(first.entity);
      const gained = Number(first.entity.balance) - balanceBefore;
      expectThat(gained > 0 && first.entity.awarded === gained, `${gained} points more: ${shown(first)}`);
      const { check_in_rewards: [reward = gained] = [] } = (await announcedRules(world.mine)) as {
        check_in_rewards?: number[];
      };
      expectThat(gained === reward, `${gained} points, where the rules name ${reward}`);
      const today = new Date(first.headers.get('date') ?? Date.now()).toLocaleDateString('sv', {
        timeZone: 'Asia/Shanghai',
      });
      expectFields('CheckIn', first.entity, { streak: 1, date: today });
      const repeated = (await checkIn()).expectSuccess();
      const { awarded, already_checked_in, balance } = repeated.entity;
      expectThat(awarded === 0 && already_checked_in === true, repeated);
      const user = await currentUser(world.mine);
      expectThat(user.balance === balance, `${balance} with the check-in, ${user.balance} with the user`);
      expectThat(user.checked_in_today === true, `checked_in_today ${user.checked_in_today} afterwards`);
    }, 'shows the reward of the answer, and the balance after it'),
  }),
  ...checksOf('GET /v1/transactions', {
    'lists what was earned and spent': tolerated(async (world) => {
      const { visitor } = await world.conversation();
      const { items } = (await visitor.get('/transactions')).expectStatus(200).page;
      Transaction.expectReadable(...items);
      Transaction.expectAgreed(...items);
      expectThat(new Set(items.map(idOf)).size === items.length, 'rows with the same id');
      const amounts = items.map(({ amount }) => Number(amount));
      expectThat(Math.min(...amounts) < 0, `nothing spent: ${shown(items)}`);
    }, 'shows what can be read of it'),
    'adds up to the balance': tolerated(async (world) => {
      const { visitor } = await world.conversation();
      let [sum, pages] = [0, 0];
      for await (const items of pagesOf(visitor, '/transactions')) {
        pages += 1;
        expectThat(pages <= MAX_PAGES, `no end after ${MAX_PAGES} pages`);
        sum += items.reduce((total, { amount }) => total + Number(amount), 0);
      }
      const { balance } = await currentUser(visitor);
      expectThat(sum === balance, `rows of ${sum} in all, a balance of ${balance}`);
    }, 'shows the rows and the balance of the answer'),
    'lists the newest row first, each with the balance after it': tolerated(async (world) => {
      const { visitor } = await world.conversation();
      const items = await listOf(visitor, '/transactions');
      const { balance } = await currentUser(visitor);
      let balanceAfter = Number(balance);
      for (const { amount, balance_after } of items) {
        expectThat(balance_after === balanceAfter, `balance_after ${balance_after} where it was ${balanceAfter}`);
        balanceAfter -= Number(amount);
      }
    }, 'shows the rows and the balances of the answer'),
    'narrows the list by type': tolerated(async (world) => {
      const { visitor } = await world.conversation();
      const items = await listOf(visitor, '/transactions?type=message');
      expectThat(items.length > 0 && items.every(({ type }) => type === 'message'), items);
    }, 'lists every kind under each filter'),
  }),
  ...checksOf('GET /v1/orders', {
    'lists orders, and names what can be bought': tolerated(async (world) => {
      const answer = (await world.mine.get('/orders')).expectStatus(200);
      answer.page;
      const { packages } = answer.meta;
      expectThat(Array.isArray(packages) && packages.length > 0, answer.meta);
    }, 'shows the packages of the site’s own configuration'),
  }),
  ...checksOf('POST /v1/orders', {
    'opens an order that can be paid, and moves no money': tolerated(async (world) => {
      const balanceBefore = (await currentUser(world.mine)).balance;
      const { answer } = await world.order();
      answer.expectSuccess();
      const order = answer.entity;
      Order.expectReadable(order);
      Order.expectAgreed(order);
      const { form } = await world.order();
      const { packages } = (await world.mine.get('/orders')).meta;
      const { points } = recordOf(Array.isArray(packages) ? packages[0] : null);
      expectFields('Order', order, { ...form, points, status: 'pending' });
      const balanceAfter = (await currentUser(world.mine)).balance;
      expectThat(balanceAfter === balanceBefore, `a balance of ${balanceBefore} before, of ${balanceAfter} afterwards`);
    }, 'shows the order of the answer'),
    'answers a repeated key with the same order': tolerated(async (world) => {
      const { form, id } = await placedOrder(world);
      const repeatedAnswer = (await world.mine.postOnce('/orders', form)).expectSuccess();
      expectThat(idOf(repeatedAnswer.entity) === id, repeatedAnswer);
    }, 'keeps the key of an order that is open, and would open another'),
    'refuses an unknown package (422)': tolerated(async (world) => {
      const form = { package_id: 'no-such-package', client_id: randomUUID() };
      (await world.mine.postOnce('/orders', form)).expectFieldErrors('package_id');
    }, 'offers those that are named alone'),
  }),
  ...checksOf('GET /v1/orders/{id}', {
    'gives the status of an order': tolerated(async (world) => {
      const { id } = await placedOrder(world);
      const answer = (await world.mine.get(pathOf`/orders/${id}`)).expectStatus(200);
      Order.expectReadable(answer.entity);
      expectThat(idOf(answer.entity) === id, answer);
      Order.expectAgreed(...(await listOf(world.mine, '/orders')));
    }, 'shows what can be read of it'),
  }),
  ...checksOf('POST /v1/payments/webhook/{provider}', {
    'refuses who has not signed, without session or token, and moves no money': tolerated(async (world) => {
      const { id } = await placedOrder(world);
      const provider = world.outsider();
      for (const headers of [{}, { 'Payment-Signature': `t=${Math.floor(Date.now() / 1000)},v1=${'0'.repeat(64)}` }]) {
        const event = { id: randomUUID(), type: 'payment.succeeded', order_id: id, amount_cents: 1 };
        const answer = await provider.post('/payments/webhook/sandbox', event, headers as Record<string, string>);
        answer.expectStatus(400, 401, 403, 404);
      }
      const { status } = (await world.mine.get(pathOf`/orders/${id}`)).entity;
      expectThat(status === 'pending', `the order is ${status}`);
    }, 'never calls it'),
  }),
];
