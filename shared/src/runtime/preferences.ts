import { useSyncExternalStore } from 'react';
import { fallback, object, parse, picklist } from 'valibot';
import { STORAGE_KEYS } from '../contract';
import { createCell, createSignal } from './signal';
import { local, onForeignChange, readJson } from './storage/browserStorage';

export type Theme = 'system' | 'light' | 'dark';
export type FontSize = 1 | 2 | 3 | 4;

interface Preferences {
  theme: Theme;
  fontSize: FontSize;
}

const defaults: Preferences = { theme: 'system', fontSize: 2 };
const schema = fallback(
  object({
    theme: fallback(picklist(['system', 'light', 'dark']), defaults.theme),
    fontSize: fallback(picklist([1, 2, 3, 4]), defaults.fontSize),
  }),
  defaults,
);

const read = (): Preferences => parse(schema, readJson(STORAGE_KEYS.preferences));
const changed = createSignal();
const preferences = createCell(defaults);

/** Colours the browser's toolbar: with an explicit theme only that theme's `<meta>` applies, else the system decides. */
function colourBar(theme: Theme) {
  for (const colour of document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')) {
    const own = colour.dataset.scheme;
    if (theme === 'system') colour.media = `(prefers-color-scheme: ${own})`;
    else colour.media = own === theme ? 'all' : 'not all';
  }
}

function apply() {
  const { theme, fontSize } = read();
  preferences.set({ theme, fontSize });
  const { dataset } = document.documentElement;
  if (theme === 'system') delete dataset.theme;
  else dataset.theme = theme;
  dataset.fontSize = String(fontSize);
  colourBar(theme);
  changed.emit();
}

function prefer(choice: Partial<Preferences>) {
  local.set(STORAGE_KEYS.preferences, JSON.stringify({ ...read(), ...choice }));
  apply();
}

const setTheme = (theme: Theme) => prefer({ theme });
const setFontSize = (fontSize: FontSize) => prefer({ fontSize });

/** The theme of this device, set as `<html data-theme>`; other tabs follow. */
export const useTheme = (): [Theme, (theme: Theme) => void] => [
  useSyncExternalStore(changed.on, () => preferences.current().theme),
  setTheme,
];

export const useFontSize = (): [FontSize, (size: FontSize) => void] => [
  useSyncExternalStore(changed.on, () => preferences.current().fontSize),
  setFontSize,
];

if (typeof window !== 'undefined') {
  apply();
  onForeignChange((key) => {
    if (key === null || key === STORAGE_KEYS.preferences) apply();
  });
}
