import { afterEach, beforeEach, expect, test } from '@rstest/core';
import { keepFocus } from './keepFocus';

let stop = () => {};

beforeEach(() => {
  // happy-dom has no layout
  Element.prototype.getClientRects = () => [{}] as unknown as DOMRectList;
  stop = keepFocus();
});

afterEach(() => stop());

const id = (name: string) => document.getElementById(name) as HTMLElement;

const log =
  '<section id="log"><button id="above"></button><article><button id="more"></button><p id="foot"><button id="retell"></button></p></article></section>';
const row =
  '<ul><li id="r1"><a id="first" href="/1"></a></li><li id="r2"><a href="/2"></a><button id="dots"></button></li><li id="r3"><a id="third" href="/3"></a></li></ul>';

test.each([
  [
    'its neighbour',
    '<p><button id="a"></button><button id="b"></button></p>',
    'a',
    (a: HTMLElement) => a.remove(),
    'b',
  ],
  [
    'the one before, at the end',
    '<p><button id="a"></button><button id="b"></button></p>',
    'b',
    (b: HTMLElement) => b.remove(),
    'a',
  ],
  ['the nearest in its message', log, 'retell', () => id('foot').remove(), 'more'],
  ['the next row', row, 'dots', () => id('r2').remove(), 'third'],
  ['the next row, when its own is inert', row, 'dots', () => id('r2').setAttribute('inert', ''), 'third'],
  [
    'the other arrow',
    '<p><button id="a"></button><button id="b"></button></p>',
    'a',
    (a: HTMLElement) => a.setAttribute('disabled', ''),
    'b',
  ],
  [
    'nothing that is disabled',
    '<p><button id="a"></button><button disabled></button><button id="b"></button></p>',
    'a',
    (a: HTMLElement) => a.remove(),
    'b',
  ],
])('a lost focus moves to %s', async (_, html, focused, act, next) => {
  document.body.innerHTML = `<main>${html}</main>`;
  id(focused).focus();
  act(id(focused));
  await new Promise((resolve) => setTimeout(resolve));
  expect(document.activeElement?.id).toBe(next);
});

test('a focus lost with a closed dialog moves to no stranger', async () => {
  document.body.innerHTML = '<main><dialog open><p id="panel" tabindex="-1"></p></dialog><a href="/1"></a></main>';
  id('panel').focus();
  document.querySelector('dialog')?.removeAttribute('open');
  id('panel').remove();
  await new Promise((resolve) => setTimeout(resolve));
  expect(document.activeElement).toBe(document.body);
});

test('a focus that the user removed is not restored', async () => {
  document.body.innerHTML = '<main><button id="a"></button><p></p></main>';
  id('a').focus();
  id('a').blur();
  document.querySelector('p')?.remove();
  await new Promise((resolve) => setTimeout(resolve));
  expect(document.activeElement).toBe(document.body);
});
