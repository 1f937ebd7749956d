import { randomUUID } from 'node:crypto';
import { checksOf, expectStatus, expectSuccess, expectThat, shown, shownValue } from '../check.ts';
import { CheckIn, expectAgreed, expectReadable, idOf, pageOf, Transaction, unwrapped } from '../entities.ts';

const checkIn = checksOf('POST /v1/check-in', [
  {
    name: 'awards points once a day',
    otherwise: 'shows what it is told, and the balance as it then is',
    async run(world) {
      const { visitor } = await world.member('mine');
      const first = await visitor.post('/check-in', {}, { 'Idempotency-Key': randomUUID() });
      expectSuccess(first);
      expectReadable(CheckIn, unwrapped(first.body));
      const again = await visitor.post('/check-in', {}, { 'Idempotency-Key': randomUUID() });
      expectSuccess(again);
      const { awarded, already_checked_in, balance } = unwrapped(again.body);
      expectThat(awarded === 0 && already_checked_in === true, () => shown(again));
      const user = unwrapped((await visitor.get('/user')).body);
      expectThat(user.balance === balance, () => `${balance} with the check-in, ${user.balance} with the user`);
      expectThat(user.checked_in_today === true, () => `checked_in_today ${user.checked_in_today} afterwards`);
    },
  },
]);

const transactions = checksOf('GET /v1/transactions', [
  {
    name: 'lists what was earned and spent',
    otherwise: 'shows what can be read of it',
    async run(world) {
      const { visitor } = await world.member('mine');
      await world.conversation();
      const answer = await visitor.get('/transactions');
      expectStatus(answer, 200);
      const { items } = pageOf(answer.body);
      for (const row of items) {
        expectReadable(Transaction, row);
        expectAgreed(Transaction, row);
      }
      expectThat(new Set(items.map(idOf)).size === items.length, 'rows with the same id');
      expectThat(
        items.some(({ amount }) => Number(amount) < 0),
        () => `nothing spent: ${shownValue(items)}`,
      );
    },
  },
  {
    name: 'adds up to the balance',
    otherwise: 'shows the rows and the balance as they are told',
    async run(world) {
      const { visitor } = await world.member('mine');
      await world.conversation();
      const { items, nextCursor } = pageOf((await visitor.get('/transactions')).body);
      if (nextCursor !== null) return;
      const sum = items.reduce((total, { amount }) => total + Number(amount), 0);
      const { balance } = unwrapped((await visitor.get('/user')).body);
      expectThat(sum === balance, `rows of ${sum} in all, a balance of ${balance}`);
    },
  },
  {
    name: 'narrows the list by type',
    otherwise: 'lists every kind under each filter',
    async run(world) {
      const { visitor } = await world.member('mine');
      await world.conversation();
      const { items } = pageOf((await visitor.get('/transactions?type=message')).body);
      expectThat(items.length > 0 && items.every(({ type }) => type === 'message'), () => shownValue(items));
    },
  },
]);

export const pointChecks = [...checkIn, ...transactions];
