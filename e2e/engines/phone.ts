import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout } from 'node:timers/promises';
import type { Engine } from './engine.ts';
import type { Front } from './front.ts';

/** Description of an element by what a person sees or hears. */
export interface Target {
  role?: string;
  /** Accessible name, in full or as a pattern. */
  name?: string | RegExp;
  /** Label of a form field; for password fields, which have no role. */
  label?: string | RegExp;
  text?: string | RegExp;
  /** Searches only inside this target. */
  within?: Target;
  /** Takes the last of several matches; default: the first. */
  last?: true;
}

/** Visible state of a target. */
interface Sight {
  count: number;
  text: string;
  value: string;
  isChecked: boolean;
  isDisabled: boolean;
  /** centre of the element, in px of the window */
  x: number;
  y: number;
  /** element that covers this point, if it is not part of the target */
  covering: string | null;
  /** whether it or an ancestor is moving */
  isMoving: boolean;
}

/** A target in serializable form, for the page. */
interface Packed {
  role?: string;
  name?: Words;
  label?: Words;
  text?: Words;
  within?: Packed;
  last?: true;
}
type Words = string | { source: string; flags: string };

const packWords = (words?: string | RegExp): Words | undefined =>
  words instanceof RegExp ? { source: words.source, flags: words.flags } : words;

const pack = ({ within, name, label, text, ...rest }: Target): Packed => ({
  ...rest,
  name: packWords(name),
  label: packWords(label),
  text: packWords(text),
  within: within && pack(within),
});

const describe = ({ role, name, label, text, within, last }: Target): string =>
  [
    last && 'the last',
    role,
    name !== undefined && `“${name}”`,
    label !== undefined && `the field “${label}”`,
    text !== undefined && `the text “${text}”`,
    within && `in ${describe(within)}`,
  ]
    .filter(Boolean)
    .join(' ');

const library = readFileSync(
  createRequire(import.meta.url).resolve('@testing-library/dom/dist/@testing-library/dom.umd.min.js'),
  'utf8',
);

/** Runs in the page. Returns null if Testing Library is not loaded. `aim` scrolls to the element and checks whether it moves. */
async function look(target: Packed, aim: boolean): Promise<Sight | null> {
  type Library = typeof import('@testing-library/dom');
  const found = (globalThis as unknown as { TestingLibraryDom?: Library }).TestingLibraryDom;
  if (!found) return null;
  const words = (packed: Words) => (typeof packed === 'string' ? packed : new RegExp(packed.source, packed.flags));
  const isSeen = (element: HTMLElement) => {
    const { width, height } = element.getBoundingClientRect();
    return width > 0 && height > 0 && getComputedStyle(element).visibility === 'visible';
  };
  const all = (packed: Packed): HTMLElement[] => {
    const places = packed.within ? all(packed.within) : [document.body];
    return places.flatMap((place) => {
      if (packed.role)
        return found.queryAllByRole(place, packed.role, packed.name === undefined ? {} : { name: words(packed.name) });
      if (packed.label !== undefined) return found.queryAllByLabelText(place, words(packed.label));
      return found.queryAllByText(place, words(packed.text ?? ''));
    });
  };
  const seen = all(target).filter(
    (element) =>
      isSeen(element) &&
      // with role and text, the element must have the role and contain the text
      (!target.role || target.text === undefined || found.queryAllByText(element, words(target.text)).length > 0),
  );
  const element = target.last ? seen.at(-1) : seen[0];
  const nothing = {
    text: '',
    value: '',
    isChecked: false,
    isDisabled: false,
    x: 0,
    y: 0,
    covering: null,
    isMoving: false,
  };
  if (!element) return { count: 0, ...nothing };
  // radios and checkboxes are tapped on their label
  const label = element.matches('[type="radio"], [type="checkbox"]') ? element.closest('label') : null;
  const middle = () => {
    const { left, top, width, height } = (label ?? element).getBoundingClientRect();
    return { x: left + width / 2, y: top + height / 2 };
  };
  const topAtMiddle = () => document.elementFromPoint(middle().x, middle().y);
  const isOwn = (over: Element | null) => over !== null && (label ?? element).contains(over);
  // also from below the tab bar
  if (aim && !isOwn(topAtMiddle())) element.scrollIntoView({ block: 'center', behavior: 'instant' });
  const before = middle();
  if (aim) await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  const { x, y } = middle();
  // the position alone does not show this in an engine that paints rarely
  const isAnimated = document.getAnimations().some(({ playState, effect }) => {
    const moved = (effect as KeyframeEffect | null)?.target;
    return playState === 'running' && effect?.getTiming().iterations !== Infinity && moved?.contains(element);
  });
  const isMoving = isAnimated || before.x !== x || before.y !== y;
  const over = topAtMiddle();
  const field = element as HTMLInputElement;
  return {
    count: seen.length,
    text: element.innerText,
    value: field.value ?? '',
    isChecked: field.checked === true,
    isDisabled: element.matches(':disabled') || element.getAttribute('aria-disabled') === 'true',
    x,
    y,
    covering: isOwn(over) ? null : (over?.outerHTML.slice(0, 120) ?? 'nothing at all'),
    isMoving,
  };
}

/** Returns what was found instead of the expected state; undefined once it is reached. */
type Probe = () => Promise<string | undefined>;

const DEFAULT_TIMEOUT_MS = 60_000;

/** A person with a phone. Each call waits for its target, and throws with what was found instead. */
export class Phone {
  constructor(
    readonly engine: Engine,
    readonly front: Front,
  ) {}

  async open(path: string) {
    await this.engine.open(this.front.origin + path);
  }

  /** Waits until the probe returns undefined. Errors, such as during navigation, are retried. */
  async until(expected: string, probe: Probe, timeoutMs = DEFAULT_TIMEOUT_MS): Promise<void> {
    const end = Date.now() + timeoutMs;
    let instead: string | undefined;
    do {
      instead = await probe().catch((error) => `the page gave no answer (${error})`);
      if (instead === undefined) return;
      await setTimeout(50);
    } while (Date.now() < end);
    const page = await this.engine
      .run(() => `${location.pathname}${location.search}\n${document.body.innerText.slice(0, 1500)}`)
      .catch((error) => `no answer (${error})`);
    throw new Error(`${this.engine.name} expected ${expected}; instead: ${instead}\n— on the page: ${page}`);
  }

  private async look(target: Target, aim = false): Promise<Sight> {
    const sight = await this.engine.run(look, pack(target), aim);
    if (sight) return sight;
    await this.engine.inject(library);
    return this.look(target, aim);
  }

  async sees(target: Target, timeoutMs?: number): Promise<Sight> {
    let sight = { count: 0 } as Sight;
    const probe = async () => {
      sight = await this.look(target);
      return sight.count > 0 ? undefined : 'not to be seen';
    };
    await this.until(`to see ${describe(target)}`, probe, timeoutMs);
    return sight;
  }

  /** Waits for one of two targets; resolves with whether it is the second. */
  async seesEither(first: Target, second: Target): Promise<boolean> {
    let isSecond = false;
    await this.until(`to see ${describe(first)} or ${describe(second)}`, async () => {
      isSecond = (await this.look(second)).count > 0;
      return isSecond || (await this.look(first)).count > 0 ? undefined : 'neither';
    });
    return isSecond;
  }

  /** Waits until the target can be tapped: enabled, at rest and not covered. */
  async reaches(target: Target): Promise<Sight> {
    let sight = {} as Sight;
    await this.until(`to reach ${describe(target)}`, async () => {
      sight = await this.look(target, true);
      if (sight.count === 0) return 'not to be seen';
      if (sight.isDisabled) return 'it is disabled';
      if (sight.isMoving) return 'it moves';
      return sight.covering ? `under ${sight.covering}` : undefined;
    });
    return sight;
  }

  async misses(target: Target): Promise<void> {
    await this.until(`not to see ${describe(target)}`, async () => {
      const { count, text } = await this.look(target);
      return count === 0 ? undefined : `there: ${text.slice(0, 200)}`;
    });
  }

  /** Waits until the text or value of the target matches. */
  async reads(target: Target, words: string | RegExp, timeoutMs?: number): Promise<void> {
    const matches = (text: string) => (typeof words === 'string' ? text.includes(words) : words.test(text));
    const probe = async () => {
      const { count, text, value } = await this.look(target);
      if (count === 0) return 'not to be seen';
      return matches(text) || matches(value) ? undefined : `it says “${(text || value).slice(0, 300)}”`;
    };
    await this.until(`${describe(target)} to say “${words}”`, probe, timeoutMs);
  }

  async counts(target: Target, wanted: number): Promise<void> {
    await this.until(`${wanted} × ${describe(target)}`, async () => {
      const { count } = await this.look(target);
      return count === wanted ? undefined : `${count}`;
    });
  }

  async taps(target: Target): Promise<void> {
    const { x, y } = await this.reaches(target);
    await this.engine.tap(x, y);
  }

  /** Taps the field, and replaces its value by typing. */
  async types(target: Target, text: string): Promise<void> {
    await this.taps(target);
    await this.until(`${describe(target)} to have the focus`, () =>
      this.engine.run(() => {
        const field = document.activeElement as HTMLInputElement;
        if (!field.matches('input, textarea')) return `${field.tagName} has it`;
        field.select();
      }),
    );
    await this.engine.type(text);
    await this.until(`${describe(target)} to hold “${text}”`, async () => {
      const { value } = await this.look(target);
      return value === text ? undefined : `“${value}”`;
    });
  }

  async isAt(path: string | RegExp): Promise<void> {
    await this.until(`the address ${path}`, async () => {
      const now = await this.engine.run(() => location.pathname + location.search);
      return (typeof path === 'string' ? now === path : path.test(now)) ? undefined : now;
    });
  }

  /** Saves a PNG of the window, unless the browser has crashed. */
  async picture(path: string): Promise<void> {
    const picture = await this.engine.picture().catch(() => null);
    if (picture) writeFileSync(path, picture);
  }

  /** Sends a GET request to the API from the page. */
  asks<Answer>(path: string): Promise<Answer> {
    return this.engine.run(
      async (url) => (await (await fetch(url, { headers: { Accept: 'application/json' } })).json()) as Answer,
      path,
    ) as Promise<Answer>;
  }
}
