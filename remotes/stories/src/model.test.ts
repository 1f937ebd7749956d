import { readAs, type StoryDto, storySchema } from '@liaozhai/shared/contract';
import { hasGap, rowsOf, unseenRows, withNewest } from '@liaozhai/shared/format';
import { describe, expect, test } from '@rstest/core';
import { storyDto } from './fixtures';
import { type StoryPage, toRecentStories, toStory, withFreshLead } from './model';

const page = (...ids: string[]): StoryPage => ({ items: ids.map((id) => toStory(storyDto({ id }))), nextCursor: null });
const idsOf = (pages: StoryPage[]) => pages.map((each) => each.items.map((story) => story.id));

describe('a story from the wire', () => {
  test('needs nothing but an id and a title', () => {
    expect(toStory(readAs(storySchema, { id: 7, title: '画皮' }) as StoryDto)).toEqual({
      id: '7',
      title: '画皮',
      coverUrl: '',
      summary: '',
      tags: [],
      authorName: '',
      opening: '',
      openingLines: [],
      characters: [],
      pricePerMessage: undefined,
      conversationId: null,
    });
  });

  test('a price of zero is a price, a missing one is not', () => {
    expect(toStory(storyDto({ price_per_message: 0 })).pricePerMessage).toBe(0);
    expect(toStory(storyDto({ price_per_message: null })).pricePerMessage).toBeUndefined();
  });
});

describe('the feed', () => {
  test('shows a story once even where pages repeat it', () => {
    expect(rowsOf([page('a', 'b'), page('b', 'c', 'a')]).map((story) => story.id)).toEqual(['a', 'b', 'c']);
  });

  test('new stories go on top and move nothing else', () => {
    expect(idsOf(withNewest([page('b', 'c'), page('d')], page('a', 'b')))).toEqual([['a', 'b', 'c'], ['d']]);
  });

  test('a known story is renewed where it stands', () => {
    const renewed = { items: [toStory(storyDto({ id: 'd', title: '新题' })), ...page('b').items], nextCursor: null };
    const feed = withNewest([page('b', 'c'), page('d')], renewed);
    expect(idsOf(feed)).toEqual([['b', 'c'], ['d']]);
    expect(feed[1]?.items[0]?.title).toBe('新题');
  });

  test('starts again when more is new than one page tells', () => {
    expect(hasGap([page('c')], page('a', 'b'))).toBe(true);
    expect(idsOf(withNewest([page('c'), page('d')], page('a', 'b')))).toEqual([['a', 'b']]);
  });

  test('an empty newest page changes nothing', () => {
    expect(unseenRows([page('a')], page())).toEqual([]);
    expect(idsOf(withNewest([page('a')], page()))).toEqual([['a']]);
  });
});

describe('the lead of the shelf', () => {
  const stories = ['a', 'b', 'c'].map((id) => toStory(storyDto({ id })));
  const begun = stories.map((story) => ({ ...story, conversationId: `c-${story.id}` }));
  test.each([
    ['the first where none is begun', stories, [], 'abc'],
    ['the first that is not begun', stories, ['a', 'b'], 'cab'],
    ['one that the feed itself does not call begun', [...begun.slice(0, 1), ...stories.slice(1)], [], 'bac'],
    ['the first where all are begun', begun, [], 'abc'],
    ['nobody on an empty shelf', [], ['a'], ''],
  ])('is %s', (_, shelf, ids, order) => {
    expect(
      withFreshLead(shelf, new Set(ids))
        .map(({ id }) => id)
        .join(''),
    ).toBe(order);
  });
});

test('继续读 follows the last change, also past what was put first', () => {
  const conversation = (id: string, updated_at: string, pinned_at?: string) => ({
    ...{ id: `c-${id}`, story: { id, title: id }, updated_at },
    last_message: { excerpt: '*灯灭了。*\n“谁？”' },
    ...(pinned_at && { pinned_at }),
  });
  const recent = toRecentStories({
    items: [
      conversation('old', '2026-11-20T04:00:00Z', '2026-11-21T04:00:00Z'),
      conversation('newest', '2026-11-22T04:00:00Z'),
      conversation('newer', '2026-11-21T04:00:00Z'),
    ],
    nextCursor: null,
  });
  expect(recent.map(({ id }) => id)).toEqual(['newest', 'newer', 'old']);
  expect(recent[0]?.lastLine).toBe('灯灭了。 “谁？”');
});
