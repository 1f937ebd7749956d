import { createSlice, type PayloadAction } from '@reduxjs/toolkit';
import { STORAGE_KEYS } from '../storage/keys';
import { readJson } from '../storage/localStored';

export type Theme = 'system' | 'light' | 'dark';
export type FontSize = 1 | 2 | 3 | 4;
export interface Preferences {
  theme: Theme;
  fontSize: FontSize;
}

export function readPreferences(): Preferences {
  const { theme, fontSize } = (readJson(STORAGE_KEYS.preferences) ?? {}) as Partial<Preferences>;
  return {
    theme: theme === 'light' || theme === 'dark' ? theme : 'system',
    fontSize: fontSize === 1 || fontSize === 3 || fontSize === 4 ? fontSize : 2,
  };
}

export const preferencesSlice = createSlice({
  name: 'preferences',
  initialState: readPreferences,
  reducers: {
    preferencesChanged: (state, { payload }: PayloadAction<Partial<Preferences>>) => ({ ...state, ...payload }),
  },
});
