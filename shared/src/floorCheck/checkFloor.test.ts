import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@rstest/core';
import { floor } from '../build/floor.ts';
import { checkFloor, describeBeyond, exceptionsOf } from './checkFloor.ts';

const folder = mkdtempSync(join(tmpdir(), 'liaozhai-floor-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;

/** Findings in built files with these contents, without exceptions. */
async function featuresIn(files: Record<string, string>): Promise<string[]> {
  count += 1;
  const at = mkdtempSync(join(folder, `${count}-`));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(at, name), text);
  const { found } = await checkFloor(at, { floor, allowed: [] });
  return found.map(({ feature }) => feature);
}

describe('scripts', () => {
  test.each([
    ['a method that no value of the floor has', 'e.toSpliced(1, 0, t)', '.toSpliced()'],
    ['the same behind a question mark', 'e?.hidePopover?.()', '.hidePopover()'],
    ['a name that own objects have as well, when arrays have it', 'a={with(){}};e.with(0,1)', '.with()'],
    ['a static method', 'URL.canParse(e)', 'URL.canParse()'],
    ['a static method of the language', 'Promise.withResolvers()', 'Promise.withResolvers()'],
    ['one reached through the global object', 'window.URL.canParse(e)', 'URL.canParse()'],
    ['a global name', 'setTimeout(()=>requestIdleCallback(e))', 'requestIdleCallback'],
    ['a constructor', 'new Intl.Segmenter()', 'Intl.Segmenter()'],
    ['an event', 'e.addEventListener("scrollend",t)', 'event scrollend'],
    ['an attribute as React writes it', '(0,r.jsx)("div",{popover:"auto"})', '<div popover>'],
    ['a style set by script', 'e.current.style.translate="0"', 'style.translate'],
    ['a style as React writes it', '(0,r.jsx)("i",{style:{translate:0}})', 'style.translate'],
    ['syntax', 'using e=t()', 'syntax'],
    ['a flag of a regular expression', '/[a--b]/v', 'syntax'],
  ])('finds %s', async (_, script, feature) => expect(await featuresIn({ 'a.js': script })).toContain(feature));

  test.each([
    ['what the floor has', 'class A{static #a=1;static{structuredClone([].at(-1)?.findLast(Object.hasOwn))}}'],
    ['a method of one type that another has on the floor', 'e.map(t).filter(n).some(r)'],
    ['a question for a name', 'typeof navigation==="object"'],
    ['a question for a member', 'navigator.share?1:0;if(window.cookieStore)e()'],
    ['a local name that a newer global goes by', '(function(navigation){navigation.navigate})'],
    [
      'own methods that sets, buffers and iterators have as well',
      'class C{resize(){}union(){}toArray(){}};c.resize();c.union(d);c.toArray()',
    ],
    ['what a device of any age lacks', 'e.addEventListener("touchstart",t)'],
  ])('passes %s', async (_, script) => expect(await featuresIn({ 'a.js': script })).toEqual([]));

  test('passes a method that another file of the build defines', async () => {
    expect(await featuresIn({ 'a.js': 'texts={month:e=>e}', 'b.js': 'texts.month(3)' })).toEqual([]);
    expect(await featuresIn({ 'b.js': 'texts.showPopover()' })).toEqual(['.showPopover()']);
  });
});

describe('styles', () => {
  test.each([
    ['a unit without a fallback', '.a{height:100dvh}', 'height: dvh'],
    ['a unit whose fallback stands after it', '.a{height:100dvh;width:1px}.a{height:100%}', 'height: dvh'],
    [
      'a unit next to var(), which makes the fallback useless',
      '.a{height:100%;height:calc(100dvh - var(--b))}',
      'height: dvh',
    ],
    ['a unit in a custom property', '.a{--b:1px;--b:100dvh}', '--…: dvh'],
    ['a property', '.a{translate:0 1px}', 'translate'],
    ['a keyword', '.a{text-align:match-parent;display:grid-lanes}', 'display: grid-lanes'],
    ['a function', '.a{color:color-mix(in srgb,red,blue)}', 'color: color-mix()'],
    ['a selector', '.a:has(.b){}', ':has'],
    ['a selector inside @media', '@media (min-width:1px){.a:popover-open{}}', ':popover-open'],
    ['nested rules', '.a{& .b{}}', 'nested rules'],
    ['an at-rule', '@container (width > 1px){.a{}}', '@container'],
    ['a range of a media query', '@media (1px <= width <= 2px){.a{}}', '@media with < or >'],
    ['a step of keyframes', '@keyframes a{to{rotate:1turn}}', 'rotate'],
  ])('finds %s', async (_, css, feature) => expect(await featuresIn({ 'a.css': css })).toContain(feature));

  test.each([
    ['a unit with a fallback before it', '.a{height:100vh;height:100dvh}'],
    ['what @supports asks for', '@supports (height:100dvh){.a{height:100dvh;translate:0}}'],
    ['a property that stands there with its prefix too', '.a{-webkit-mask-image:none;mask-image:none}'],
    ['what the floor has', '.a:is(.b,:focus-visible){inset:0;aspect-ratio:1;--b:1px;width:max(1px,var(--b))}'],
  ])('passes %s', async (_, css) => expect(await featuresIn({ 'a.css': css })).toEqual([]));
});

test('scripts, styles and attributes of pages are checked, also in prerendered content', async () => {
  const page = (body: string) =>
    `<!doctype html><style>.a{translate:0}</style><script>URL.canParse("")</script>${body}`;
  const found = ['URL.canParse()', 'translate', '<p popover>'];
  expect((await featuresIn({ 'page.html': page('<p popover="auto">popovertarget</p>') })).sort()).toEqual(found.sort());
  expect(await featuresIn({ 'a.json': JSON.stringify({ html: '<p popover="auto"></p>' }) })).toEqual(['<p popover>']);
  expect(await featuresIn({ 'page.html': '<script type="application/json">{"a":"URL.canParse()"}</script>' })).toEqual(
    [],
  );
  expect(await featuresIn({ 'page.html': page('<script>/<\\/p>\\s*$/.test("")</script>') })).not.toContain('syntax');
});

test('a finding names file, feature, browsers and cure; an exception removes it and is counted', async () => {
  const at = mkdtempSync(join(folder, 'report-'));
  writeFileSync(join(at, 'a.css'), '.a{translate:0}.b{translate:1px}');
  const exception = { features: ['translate'], where: /^a\.css$/, why: 'a test' };
  const { found } = await checkFloor(at, { floor, allowed: [] });
  expect(found.map(describeBeyond)).toEqual([
    expect.stringMatching(/^a\.css: translate \(2 times\) is not in chrome 103 \(since 104\): .*@supports/),
  ]);
  expect(await checkFloor(at, { floor, allowed: [exception] })).toEqual({ found: [], used: new Set([exception]) });
});

describe('exceptions of a team', () => {
  test('are in its package.json with features, reason and a part of the path', () => {
    const floor = [{ features: ['.showPopover()'], file: 'js/chart.', why: 'asked for first' }];
    const [exception] = exceptionsOf(JSON.stringify({ name: 'gifts', floor }));
    expect(exception?.features).toEqual(['.showPopover()']);
    expect(exception?.where?.test('static/js/chart.1a2b.js')).toBe(true);
    expect(exception?.where?.test('static/js/chartx1a2b.js')).toBe(false);
    expect(exceptionsOf('{}')).toEqual([]);
  });

  test.each([
    [{}],
    [[{ features: ['x'] }]],
    [[{ features: [], why: 'so' }]],
    [[null]],
    [[{ features: ['x'], why: ' ' }]],
  ])('are refused by name if they are %j', (floor) => {
    expect(() => exceptionsOf(JSON.stringify({ floor }))).toThrow(/floor/);
  });
});
