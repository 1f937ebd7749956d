import { act, openRemote, type RecordedRequest, screen, waitFor, within } from '@liaozhai/shared/testing';
import { afterEach, beforeEach, expect, rs, test } from '@rstest/core';
import { deletions } from '../api/deletions';
import { conversationDto, messageDto, messageEvent, pageDto } from '../fixtures';
import remote from '../remote';

const reachEnd: (() => void)[] = [];
class NearIntersection {
  constructor(notice: IntersectionObserverCallback) {
    reachEnd.push(() => notice([{ isIntersecting: true } as IntersectionObserverEntry], this as never));
  }
  observe() {}
  disconnect() {}
}

beforeEach(() => void rs.stubGlobal('IntersectionObserver', NearIntersection));
afterEach(() => {
  reachEnd.length = 0;
  rs.unstubAllGlobals();
});

const titled = (number: number) =>
  conversationDto({
    id: `c-${number}`,
    story: { id: `s-${number}`, title: `故事${number}` },
    updated_at: `2026-11-2${3 - number}T00:00:00Z`,
  });
const showsStories = (ids: string[]) =>
  waitFor(() => {
    const rows = within(screen.getByRole('list', { name: '聊过的故事' })).getAllByRole('link');
    expect(rows.map((link) => link.getAttribute('href')?.match(/s-\d/)?.[0])).toEqual(ids);
  });

/** Opens a list of two pages, of which the second one is requested and held back until `arrive`. */
async function openWithPageUnderWay() {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const opened = openRemote(
    remote,
    {
      'GET /v1/conversations': async ({ params }: RecordedRequest) => {
        if (params.cursor !== 'p2') return pageDto([titled(1), titled(2)], 'p2');
        await released;
        return pageDto([titled(2), titled(3)]);
      },
      'DELETE /v1/conversations/c-1': { status: 204 },
    },
    { path: '/conversations', user: { id: 'u-1' } },
  );
  await screen.findByRole('link', { name: /故事1/ });
  await act(async () => reachEnd.at(-1)?.());
  await waitFor(() => expect(opened.requests.at(-1)?.params).toEqual({ cursor: 'p2' }));
  const arrive = async () => {
    release();
    await screen.findByRole('link', { name: /故事3/ });
  };
  return { ...opened, arrive };
}

test('a conversation deleted elsewhere does not come back with a page that was on its way', async () => {
  const { live, arrive } = await openWithPageUnderWay();
  live.push('conversation.deleted', { id: 'c-2' });
  await showsStories(['s-1']);
  await arrive();
  await showsStories(['s-1', 's-3']);
});

test('nor does one that was deleted here', async () => {
  const { user, arrive } = await openWithPageUnderWay();
  await user.click(screen.getByRole('button', { name: '《故事1》的更多操作' }));
  const menu = screen.getByRole('menu', { name: '《故事1》的更多操作', hidden: true });
  await user.click(within(menu).getByText('删除'));
  await act(() => deletions.settle('s-1'));
  await showsStories(['s-2']);
  await arrive();
  await showsStories(['s-2', 's-3']);
});

test('a message that came while a page was on its way keeps its conversation on top', async () => {
  const { live, arrive } = await openWithPageUnderWay();
  const message = messageDto({
    conversation_id: 'c-2',
    version: 3,
    body: '她笑了。',
    updated_at: '2026-11-24T00:00:00Z',
  });
  live.push('message.completed', messageEvent(message));
  await showsStories(['s-2', 's-1']);
  await arrive();
  await showsStories(['s-2', 's-1', 's-3']);
  expect(screen.getByText('她笑了。')).toBeTruthy();
});
