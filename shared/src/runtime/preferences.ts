import { useSyncExternalStore } from 'react';
import { fallback, type InferOutput, object, parse, picklist } from 'valibot';
import { STORAGE_KEYS } from '../contract';
import { createCell } from './signal';
import { local, onForeignChange, readJson } from './storage/browserStorage';

const schema = fallback(
  object({
    theme: fallback(picklist(['system', 'light', 'dark']), 'system'),
    fontSize: fallback(picklist([1, 2, 3, 4]), 2),
  }),
  { theme: 'system', fontSize: 2 },
);

type Preferences = InferOutput<typeof schema>;
export type Theme = Preferences['theme'];
export type FontSize = Preferences['fontSize'];

const readPreferences = (): Preferences => parse(schema, readJson(STORAGE_KEYS.preferences));
const preferences = createCell(parse(schema, undefined));

/** Colours the browser's toolbar: with an explicit theme only that theme's `<meta>` applies, else the system decides. */
function setToolbarColour(theme: Theme) {
  for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')) {
    const scheme = meta.dataset.scheme;
    if (theme === 'system') meta.media = `(prefers-color-scheme: ${scheme})`;
    else meta.media = scheme === theme ? 'all' : 'not all';
  }
}

function applyPreferences() {
  const { theme, fontSize } = readPreferences();
  const { dataset } = document.documentElement;
  if (theme === 'system') delete dataset.theme;
  else dataset.theme = theme;
  dataset.fontSize = String(fontSize);
  setToolbarColour(theme);
  preferences.set({ theme, fontSize });
}

function savePreferences(choice: Partial<Preferences>) {
  local.set(STORAGE_KEYS.preferences, JSON.stringify({ ...readPreferences(), ...choice }));
  applyPreferences();
}

const setTheme = (theme: Theme) => savePreferences({ theme });
const setFontSize = (fontSize: FontSize) => savePreferences({ fontSize });

/** The theme of this device, set as `<html data-theme>`; other tabs follow. */
export const useTheme = (): [Theme, (theme: Theme) => void] => [
  useSyncExternalStore(preferences.on, preferences.current).theme,
  setTheme,
];

export const useFontSize = (): [FontSize, (size: FontSize) => void] => [
  useSyncExternalStore(preferences.on, preferences.current).fontSize,
  setFontSize,
];

applyPreferences();
onForeignChange((key) => {
  if (key == null || key === STORAGE_KEYS.preferences) applyPreferences();
});
