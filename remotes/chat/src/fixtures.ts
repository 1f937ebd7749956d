import type { ConversationDto, DeltaEventDto, LatestDto, MessageDto, StoryDto } from '@liaozhai/shared/contract';

const NOON = '2026-11-20T04:00:00.000000Z';

export const storyDto = (patch: Partial<StoryDto> = {}): StoryDto => ({
  id: 's-1',
  title: '聂小倩',
  cover_url: '',
  tags: [],
  opening: '*月光落在阶前。*\n\n“公子，可否借一盏灯？”她问。',
  author: { name: '蒲松龄', avatar: '' },
  characters: [{ id: 'p-1', name: '聂小倩', avatar: '' }],
  price_per_message: 2,
  conversation_id: 'c-1',
  ...patch,
});

/** A completed reply of the story, the first message of conversation `c-1`. */
export const messageDto = (patch: Partial<MessageDto> = {}): MessageDto => ({
  id: `m-${patch.seq ?? 1}`,
  conversation_id: 'c-1',
  story_id: 's-1',
  seq: 1,
  version: patch.seq ?? 1,
  revision: 1,
  client_id: null,
  role: 'assistant',
  body: '她提着灯，在门外站了许久。',
  status: 'completed',
  error: null,
  cost: 0,
  created_at: NOON,
  updated_at: NOON,
  ...patch,
});

/** Builds `count` alternating messages, from seq `from`; odd ones are the user's. */
export const messageDtos = (count: number, from = 1): MessageDto[] =>
  Array.from({ length: count }, (_, index) => {
    const seq = from + index;
    const role = seq % 2 === 1 ? 'user' : 'assistant';
    return messageDto({ seq, role, body: `第${seq}句`, client_id: role === 'user' ? `client-${seq}` : null });
  });

export const latestDto = (data: MessageDto[], meta: LatestDto['meta'] = {}): LatestDto => ({
  data,
  meta: {
    conversation_id: data[0]?.conversation_id ?? null,
    version: Math.max(0, ...data.map((message) => message.version ?? 0)),
    last_seq: data.at(-1)?.seq ?? 0,
    has_more: false,
    active_message_id: null,
    ...meta,
  },
});

/** A message event as Laravel broadcasts it. */
export const messageEvent = (message: MessageDto) => ({
  conversation_id: message.conversation_id,
  version: message.version,
  message,
});

export const deltaDto = (patch: Partial<DeltaEventDto> = {}): DeltaEventDto => ({
  message_id: 'm-2',
  conversation_id: 'c-1',
  revision: 1,
  offset: 0,
  text: '',
  ...patch,
});

export const conversationDto = (patch: Partial<ConversationDto> = {}): ConversationDto => ({
  id: 'c-1',
  story: { id: 's-1', title: '聂小倩', cover_url: '' },
  last_message: { id: 'm-2', role: 'assistant', excerpt: '她提着灯，在门外站了许久。', created_at: NOON },
  last_seq: 2,
  version: 2,
  active_message_id: null,
  created_at: NOON,
  updated_at: NOON,
  ...patch,
});

/** A cursor page in the format of Laravel's API resources. */
export const pageDto = (data: unknown[], nextCursor: string | null = null) => ({
  data,
  links: { next: null },
  meta: { next_cursor: nextCursor },
});
