import type { StoryDto } from '@liaozhai/shared/contract';

export const storyDto = (patch: Partial<StoryDto> = {}): StoryDto => ({
  id: 's-1',
  title: '聂小倩',
  summary: '荒寺一夜，月下有人叩门。',
  tags: [],
  characters: [],
  ...patch,
});

/** A cursor page in the format of Laravel's API resources. */
export const pageDto = (data: StoryDto[]) => ({ data, links: {}, meta: { next_cursor: null } });
