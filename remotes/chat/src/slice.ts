import { createSlice, type PayloadAction, type RootState, rootReducer, session } from '@liaozhai/shared/runtime';
import type { PendingMessage } from './model/pendingMessage';
import type { Suggestion } from './model/story';

/** Suggestions for the next line, bought for one state of the conversation. */
export interface Suggestions {
  /** Which last message they were asked for. */
  baseKey: string;
  /** The key of an order whose outcome is unknown: it is made again under the same, so that it is paid for once. */
  clientId: string;
  /** What the API calls the set of them, which a message names that was taken from it; undefined until it has answered. */
  id?: string | undefined;
  status: Suggestion['status'];
  items: Suggestion['items'];
  /** The reader has closed their panel or taken one of them: they show again when asked for. */
  isClosed?: boolean;
}

interface ChatState {
  /** Pending lines, oldest first: the content of the device's outbox, ready to be painted. */
  pending: PendingMessage[];
  /** By story. */
  suggestions: Record<string, Suggestions>;
  /** Stories whose last reply was asked for more, another way or another of its texts, without an answer yet. */
  continuing: string[];
  /** When a server that asked for patience may be asked again, by story; ms of the page's running time, `performance.now()`. */
  resumesAt: Record<string, number>;
  /** Conversations that are hidden: their deletion can still be undone, or they are gone. */
  deleting: string[];
  /** Up to which version conversations have been seen here, by id. */
  read: Record<string, number>;
}

const initialState: ChatState = { pending: [], suggestions: {}, continuing: [], resumesAt: {}, deleting: [], read: {} };

const slice = createSlice({
  name: 'chat',
  initialState,
  reducers: {
    pendingAdded: ({ pending }, { payload }: PayloadAction<PendingMessage>) => {
      pending.push(payload);
    },
    pendingLoaded: (state, { payload }: PayloadAction<PendingMessage[]>) => {
      state.pending = payload;
    },
    pendingChanged: ({ pending }, { payload }: PayloadAction<PendingMessage>) => {
      const index = pending.findIndex((pending) => pending.clientId === payload.clientId);
      if (index >= 0) pending[index] = payload;
    },
    pendingRemoved: (state, { payload }: PayloadAction<string>) => {
      state.pending = state.pending.filter((pending) => pending.clientId !== payload);
    },
    suggestionsChanged: (
      { suggestions },
      { payload }: PayloadAction<{ storyId: string; suggestions: Suggestions }>,
    ) => {
      suggestions[payload.storyId] = payload.suggestions;
    },
    continuingChanged: (state, { payload }: PayloadAction<{ storyId: string; on: boolean }>) => {
      const others = state.continuing.filter((id) => id !== payload.storyId);
      state.continuing = payload.on ? [...others, payload.storyId] : others;
    },
    waitRequested: ({ resumesAt }, { payload }: PayloadAction<{ storyId: string; until: number }>) => {
      resumesAt[payload.storyId] = payload.until;
    },
    conversationHidden: ({ deleting }, { payload }: PayloadAction<string>) => {
      if (!deleting.includes(payload)) deleting.push(payload);
    },
    conversationShown: (state, { payload }: PayloadAction<string>) => {
      state.deleting = state.deleting.filter((id) => id !== payload);
    },
    conversationRead: ({ read }, { payload }: PayloadAction<{ id: string; version: number }>) => {
      read[payload.id] = payload.version;
    },
    userLeft: () => initialState,
  },
});

const injected = slice.injectInto(rootReducer);

export const chatActions = slice.actions;
export const selectChat = (state: RootState): ChatState =>
  injected.selectSlice(state as RootState & { chat?: ChatState });

/** Whose chats these are; null for a guest. */
export const currentUserId = (): string | null => {
  const now = session.current();
  return now.status === 'member' ? now.user.id : null;
};
