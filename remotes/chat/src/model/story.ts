import type { StoryDto, SuggestionDto } from '@liaozhai/shared/contract';
import { UNTITLED } from '@liaozhai/shared/format';

export interface Speaker {
  name: string;
  avatarUrl: string;
}

/** The part of a story that the chat needs. */
export interface Story {
  id: string;
  title: string;
  coverUrl: string;
  opening: string;
  /** Suggested first messages. */
  openingLines: string[];
  /** Shown as the author of the replies. */
  speaker: Speaker;
  /** Price of a message, in points; undefined if the server does not send it. */
  pricePerMessage: number | undefined;
}

export function toStory(dto: StoryDto): Story {
  const voice = dto.characters[0] ?? dto.author;
  const title = dto.title || UNTITLED;
  return {
    id: dto.id,
    title,
    coverUrl: dto.cover_url ?? '',
    opening: dto.opening ?? '',
    openingLines: (dto.opening_lines ?? []).filter(Boolean),
    speaker: { name: voice?.name || title, avatarUrl: voice?.avatar ?? '' },
    pricePerMessage: dto.price_per_message ?? undefined,
  };
}

export interface Suggestion {
  id: string;
  status: 'pending' | 'ready' | 'failed';
  items: { id: string; text: string }[];
  errorText: string;
}

const statuses = ['pending', 'ready', 'failed'] as const;

export function toSuggestion(dto: SuggestionDto): Suggestion {
  const items = dto.items.filter((item) => item.text !== '');
  return {
    id: dto.id,
    // words that are there can be offered, under any name of their status
    status: statuses.find((status) => status === dto.status) ?? (items.length > 0 ? 'ready' : 'pending'),
    items,
    errorText: dto.error?.message ?? '',
  };
}
