import { combineSlices, configureStore } from '@reduxjs/toolkit';
import { useDispatch as useAnyDispatch, useSelector as useAnySelector } from 'react-redux';
import { api } from './api';
import { preferencesSlice } from './preferences/preferencesSlice';
import { sessionSlice } from './session/sessionSlice';
import { toastsSlice } from './toasts/toastsSlice';

/** Remotes add slices of their own: `slice.injectInto(rootReducer)`. */
export const rootReducer = combineSlices(api, sessionSlice, toastsSlice, preferencesSlice);

export const makeStore = () =>
  configureStore({ reducer: rootReducer, middleware: (defaults) => defaults().concat(api.middleware) });

export const store = makeStore();

export type RootState = ReturnType<typeof rootReducer>;
export type AppDispatch = typeof store.dispatch;

export const useDispatch = useAnyDispatch.withTypes<AppDispatch>();
export const useSelector = useAnySelector.withTypes<RootState>();
