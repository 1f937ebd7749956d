import type { CursorPage, StoryDto } from '@liaozhai/shared/contract';

export interface Story {
  id: string;
  title: string;
  summary: string;
}

/** The API's snake_case stops here. */
const toStory = (dto: StoryDto): Story => ({
  id: String(dto.id),
  title: dto.title,
  summary: dto.summary ?? '',
});

export const toStories = (page: CursorPage<StoryDto>): Story[] => page.items.map(toStory);
