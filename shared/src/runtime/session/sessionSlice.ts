import { createSlice, type PayloadAction } from '@reduxjs/toolkit';
import { readStoredUser } from './storedUser';
import { emptyUser, type User } from './user';

interface SessionState {
  user: User | null;
}

/** Nobody is authenticated without an id. */
export const sessionSlice = createSlice({
  name: 'session',
  initialState: (): SessionState => ({ user: readStoredUser() }),
  reducers: {
    userReplaced: (state, { payload }: PayloadAction<Partial<User>>) => {
      state.user = payload.id ? { ...emptyUser, ...payload } : null;
    },
    userPatched: ({ user }, { payload }: PayloadAction<Partial<User>>) => {
      if (!user) return;
      // an answer that was overtaken by a newer event
      if (payload.version !== undefined && user.version !== undefined && payload.version < user.version) return;
      Object.assign(user, payload, { id: user.id });
    },
    balanceShifted: ({ user }, { payload }: PayloadAction<number>) => {
      if (user) user.balance += payload;
    },
    userCleared: (state) => {
      state.user = null;
    },
  },
});
