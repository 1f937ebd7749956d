import { createSlice, type PayloadAction, type RootState, rootReducer } from '@liaozhai/shared/runtime';
import type { Line } from './model/pendingMessage';
import type { Suggestion } from './model/story';

/** Ideas for the next line, bought for one state of the conversation. */
export interface Ideas {
  /** Which last message they were asked for. */
  baseKey: string;
  /** Asked again after a failure under the same key, so that they are paid for once. */
  clientId: string;
  status: Suggestion['status'];
  items: Suggestion['items'];
}

interface ChatState {
  /** Lines on their way, oldest first: what the device's outbox holds, ready to be painted at once. */
  lines: Line[];
  /** By story. */
  ideas: Record<string, Ideas>;
  /** Stories whose last reply was asked to go on and has not answered yet. */
  continuing: string[];
  /** When a server that asked for patience may be asked again, by story; epoch, ms. */
  resumesAt: Record<string, number>;
  /** Conversations that are hidden: their deletion can still be undone, or they are gone. */
  deleting: string[];
}

const initialState: ChatState = { lines: [], ideas: {}, continuing: [], resumesAt: {}, deleting: [] };

const slice = createSlice({
  name: 'chat',
  initialState,
  reducers: {
    lineWritten: ({ lines }, { payload }: PayloadAction<Line>) => {
      lines.push(payload);
    },
    linesRead: (state, { payload }: PayloadAction<Line[]>) => {
      state.lines = payload;
    },
    lineChanged: ({ lines }, { payload }: PayloadAction<Line>) => {
      const index = lines.findIndex((line) => line.clientId === payload.clientId);
      if (index >= 0) lines[index] = payload;
    },
    lineRemoved: (state, { payload }: PayloadAction<string>) => {
      state.lines = state.lines.filter((line) => line.clientId !== payload);
    },
    ideasChanged: ({ ideas }, { payload }: PayloadAction<{ storyId: string; ideas: Ideas }>) => {
      ideas[payload.storyId] = payload.ideas;
    },
    continuingChanged: (state, { payload }: PayloadAction<{ storyId: string; on: boolean }>) => {
      const others = state.continuing.filter((id) => id !== payload.storyId);
      state.continuing = payload.on ? [...others, payload.storyId] : others;
    },
    patienceAsked: ({ resumesAt }, { payload }: PayloadAction<{ storyId: string; until: number }>) => {
      resumesAt[payload.storyId] = payload.until;
    },
    conversationHidden: ({ deleting }, { payload }: PayloadAction<string>) => {
      if (!deleting.includes(payload)) deleting.push(payload);
    },
    conversationShown: (state, { payload }: PayloadAction<string>) => {
      state.deleting = state.deleting.filter((id) => id !== payload);
    },
    userLeft: () => initialState,
  },
});

const injected = slice.injectInto(rootReducer);

export const chatActions = slice.actions;
export const selectChat = (state: RootState): ChatState => injected.selectSlice(state as never);
