import '../testing/pageFixture';
import { blockReload, Provider, store, useToasts } from '@liaozhai/shared/runtime';
import { onTestEnd, render, screen, userEvent } from '@liaozhai/shared/testing';
import { Toaster } from '@liaozhai/shared/ui';
import { beforeEach, expect, rs, test } from '@rstest/core';
import { PageContext } from '../page';
import { openPage } from '../testing/fakeRemotes';
import UpdateWatch from './UpdateWatch';

const newer = {
  candidate: null,
  channel: 'production',
  expires: '2999-01-01T00:00:00.000Z',
  killed: [],
  seq: 8,
  stable: { set: 'b'.repeat(40) },
};

const Toasts = () => <Toaster toasts={useToasts()} />;
let reloads = 0;

beforeEach(() => {
  reloads = 0;
  Object.assign(location, { reload: () => reloads++ });
  // the document of these tests is not signed
  Object.defineProperty(crypto, 'subtle', { value: undefined, configurable: true });
  onTestEnd(() => Reflect.deleteProperty(crypto, 'subtle'));
  const document = JSON.stringify({ ...newer, sig: '' });
  const channel = rs.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response(document));
  onTestEnd(() => channel.mockRestore());
});

async function tapUpdate() {
  render(
    <Provider store={store}>
      <PageContext value={openPage()}>
        <UpdateWatch />
        <Toasts />
      </PageContext>
    </Provider>,
  );
  await userEvent.setup().click(await screen.findByRole('button', { name: '更新' }));
}

test('更新 opens the newer set', async () => {
  await tapUpdate();
  expect(reloads).toBe(1);
});

test('更新 discards nothing that is being typed: the page says when the newer set will come', async () => {
  onTestEnd(blockReload('auth'));
  await tapUpdate();
  expect(await screen.findByText('先完成手上的操作，之后换页时会自动更新')).toBeTruthy();
  expect(reloads).toBe(0);
});
