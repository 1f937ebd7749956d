import { combineSlices, configureStore, createSlice, type PayloadAction } from '@reduxjs/toolkit';
import { setupListeners } from '@reduxjs/toolkit/query';
import { useDispatch as useAnyDispatch, useSelector as useAnySelector } from 'react-redux';
import { PAGE_ELEMENTS } from '../contract';
import { api } from './api';
import { parseHostConfig } from './hostConfig';
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
 * Authenticated ⇔ `member`; `unknown` only until the stored user has been read. A guest whose session has run out here is
 * told apart from others by `expired`.
 */
export type Session =
  | { status: 'unknown' }
  | { status: 'guest'; expired?: ExpiredSession | undefined }
  | { status: 'member'; user: User };

/** Whose session has run out: they need only sign in again. */
export interface ExpiredSession {
  id: string;
  /** what they sign in with; may be empty */
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

const showsDevTools = () =>
  process.env.NODE_ENV === 'development' ||
  (typeof document !== 'undefined' &&
    parseHostConfig(document.getElementById(PAGE_ELEMENTS.config)?.textContent).devTools);

/** The page's one store. */
export const store = configureStore({
  reducer: rootReducer,
  devTools: showsDevTools(),
  middleware: (defaults) => defaults().concat(api.middleware),
  // what changes before a paint is drawn with it; waiting for a frame would draw it in the one after
  enhancers: (defaults) => defaults({ autoBatch: { type: 'tick' } }),
});

export type AppDispatch = typeof store.dispatch;

export const useSelector = useAnySelector.withTypes<RootState>();
export const useDispatch = useAnyDispatch.withTypes<AppDispatch>();

// Focus is left out: coming back is answered by catching up, not by asking for everything again.
if (typeof window !== 'undefined') {
  setupListeners(store.dispatch, (dispatch, { onOnline, onOffline }) => {
    const online = () => dispatch(onOnline());
    const offline = () => dispatch(onOffline());
    window.addEventListener('online', online);
    window.addEventListener('offline', offline);
    return () => {
      window.removeEventListener('online', online);
      window.removeEventListener('offline', offline);
    };
  });
}
