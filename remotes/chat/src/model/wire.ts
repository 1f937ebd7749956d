/** What the API writes, snake_case and all; ids may come as numbers, and anything optional may be missing. */
export type Id = string | number;

export interface MessageDto {
  id: Id;
  conversation_id?: Id | null;
  story_id?: Id | null;
  seq?: number;
  version?: number;
  revision?: number;
  client_id?: string | null;
  role?: string;
  body?: string | null;
  /** Code points of a body that was too long for an event. */
  body_length?: number;
  status?: string;
  error?: { code?: string | null; message?: string | null } | null;
  cost?: number | null;
  created_at?: string | null;
  updated_at?: string | null;
}

export interface LatestMetaDto {
  conversation_id?: Id | null;
  version?: number;
  last_seq?: number;
  has_more?: boolean;
  active_message_id?: Id | null;
}

/** `GET /v1/messages/latest` */
export interface LatestDto {
  data: MessageDto[];
  meta?: LatestMetaDto;
}

/** `message.created`, `message.completed`, `message.failed`: the message inside an envelope, or flat. */
export type MessageEventDto = Partial<MessageDto> & { message?: MessageDto; truncated?: boolean };

/** `message.delta`; `offset` in code points. */
export interface DeltaEventDto {
  message_id: Id;
  conversation_id: Id;
  revision: number;
  offset: number;
  text: string;
}

/** `conversation.deleted`, `suggestion.ready` */
export interface IdEventDto {
  id: Id;
  conversation_id?: Id;
}

export interface ConversationDto {
  id: Id;
  story?: { id: Id; title?: string | null; cover_url?: string | null } | null;
  last_message?: { id: Id; role?: string; excerpt?: string | null; created_at?: string | null } | null;
  last_seq?: number;
  version?: number;
  active_message_id?: Id | null;
  created_at?: string | null;
  updated_at?: string | null;
}

/** `POST /v1/messages` */
export interface SentDto {
  message: MessageDto;
  reply?: MessageDto | null;
  conversation?: ConversationDto | null;
  balance?: number;
}

/** `POST /v1/messages/continue` */
export interface ContinuedDto {
  message: MessageDto;
  balance?: number;
}

export interface SuggestionDto {
  id: Id;
  conversation_id?: Id;
  base_version?: number;
  status?: string;
  items?: { id: Id; text: string }[] | null;
  error?: { code?: string | null; message?: string | null } | null;
  expires_at?: string | null;
}

export interface StoryDto {
  id: Id;
  title: string;
  cover_url?: string | null;
  opening?: string | null;
  author?: { name?: string | null; avatar?: string | null } | null;
  characters?: { id: Id; name: string; avatar?: string | null }[] | null;
  price_per_message?: number | null;
  conversation_id?: Id | null;
}
