import { createSlice, type PayloadAction, type RootState, rootReducer, session } from '@liaozhai/shared/runtime';
import type { EditedLine } from './model/message';
import type { PendingMessage } from './model/pendingMessage';
import type { Suggestion } from './model/story';

/** Suggestions for the next line, bought for one state of the conversation. */
export interface Suggestions {
  /** Last message and its version at the time of the request, see `suggestionKeyOf`. */
  baseKey: string;
  /** Idempotency key of an order whose outcome is unknown; a repeated order uses it, so that it is paid for once. */
  clientId: string;
  /** The API's id of the set, which is sent with a message that was taken from it; undefined until the response. */
  id?: string | undefined;
  status: Suggestion['status'];
  items: Suggestion['items'];
  /** Whether the user has closed the panel or used a suggestion; the next request shows it again. */
  isClosed?: boolean;
}

interface Pause {
  /** `performance.now()`, in ms */
  until: number;
  /** Whether the server is overloaded; else the user sends too fast. */
  isOverloaded: boolean;
}

/** An open request that deletes messages: the edit of a line, or the restart of the conversation. */
export type Rewrite = EditedLine | { conversationId: string };

interface ChatState {
  /** What the device's outbox holds, oldest first. */
  pending: PendingMessage[];
  /** By story id. */
  suggestions: Record<string, Suggestions>;
  /** Ids of stories with an open request that changes the last reply or edits a message. */
  continuing: string[];
  /** By story id. */
  rewrites: Record<string, Rewrite>;
  /** Pauses that the server has requested, by story. */
  pauses: Record<string, Pause>;
  /** Ids of hidden conversations: deleted, or deletion still undoable. */
  deleting: string[];
  /** Version up to which conversations have been seen on this page, by id. */
  read: Record<string, number>;
  /** The `pinnedAt` that the user has chosen for conversations while it is being saved, by id. */
  pins: Record<string, string>;
}

const initialState: ChatState = {
  pending: [],
  suggestions: {},
  continuing: [],
  rewrites: {},
  pauses: {},
  deleting: [],
  read: {},
  pins: {},
};

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
      const otherIds = state.continuing.filter((id) => id !== payload.storyId);
      state.continuing = payload.on ? [...otherIds, payload.storyId] : otherIds;
    },
    rewriteStarted: ({ rewrites }, { payload }: PayloadAction<{ storyId: string; rewrite: Rewrite }>) => {
      rewrites[payload.storyId] = payload.rewrite;
    },
    rewriteEnded: ({ rewrites }, { payload }: PayloadAction<string>) => {
      delete rewrites[payload];
    },
    pauseRequested: ({ pauses }, { payload }: PayloadAction<{ storyId: string; pause: Pause }>) => {
      pauses[payload.storyId] = payload.pause;
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
    pinChosen: ({ pins }, { payload }: PayloadAction<{ id: string; pinnedAt: string }>) => {
      pins[payload.id] = payload.pinnedAt;
    },
    pinSettled: ({ pins }, { payload }: PayloadAction<string>) => {
      delete pins[payload];
    },
    userLeft: () => initialState,
  },
});

const injected = slice.injectInto(rootReducer);

export const chatActions = slice.actions;
export const selectChat = (state: RootState): ChatState =>
  injected.selectSlice(state as RootState & { chat?: ChatState });

/** Whether this conversation of the story is being restarted. */
export function selectIsRestarting(
  state: RootState,
  storyId: string,
  conversationId: string | null | undefined,
): boolean {
  const rewrite = selectChat(state).rewrites[storyId];
  return rewrite !== undefined && !('id' in rewrite) && rewrite.conversationId === conversationId;
}

/** Owner of the chats; null for a guest. */
export const currentUserId = (): string | null => {
  const currentSession = session.current();
  return currentSession.status === 'member' ? currentSession.user.id : null;
};
