import type { CharacterDto, StoryDto } from '@liaozhai/shared/contract';

export const characterDto = (patch: Partial<CharacterDto> = {}): CharacterDto => ({
  id: 'c-nie',
  name: '聂小倩',
  avatar: '',
  intro: '寺中女鬼，夜来叩门。',
  ...patch,
});

export const storyDto = (patch: Partial<StoryDto> = {}): StoryDto => ({
  id: 's-1',
  title: '聂小倩',
  cover_url: '/api/media/covers/s-1.svg',
  summary: '荒寺一夜，月下有人叩门。书生不肯开，她便在门外讲起自己的来历。',
  tags: ['兰若寺', '人鬼情'],
  author: { id: 'a-1', name: '蒲松龄', avatar: '' },
  opening: '*月光落在阶前。*\n\n“公子，可否借一盏灯？”她问。\n\n你听见**风**停了。',
  characters: [characterDto()],
  price_per_message: 2,
  conversation_id: null,
  ...patch,
});

/** `count` stories with ids `<prefix>1` … `<prefix>n`. */
export const storyDtos = (count: number, prefix = 's-'): StoryDto[] =>
  Array.from({ length: count }, (_, index) =>
    storyDto({ id: `${prefix}${index + 1}`, title: `故事${prefix}${index + 1}` }),
  );

/** A cursor page in the format of Laravel's API resources. */
export const pageDto = (data: StoryDto[], nextCursor: string | null = null) => ({
  data,
  links: { next: null },
  meta: { next_cursor: nextCursor },
});
