import '../testing/pageFixture';
import { waitFor } from '@liaozhai/shared/testing';
import { beforeAll, beforeEach, expect, test } from '@rstest/core';
import { createCheckedElement, guardLateFiles } from './lateFiles';

const loaded: string[] = [];

beforeAll(guardLateFiles);
beforeEach(() => {
  loaded.length = 0;
  globalThis.__loadAsset = async (kind, url) => {
    loaded.push(`${kind} ${url}`);
  };
});

const make = <Name extends 'script' | 'link'>(name: Name, properties: Partial<HTMLElementTagNameMap[Name]>) =>
  Object.assign(document.createElement(name), properties);

const withAttributes = (element: Element, attributes: Record<string, string>) => {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
};

test.each<[string, () => Element, string]>([
  ['a script by its property', () => make('script', { src: '/late.js' }), 'script /late.js'],
  [
    'a script by its attribute',
    () => withAttributes(document.createElement('script'), { SRC: '/late.js' }),
    'script /late.js',
  ],
  ['a stylesheet by its properties', () => make('link', { rel: 'stylesheet', href: '/late.css' }), 'style /late.css'],
  [
    'a stylesheet by its attributes',
    () => withAttributes(document.createElement('link'), { rel: 'stylesheet', href: '/late.css' }),
    'style /late.css',
  ],
  [
    'a stylesheet whose address comes first',
    () => make('link', { href: '/late.css', rel: 'stylesheet' }),
    'style /late.css',
  ],
  [
    'the same by attributes',
    () => withAttributes(document.createElement('link'), { href: '/late.css', rel: 'preload stylesheet' }),
    'style /late.css',
  ],
])('%s comes through the asset loader, and says when', async (_, create, expected) => {
  const element = create();
  expect(loaded).toEqual([expected]);
  expect(element.hasAttribute('src') || element.hasAttribute('href')).toBe(false);
  const events: string[] = [];
  element.addEventListener('load', () => events.push('listener'));
  Object.assign(element, { onload: () => events.push('handler') });
  await waitFor(() => expect(events.sort()).toEqual(['handler', 'listener']));
});

test.each<[string, () => HTMLElement, string]>([
  ['an element of the asset loader', () => Object.assign(createCheckedElement('script'), { src: '/own.js' }), 'src'],
  ['a module script', () => make('script', { type: 'module', src: '/own.js' }), 'src'],
  ['a preload', () => make('link', { rel: 'preload', href: '/own.js' }), 'href'],
  ['an icon', () => make('link', { href: '/own.js', rel: 'icon' }), 'href'],
])('%s is left to the browser', (_, create, attribute) => {
  expect(create().getAttribute(attribute)).toBe('/own.js');
  expect(loaded).toEqual([]);
});
