export const LANGUAGES = { zh: { tag: 'zh-CN', name: '中文' }, en: { tag: 'en', name: 'English' } } as const;
const LANGUAGE_KEY = 'liaozhai-console-language';
export const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export type Language = keyof typeof LANGUAGES;
type Formats = ReturnType<typeof createFormats>;

/** Formats numbers and times for a locale. Shares are in percent. */
function createFormats(locale: string) {
  const numbers = new Intl.NumberFormat(locale);
  const unitFormat = (unit: string) =>
    new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits: 1 });
  const [hours, minutes] = [unitFormat('hour'), unitFormat('minute')];
  const durations = new Intl.NumberFormat(locale, { style: 'unit', unit: 'millisecond', maximumFractionDigits: 0 });
  const seconds = new Intl.NumberFormat(locale, { style: 'unit', unit: 'second', maximumFractionDigits: 2 });
  const scores = new Intl.NumberFormat(locale, { maximumFractionDigits: 3 });
  const days = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
  const times = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' });
  const moments = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'medium' });
  const relative = new Intl.RelativeTimeFormat(locale);
  const weekday = new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone: 'UTC' });
  const shortParts = { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' } as const;
  const thisYear = new Intl.DateTimeFormat(locale, shortParts);
  const clock = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit' });
  const anyYear = new Intl.DateTimeFormat(locale, { year: 'numeric', ...shortParts });
  const dated = (at: Date, now = new Date()) =>
    (at.getFullYear() === now.getFullYear() ? thisYear : anyYear).format(at);
  return {
    number: (value: number) => numbers.format(value),
    /** A duration of `value` hours, in minutes if it is below one hour. */
    lasting: (value: number) => (value < 1 ? minutes.format(value * 60) : hours.format(value)),
    /** Up to three fraction digits, or exactly `digits`. */
    percent: (value: number, digits?: number) =>
      new Intl.NumberFormat(locale, {
        style: 'percent',
        minimumFractionDigits: digits,
        maximumFractionDigits: digits ?? 3,
      }).format(value / 100),
    milliseconds: (value: number) => durations.format(value),
    /** A web vital in ms or seconds; a layout shift as a score. */
    vital: (metric: string, value: number) =>
      metric === 'cls' ? scores.format(value) : value < 1000 ? durations.format(value) : seconds.format(value / 1000),
    bytes: (value: number) =>
      `${numbers.format(value < 10_240 ? value : Math.round(value / 1024))} ${value < 10_240 ? 'B' : 'KiB'}`,
    day: (instant: string) => days.format(new Date(instant)),
    moment: (instant: string) => moments.format(new Date(instant)),
    time: (at: Date) => times.format(at),
    /** The time of an instant of today, else its date as well. */
    recent: (instant: string) => {
      const at = new Date(instant);
      return days.format(at) === days.format(new Date()) ? clock.format(at) : dated(at);
    },
    /** Month, day and time; the year if it is not this one. */
    short: (instant: string) => dated(new Date(instant)),
    /** Monday to Sunday. */
    weekdays: Array.from({ length: 7 }, (_, day) => weekday.format(Date.UTC(2024, 0, 1 + day))),
    /** In minutes or hours, else day and time; null for a past instant. */
    until(instant: string, now: Date): string | null {
      const ahead = Date.parse(instant) - now.getTime();
      if (ahead <= 0) return null;
      if (ahead < HOUR_MS) return relative.format(Math.ceil(ahead / MINUTE_MS), 'minute');
      return ahead < 24 * HOUR_MS
        ? relative.format(Math.round(ahead / HOUR_MS), 'hour')
        : dated(new Date(instant), now);
    },
    /** Minutes or hours ago, else day and time; null within the first minute. */
    ago(instant: string, now: Date): string | null {
      const at = new Date(instant);
      const past = now.getTime() - at.getTime();
      if (past < MINUTE_MS) return null;
      if (past < HOUR_MS) return relative.format(-Math.floor(past / MINUTE_MS), 'minute');
      if (past < 24 * HOUR_MS) return relative.format(-Math.floor(past / HOUR_MS), 'hour');
      return dated(at, now);
    },
  };
}

const isLanguage = (word: string | null): word is Language => word !== null && Object.hasOwn(LANGUAGES, word);

/** The language chosen on this device, else the first supported one of the browser, else English. */
function readLanguage(): Language {
  const storedLanguage = localStorage.getItem(LANGUAGE_KEY);
  const preferredLanguages = navigator.languages.map((tag) => tag.split('-')[0] ?? '');
  return [storedLanguage, ...preferredLanguages].find(isLanguage) ?? 'en';
}

/** The page's language; a choice is stored on this device. */
export function createLanguage() {
  const formats = { zh: createFormats(LANGUAGES.zh.tag), en: createFormats(LANGUAGES.en.tag) };
  const listeners = new Set<() => void>();
  let current = readLanguage();
  return {
    subscribe: (listener: () => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    current: (): Language => current,
    formats: () => formats[current],
    choose: (chosen: Language) => {
      current = chosen;
      localStorage.setItem(LANGUAGE_KEY, chosen);
      for (const listener of listeners) listener();
    },
  };
}

export const language = createLanguage();

export const formats: Formats = new Proxy(language.formats(), {
  get: (_, key) => Reflect.get(language.formats(), key),
});
