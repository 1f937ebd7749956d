import { describe, expect, test } from '@rstest/core';
import { onTestEnd, openRemote, render, screen, waitFor } from '../testing';
import {
  authPopup,
  blockReload,
  defineRemote,
  newClientId,
  onReloadBlocksChanged,
  paths,
  RemoteSlot,
  reloadBlocks,
  requestLogin,
  useDocumentTitle,
  useGoBack,
  useNavigate,
} from '.';

test('client ids are distinct UUIDs of version 4', () => {
  const ids = Array.from({ length: 100 }, newClientId);
  for (const id of ids) expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  expect(new Set(ids).size).toBe(100);
});

test('a reload waits until all blocks are released', () => {
  let changes = 0;
  onTestEnd(
    onReloadBlocksChanged(() => {
      changes += 1;
    }),
  );
  const first = blockReload('outbox');
  const second = blockReload('outbox');
  const third = blockReload('profile');
  expect(reloadBlocks()).toEqual(['outbox', 'profile']);
  first();
  first();
  third();
  expect(reloadBlocks()).toEqual(['outbox']);
  second();
  expect(reloadBlocks()).toEqual([]);
  expect(changes).toBe(6);
});

test('every id is encoded as one path segment', () => {
  expect(paths.story('a/b?c')).toBe('/story/a%2Fb%3Fc');
  expect(paths.storyChat('聂')).toBe('/story/%E8%81%82?chat=1');
});

describe('requesting a sign-in', () => {
  test('waits for the popup’s owner, and returns its result', async () => {
    const asked = requestLogin('login');
    const modes: string[] = [];
    onTestEnd(
      authPopup.onRequest((mode) => {
        modes.push(mode);
        return Promise.resolve(mode === 'login');
      }),
    );
    expect(await asked).toBe(true);
    expect(await requestLogin()).toBe(false);
    expect(modes).toEqual(['login', 'register']);
  });
});

test('a slot that nobody fills is empty', () => {
  render(<RemoteSlot name="my.balance" />);
  expect(document.body.textContent).toBe('');
});

function First() {
  const navigate = useNavigate();
  useDocumentTitle('第一页');
  return (
    <>
      <RemoteSlot name="story.chat" storyId="s-1" />
      <button type="button" onClick={() => navigate('/second')}>
        去第二页
      </button>
    </>
  );
}

function Second() {
  const goBack = useGoBack('/first');
  return (
    <button type="button" onClick={goBack}>
      返回
    </button>
  );
}

const remote = defineRemote({
  name: 'sample',
  routes: [
    { name: 'first', path: '/first', title: '一', page: async () => ({ default: First }) },
    { name: 'second', path: '/second', title: '二', page: async () => ({ default: Second }) },
  ],
});

test('a slot passes its props, and a page sets the document’s title', async () => {
  const Chat = ({ storyId }: { storyId: string }) => <p>聊天 {storyId}</p>;
  openRemote(remote, {}, { slots: { 'story.chat': Chat } });
  expect(await screen.findByText('聊天 s-1')).toBeTruthy();
  await waitFor(() => expect(document.title).toBe('第一页 · 聊斋'));
});

describe('going back', () => {
  test('leads to the previous page of this app', async () => {
    const { user } = openRemote(remote, {});
    await user.click(await screen.findByRole('button', { name: '去第二页' }));
    await user.click(await screen.findByRole('button', { name: '返回' }));
    expect(await screen.findByRole('button', { name: '去第二页' })).toBeTruthy();
    expect(location.pathname).toBe('/first');
  });

  test('replaces a deep link with the fallback', async () => {
    const { user } = openRemote(remote, {}, { path: '/second' });
    const entries = history.length;
    await user.click(await screen.findByRole('button', { name: '返回' }));
    expect(await screen.findByRole('button', { name: '去第二页' })).toBeTruthy();
    expect(history.length).toBe(entries);
  });
});
