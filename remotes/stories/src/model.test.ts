import { readAs, type StoryDto, storySchema } from '@liaozhai/shared/contract';
import { describe, expect, test } from '@rstest/core';
import { storyDto } from './fixtures';
import { hasGap, type StoryPage, storiesOf, teaserOf, toStory, unseenIn, withNewest } from './model';

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
    expect(storiesOf([page('a', 'b'), page('b', 'c', 'a')]).map((story) => story.id)).toEqual(['a', 'b', 'c']);
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

  test('starts anew when more is new than one page tells', () => {
    expect(hasGap([page('c')], page('a', 'b'))).toBe(true);
    expect(idsOf(withNewest([page('c'), page('d')], page('a', 'b')))).toEqual([['a', 'b']]);
  });

  test('an empty newest page changes nothing', () => {
    expect(unseenIn([page('a')], page())).toEqual([]);
    expect(idsOf(withNewest([page('a')], page()))).toEqual([['a']]);
  });
});

describe('words', () => {
  test.each([
    ['荒寺一夜，有人叩门。书生不肯开。', '荒寺一夜，有人叩门。'],
    ['“谁？”她问。', '“谁？”'],
    ['没有句号', '没有句号'],
    ['', ''],
  ])('the teaser of %s', (summary, teaser) => expect(teaserOf(summary)).toBe(teaser));
});
