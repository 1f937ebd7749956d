/** As the API writes it; snake_case stops in this file. */
export interface StoryDto {
  id: string | number;
  title: string;
  summary?: string | null;
}

export interface Story {
  id: string;
  title: string;
  summary: string;
}

export const toStory = (dto: StoryDto): Story => ({
  id: String(dto.id),
  title: dto.title,
  summary: dto.summary ?? '',
});
