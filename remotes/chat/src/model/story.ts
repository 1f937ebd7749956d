import type { StoryDto, SuggestionDto } from '@liaozhai/shared/contract';

export interface Speaker {
  name: string;
  avatarUrl: string;
}

/** What the chat needs to know of its story. */
export interface Story {
  id: string;
  title: string;
  coverUrl: string;
  opening: string;
  /** Whose voice the replies are set in. */
  speaker: Speaker;
  /** Points a message costs; undefined where the server does not say. */
  pricePerMessage: number | undefined;
}

export function toStory(dto: StoryDto): Story {
  const voice = dto.characters[0] ?? dto.author;
  return {
    id: String(dto.id),
    title: dto.title,
    coverUrl: dto.cover_url ?? '',
    opening: dto.opening ?? '',
    speaker: { name: voice?.name || dto.title, avatarUrl: voice?.avatar ?? '' },
    pricePerMessage: dto.price_per_message ?? undefined,
  };
}

export interface Suggestion {
  id: string;
  status: 'pending' | 'ready' | 'failed';
  items: { id: string; text: string }[];
  errorText: string;
}

export const toSuggestion = (dto: SuggestionDto): Suggestion => ({
  id: String(dto.id),
  status: dto.status === 'ready' || dto.status === 'failed' ? dto.status : 'pending',
  items: dto.items.map((item) => ({ id: String(item.id), text: item.text })),
  errorText: dto.error?.message ?? '',
});
