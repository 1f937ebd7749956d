import type { GateFile } from '@liaozhai/shared/contract';
import { afterAll, describe, expect, test } from '@rstest/core';
import { FINE, openSmokeStage, route, SHOW } from '../testing/smokeStage.ts';

const { store, judge } = await openSmokeStage();
afterAll(() => store.remove());

describe('the headless smoke of parts that load late', () => {
  /** Makes a remote with parts that a guest never sees without tapping: behind a login, far down, in a slot, behind a tap. */
  const hiding = (
    name: string,
    parts: Record<'member' | 'last' | 'slot' | 'tapped', string>,
    gate: GateFile,
    plain = 1,
  ) => {
    const file = (part: string) => `static/js/async/${part}.js`;
    // a menu whose first item closes it
    const taps = `${FINE} const item = (textContent, onclick) =>
        root.append(Object.assign(document.createElement('button'), { textContent, onclick }));
      const shut = () => [...root.querySelectorAll('button')].slice(1).forEach((one) => one.remove());
      item('更多', () => { item('甲', shut); item('乙', () => run(files.at(-1).replace('page.js', 'tapped.js'))); });`;
    const routes = Array.from({ length: plain }, (_, at) => route(`${name}${at}`));
    return store.remote(name, '1.0.0', {
      files: {
        [SHOW]: taps,
        ...Object.fromEntries(Object.entries(parts).map(([part, code]) => [file(part), code])),
        'gate.json': JSON.stringify(gate),
      },
      description: {
        routes: [
          ...routes,
          { ...route(`${name}Own`, true), js: [file('member')] },
          { ...route(`${name}Last`), js: [file('last')] },
        ],
        slots: [{ name: `stories.${name}`, js: [file('slot')], css: [] }],
      },
    });
  };

  test('an error behind a login, on a thirteenth route, in a slot or after a tap is refused', async () => {
    const throws = (word: string) => `throw new Error("${word}");`;
    const parts = { member: throws('own'), last: throws('13'), slot: throws('slot'), tapped: throws('tap') };
    const found = await judge(await hiding('deep', parts, { answers: {}, unopened: {} }, 11));
    expect(found).toMatch(/on \/deepOwn as a member an error was thrown: own/);
    expect(found).toMatch(/on \/deepLast an error was thrown: 13/);
    expect(found).toMatch(/deep@1\.0\.0.*: on \/stories as a member an error was thrown: slot/);
    expect(found).toMatch(/an error was thrown: tap after a tap on "乙"/);
  });

  test('an error after scrolling, hovering, choosing, ticking or a key is refused', async () => {
    const ways = {
      scroll: `const end = root.appendChild(document.createElement('p'));
        root.style.cssText = 'display: block; padding-top: 3000px';
        new IntersectionObserver(([{ isIntersecting }]) => isIntersecting && late('scroll')).observe(end);`,
      hover: `add('button', { textContent: '悬停', onmouseover: () => late('hover') });`,
      focus: `add('input', { title: '名字', onfocus: () => late('focus') });`,
      choice: `const choices = add('select', { title: '甲或乙', onchange: () => late('choice') });
        for (const text of ['甲', '乙']) choices.append(Object.assign(document.createElement('option'), { text }));`,
      tick: `add('input', { type: 'checkbox', title: '同意', onchange: () => late('tick') });`,
      key: `add('input', { title: '搜索', onkeydown: ({ key }) => key === 'Enter' && late('key') });`,
      form: `const form = add('form', { onsubmit: (event) => { event.preventDefault(); late('form'); } });
        form.append(Object.assign(document.createElement('input'), { title: '留言', required: true }));`,
    };
    const page = `${FINE} const add = (tag, fields) => root.appendChild(Object.assign(document.createElement(tag), fields));
      const late = (part) => run(files.at(-1).replace('page.js', part + '.js')); ${Object.values(ways).join('')}`;
    const parts = Object.keys(ways).map((part) => [`static/js/async/${part}.js`, `throw new Error("after ${part}");`]);
    const files = { [SHOW]: page, ...Object.fromEntries(parts), 'gate.json': '{}' };
    const found = await judge(await store.remote('coy', '1.0.0', { files }));
    expect(found.match(/after \w+(?= after)/g)?.sort()).toEqual(
      Object.keys(ways)
        .map((part) => `after ${part}`)
        .sort(),
    );
  });

  test.each([
    [
      'on an element under a menu',
      '1.0.0',
      `add('button', { textContent: '更多', onclick: () => add('dialog', { textContent: '单' }).showModal() }); show();`,
    ],
    ['on an element that a tap opens', '1.1.0', `add('button', { textContent: '翻开', onclick: show });`],
  ])('an error after a long press %s is refused', async (_, version, shown) => {
    const page = `${FINE} const add = (tag, fields) => root.appendChild(Object.assign(document.createElement(tag), fields));
      const show = () => {
        const row = add('article', {});
        row.append(Object.assign(document.createElement('p'), { textContent: '一句话' }));
        let timer;
        row.onpointerdown = ({ pointerType, pointerId }) => {
          row.setPointerCapture(pointerId);
          if (pointerType === 'touch') timer = setTimeout(() => run(files.at(-1).replace('page.js', 'held.js')), 500);
        };
        row.onpointerup = row.onpointercancel = () => clearTimeout(timer);
      };
      ${shown}`;
    const files = { [SHOW]: page, 'static/js/async/held.js': 'throw new Error("held");', 'gate.json': '{}' };
    const found = await judge(await store.remote('pressed', version, { files }));
    expect(found).toMatch(/an error was thrown: held after a long press on "一句话"/);
  });

  test('an error in a slot after a tap on another remote’s page is refused', async () => {
    const slot = 'static/js/async/menu.js';
    const build = await store.remote('menu', '1.0.0', {
      files: { [SHOW]: FINE, [slot]: 'throw new Error("menu");', 'gate.json': '{}' },
      description: { slots: [{ name: 'message.menu', js: [slot], css: [] }] },
    });
    expect(await judge(build)).toMatch(/on \/stories as a member an error was thrown: menu after a tap on "更多操作"/);
  });

  test('valid parts pass with the remote’s answers; errors of another remote are only noted', async () => {
    const member = `fetch('/api/v1/lanterns/7').then((answer) => answer.json()).then(({ light }) => { root.textContent = light.on; });`;
    const answers = { 'GET /api/v1/lanterns/:id': { status: 200, body: { light: { on: '亮' } } } };
    const notes: string[] = [];
    const build = await hiding(
      'grudge',
      { member, last: FINE, slot: 'void 0', tapped: 'void 0' },
      { answers, unopened: {} },
    );
    expect(await judge(build, undefined, notes)).toBe('');
    expect(notes.join('\n')).toMatch(/not of this change: stories@.* an error was thrown: not here/);
    expect(notes.join('\n')).not.toContain('no page opened');
  });
});
