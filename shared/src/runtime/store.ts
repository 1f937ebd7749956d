import { combineSlices, configureStore, createSlice, type PayloadAction } from '@reduxjs/toolkit';
import { setupListeners } from '@reduxjs/toolkit/query';
import { useDispatch as useAnyDispatch, useSelector as useAnySelector } from 'react-redux';
import { listenTo, stopAll } from '../format/browser';
import { api } from './api';
import { hostConfig } from './hostConfig';
import type { User } from './session/user';

export interface StoredToast {
  id: string;
  text: string;
  kind: 'plain' | 'success' | 'error';
  actionLabel?: string;
}

export const toastsSlice = createSlice({
  name: 'toasts',
  initialState: [] as StoredToast[],
  reducers: {
    toastRaised: (toasts, { payload }: PayloadAction<StoredToast>) => {
      toasts.push(payload);
    },
    toastRaisedFirst: (toasts, { payload }: PayloadAction<StoredToast>) => {
      toasts.unshift(payload);
    },
    toastDismissed: (toasts, { payload }: PayloadAction<string>) => toasts.filter(({ id }) => id !== payload),
  },
});

/**
 * A `member` is authenticated; `unknown` lasts until the stored user has been read. `expired` marks a guest whose session
 * expired on this device.
 */
export type Session =
  | { status: 'unknown' }
  | { status: 'guest'; expired?: ExpiredSession | undefined }
  | { status: 'member'; user: User };

/** The user of an expired session, who only needs to sign in again. */
export interface ExpiredSession {
  id: string;
  /** login name; may be empty */
  login: string;
}

export const sessionSlice = createSlice({
  name: 'session',
  initialState: { status: 'unknown' } as Session,
  reducers: {
    signedIn: (_, { payload: user }: PayloadAction<User>): Session => ({ status: 'member', user }),
    signedOut: (_, { payload: expired }: PayloadAction<ExpiredSession | null>): Session =>
      expired ? { status: 'guest', expired } : { status: 'guest' },
  },
});

/** Remotes add their slices with `slice.injectInto(rootReducer)`. */
export const rootReducer = combineSlices(api, sessionSlice, toastsSlice);

export type RootState = ReturnType<typeof rootReducer>;

export const store = configureStore({
  reducer: rootReducer,
  devTools: process.env.NODE_ENV === 'development' || hostConfig().devTools,
  middleware: (defaults) => defaults().concat(api.middleware),
  // renders a change before the next paint; the default `raf` would render one frame later
  enhancers: (defaults) => defaults({ autoBatch: { type: 'tick' } }),
});

export type AppDispatch = typeof store.dispatch;

export const useSelector = useAnySelector.withTypes<RootState>();
export const useDispatch = useAnyDispatch.withTypes<AppDispatch>();

// No `focus` listener: a page that becomes visible catches up by events instead of refetching everything.
setupListeners(store.dispatch, (dispatch, { onOnline, onOffline }) =>
  stopAll(
    listenTo(window, ['online'], () => dispatch(onOnline())),
    listenTo(window, ['offline'], () => dispatch(onOffline())),
  ),
);
