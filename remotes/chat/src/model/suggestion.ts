import type { SuggestionDto } from '@liaozhai/shared/contract';

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
