import { STORAGE_KEYS } from '../storage/keys';
import { onOtherTabs, writeJson } from '../storage/localStored';
import { store, useSelector } from '../store';
import { type FontSize, type Preferences, preferencesSlice, readPreferences, type Theme } from './preferencesSlice';

const { preferencesChanged } = preferencesSlice.actions;

function apply({ theme, fontSize }: Preferences) {
  const { dataset } = document.documentElement;
  if (theme === 'system') delete dataset.theme;
  else dataset.theme = theme;
  dataset.fontSize = String(fontSize);
}

function choose(change: Partial<Preferences>) {
  store.dispatch(preferencesChanged(change));
  const chosen = store.getState().preferences;
  writeJson(STORAGE_KEYS.preferences, chosen);
  apply(chosen);
}

apply(store.getState().preferences);
onOtherTabs(STORAGE_KEYS.preferences, () => {
  const chosen = readPreferences();
  store.dispatch(preferencesChanged(chosen));
  apply(chosen);
});

const setTheme = (theme: Theme) => choose({ theme });
const setFontSize = (fontSize: FontSize) => choose({ fontSize });

export const useTheme = (): [Theme, (theme: Theme) => void] => [
  useSelector((state) => state.preferences.theme),
  setTheme,
];
export const useFontSize = (): [FontSize, (size: FontSize) => void] => [
  useSelector((state) => state.preferences.fontSize),
  setFontSize,
];
