import type { Generated, Selectable } from 'kysely';

export type MessageStatus = 'pending' | 'streaming' | 'completed' | 'failed' | 'cancelled';
export type TransactionType =
  | 'recharge'
  | 'gift'
  | 'message'
  | 'continue'
  | 'suggestion'
  | 'check_in'
  | 'invite'
  | 'refund';

/** Times are in ms since 1970, points are whole numbers, and JSON columns contain text. */
export interface Schema {
  users: {
    id: string;
    login: string;
    is_email: number;
    name: string;
    avatar: string | null;
    gender: 'male' | 'female' | null;
    persona: string;
    password_hash: string;
    balance: number;
    invite_code: string;
    invited_by: string | null;
    /** JSON: unannounced gifts of invitations */
    gifts: Generated<string>;
    /** unread answers of support */
    unread_answers: Generated<number>;
    unread_conversations: Generated<number>;
    email_verified_at: number | null;
    /** confirmed address of an account whose login is not an address */
    email: string | null;
    /** requested, not yet confirmed */
    pending_email: string | null;
    pending_email_at: number | null;
    /** time of the scheduled deletion */
    delete_at: number | null;
    check_in_date: string | null;
    check_in_streak: number;
    /** JSON: 未成年人模式 while it is on */
    minor: string | null;
    /** accepted version of the terms; null if none was sent */
    consent_version: string | null;
    consented_at: number | null;
    version: number;
    /** time at which an operator blocked the account */
    blocked_at: number | null;
    blocked_reason: string | null;
    created_at: number;
  };
  sessions: {
    token_hash: string;
    /** public id */
    id: string;
    user_agent: string;
    last_used_at: number;
    user_id: string;
    created_at: number;
    expires_at: number;
  };
  /** The newest reset link of each account. A used link is deleted. */
  password_resets: {
    user_id: string;
    token_hash: string;
    created_at: number;
    expires_at: number;
  };
  stories: {
    id: string;
    title: string;
    cover_url: string;
    price: number;
    content: string;
    /** A withdrawn story no longer has a folder. It is not in the feed, but its conversations can be continued. */
    origin: 'folder' | 'seed' | 'withdrawn';
    /** 1 if an operator hid it, else 0 */
    hidden: Generated<number>;
    created_at: number;
    updated_at: number;
  };
  conversations: {
    id: string;
    user_id: string;
    story_id: string;
    version: number;
    last_seq: number;
    active_message_id: string | null;
    /** version up to which the reader has read it, on any device */
    read_version: Generated<number>;
    pinned_at: number | null;
    /** summary of the messages up to `summary_seq`, for a model */
    summary: Generated<string>;
    summary_seq: Generated<number>;
    /** number of the reader's run of the story, from 1 */
    run: Generated<number>;
    /** 1 if put aside for another run of the story, else 0 */
    shelved: Generated<number>;
    created_at: number;
    updated_at: number;
  };
  messages: {
    id: string;
    conversation_id: string;
    story_id: string;
    user_id: string;
    seq: number;
    version: number;
    revision: number;
    client_id: string | null;
    suggestion_id: string | null;
    role: 'user' | 'assistant' | 'system';
    body: string;
    status: MessageStatus;
    error_code: string | null;
    error_message: string | null;
    cost: number;
    /** number of the shown text of a retold reply, from 1 */
    variant: Generated<number>;
    variants: Generated<number>;
    created_at: number;
    updated_at: number;
    /** id of the backend that writes or wrote it; null with a SQLite file */
    runner: string | null;
    /** JSON: progress of the plot before this reply; null until it is being written */
    progress: string | null;
  };
  /** Texts of a retold reply. The row of the shown text may be outdated or missing, since the message contains it. */
  message_variants: Pick<Schema['messages'], 'body' | 'status' | 'error_code' | 'error_message'> & {
    message_id: string;
    variant: number;
    /** the message's revision when this text was replaced */
    revision: number;
  };
  suggestions: {
    id: string;
    conversation_id: string;
    user_id: string;
    base_version: number;
    count: number;
    status: 'pending' | 'ready' | 'failed';
    items: string;
    error_code: string | null;
    error_message: string | null;
    cost: number;
    created_at: number;
    expires_at: number;
    /** id of the backend that writes or wrote it; null with a SQLite file */
    runner: string | null;
  };
  transactions: {
    position: Generated<number>;
    id: string;
    user_id: string;
    type: TransactionType;
    amount: number;
    balance_after: number;
    description: string;
    ref_type: string;
    ref_id: string;
    ref_key: string;
    created_at: number;
  };
  orders: {
    /** number for readers: the day in Shanghai and eight digits */
    id: string;
    user_id: string;
    client_id: string;
    package_id: string;
    points: number;
    price_cents: number;
    provider: string;
    /** the provider's name on the receipt */
    method: string;
    /** an unpaid order is expired after `expires_at`, whichever status it has */
    status: 'created' | 'pending' | 'paid' | 'credited' | 'failed';
    checkout_url: string | null;
    created_at: number;
    expires_at: number;
    paid_at: number | null;
    credited_at: number | null;
  };
  /** Accepted webhooks with their responses. */
  payment_events: {
    provider: string;
    event_id: string;
    order_id: string;
    answer: string;
    created_at: number;
  };
  /** Data of the sandbox, which a real provider would store itself. */
  sandbox_checkouts: {
    token: string;
    order_id: string;
    points: number;
    price_cents: number;
    return_url: string;
    expires_at: number;
    outcome: 'paid' | 'failed' | null;
    delivered_at: number | null;
  };
  tickets: {
    /** number for readers and support: the day in Shanghai and six digits */
    id: string;
    user_id: string;
    client_id: string;
    kind: 'points' | 'story' | 'account' | 'other';
    body: string;
    contact: string;
    diagnostics: string;
    answer: string | null;
    answered_at: number | null;
    /** 1 once the user's pages were notified of the answer */
    announced: number;
    read_at: number | null;
    created_at: number;
  };
  check_ins: {
    user_id: string;
    date: string;
    streak: number;
    awarded: number;
  };
  /** Readers' reports with the reported text. They remain when the conversation is deleted. */
  reports: {
    id: string;
    user_id: string;
    message_id: string;
    story_id: string;
    reason: string;
    words: string;
    body: string;
    created_at: number;
  };
  idempotency: {
    user_id: string;
    method: string;
    path: string;
    key: string;
    request_hash: string;
    status: number;
    response: string;
    created_at: number;
  };
  /** Number of writes to a table, by any process. */
  changes: {
    subject: 'stories';
    count: number;
  };
  /** Number of readers with a conversation about a story, by which 最热 sorts. */
  story_readers: {
    story_id: string;
    count: number;
  };
  favorites: {
    user_id: string;
    story_id: string;
    created_at: number;
  };
  /** The backends that share a Postgres. */
  backends: {
    id: string;
    alive_until: number;
  };
  /** Attempts for the rate limits, on a Postgres that several backends share. */
  attempts: {
    position: Generated<number>;
    /** hashed */
    key: string;
    at: number;
  };
}

export type UserRow = Selectable<Schema['users']>;
export type StoryRow = Selectable<Schema['stories']>;
export type ConversationRow = Selectable<Schema['conversations']>;
export type MessageRow = Selectable<Schema['messages']>;
export type MessageVariantRow = Selectable<Schema['message_variants']>;
export type SuggestionRow = Selectable<Schema['suggestions']>;
export type OrderRow = Selectable<Schema['orders']>;
export type SandboxCheckoutRow = Selectable<Schema['sandbox_checkouts']>;
export type TicketRow = Selectable<Schema['tickets']>;
export type ReportRow = Selectable<Schema['reports']>;
export type TransactionRow = Selectable<Schema['transactions']>;
