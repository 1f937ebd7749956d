/** The contract's entities as a client receives them. */
export interface UserDto {
  id: string;
  name: string;
  username: string;
  avatar: string | null;
  gender: string | null;
  balance: number;
  invite_code: string;
  persona: string;
  email_verified_at: string | null;
  consent_version: string | null;
  consented_at: string | null;
  gifts: { id: string; points: number; name: string; side: string }[];
  checked_in_today: boolean;
  check_in_streak: number;
  deletion_at: string | null;
  unread_answers: number;
  unread_conversations: number;
  version: number;
}

export interface StoryDto {
  id: string;
  title: string;
  cover_url: string | null;
  share_image_url: string | null;
  cover_color: string | null;
  summary: string;
  tags: string[];
  author: { id: string; name: string; avatar: string };
  opening: string;
  opening_lines: string[];
  characters: { id: string; name: string; avatar: string; intro: string }[];
  price_per_message: number;
  conversation_id: string | null;
}

export interface MessageDto {
  id: string;
  conversation_id: string;
  story_id: string;
  seq: number;
  version: number;
  revision: number;
  client_id: string | null;
  role: string;
  body: string;
  status: string;
  error: { code: string; message: string } | null;
  cost: number;
  variant: number;
  variants: number;
  created_at: string;
}

export interface ConversationDto {
  id: string;
  story: { id: string; title: string; cover_url: string };
  last_message: { id: string; role: string; excerpt: string } | null;
  last_seq: number;
  version: number;
  active_message_id: string | null;
  unread: boolean;
  pinned_at: string | null;
  run: number;
  shelved: boolean;
}

export interface SuggestionDto {
  id: string;
  status: string;
  items: { id: string; text: string }[];
  error: { code: string; message: string } | null;
}

export interface TransactionDto {
  id: string;
  type: string;
  amount: number;
  balance_after: number;
  description: string;
  ref_type: string;
  ref_id: string;
}

export interface CheckInDto {
  date: string;
  streak: number;
  awarded: number;
  already_checked_in: boolean;
  balance: number;
}

export interface Page<Item> {
  data: Item[];
  links: { next: string | null };
  meta: { next_cursor: string | null };
}

export interface Latest {
  data: MessageDto[];
  meta: {
    conversation_id: string | null;
    version: number;
    last_seq: number;
    has_more: boolean;
    active_message_id: string | null;
  };
}

export interface Sent {
  message: MessageDto;
  reply: MessageDto;
  conversation: ConversationDto;
  balance: number;
}

export interface ErrorDto {
  message: string;
  code?: string;
  errors?: Record<string, string[]>;
  required?: number;
  balance?: number;
}

export interface Registered {
  user: UserDto;
  type: 'email' | 'username';
}
