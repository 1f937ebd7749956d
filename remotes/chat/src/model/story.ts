import type { StoryDto, SuggestionDto } from '@liaozhai/shared/contract';
import { UNTITLED } from '@liaozhai/shared/format';

/** The part of a story that the chat needs. */
export type Story = ReturnType<typeof toStory>;

export function toStory(dto: StoryDto) {
  const voice = dto.characters[0] ?? dto.author;
  const title = dto.title || UNTITLED;
  return {
    id: dto.id,
    title,
    coverUrl: dto.cover_url ?? '',
    opening: dto.opening ?? '',
    /** Suggested first messages. */
    openingLines: (dto.opening_lines ?? []).filter(Boolean),
    /** Shown as the author of the replies. */
    speaker: { name: voice?.name || title, avatarUrl: voice?.avatar ?? '' },
    /** Price of a message, in points; undefined if the server does not send it. */
    pricePerMessage: dto.price_per_message ?? undefined,
  };
}

export type Suggestion = ReturnType<typeof toSuggestion>;

const statuses = ['pending', 'ready', 'failed'] as const;

export function toSuggestion(dto: SuggestionDto) {
  const items = dto.items.filter((item) => item.text !== '');
  return {
    id: dto.id,
    // words that are there can be offered, under any name of their status
    status: statuses.find((status) => status === dto.status) ?? (items.length > 0 ? 'ready' : 'pending'),
    items,
  };
}
