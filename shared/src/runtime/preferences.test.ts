import { expect, test } from '@rstest/core';
import { act, renderHook } from '../testing';
import { useFontSize, useTheme } from './preferences';

const { dataset } = document.documentElement;
const key = 'liaozhai-preferences';

test('a theme is applied, stored and reset to the system’s', () => {
  const { result } = renderHook(useTheme);
  expect(result.current[0]).toBe('system');
  act(() => result.current[1]('dark'));
  expect(result.current[0]).toBe('dark');
  expect(dataset.theme).toBe('dark');
  expect(JSON.parse(localStorage.getItem(key) ?? '')).toMatchObject({ theme: 'dark' });
  act(() => result.current[1]('system'));
  expect(dataset.theme).toBeUndefined();
});

test.each([
  ['system', { light: '(prefers-color-scheme: light)', dark: '(prefers-color-scheme: dark)' }],
  ['light', { light: 'all', dark: 'not all' }],
  ['dark', { light: 'not all', dark: 'all' }],
] as const)('the bar of the browser has the colour of the %s theme', (theme, media) => {
  const colours = (['light', 'dark'] as const).map((scheme) => {
    const colour = document.createElement('meta');
    Object.assign(colour, { name: 'theme-color' }).dataset.scheme = scheme;
    document.head.append(colour);
    return colour;
  });
  const { result } = renderHook(useTheme);
  act(() => result.current[1](theme));
  expect(Object.fromEntries(colours.map((colour) => [colour.dataset.scheme, colour.media]))).toEqual(media);
  for (const colour of colours) colour.remove();
});

test('a font size does not touch the theme', () => {
  const theme = renderHook(useTheme);
  const size = renderHook(useFontSize);
  act(() => theme.result.current[1]('light'));
  act(() => size.result.current[1](4));
  expect(dataset.fontSize).toBe('4');
  expect(theme.result.current[0]).toBe('light');
});

test('changes in other tabs apply, and invalid values have the default', () => {
  const { result } = renderHook(useTheme);
  const otherTabSays = (text: string) =>
    act(() => {
      localStorage.setItem(key, text);
      window.dispatchEvent(new StorageEvent('storage', { key }));
    });
  otherTabSays('{"theme":"dark","fontSize":9}');
  expect(result.current[0]).toBe('dark');
  expect(dataset.fontSize).toBe('2');
  otherTabSays('{broken');
  expect(result.current[0]).toBe('system');
});
