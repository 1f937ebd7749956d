import { createSlice, type PayloadAction } from '@reduxjs/toolkit';
import type { User } from './user';

/** Authenticated ⇔ `member`; `unknown` only until the stored user has been read. */
export type Session = { status: 'unknown' } | { status: 'guest' } | { status: 'member'; user: User };

export const sessionSlice = createSlice({
  name: 'session',
  initialState: { status: 'unknown' } as Session,
  reducers: {
    userChanged: (_, { payload: user }: PayloadAction<User | null>): Session =>
      user ? { status: 'member', user } : { status: 'guest' },
  },
});
