import * as v from 'valibot';

// Schemas of environment variables; each error message states the required form.

/** Digits only, since `Number` reads a blank as 0, and `0x10` and `1e3`, too. */
const decimal = (pattern: RegExp, min: number, max: number, error: string) =>
  v.pipe(
    v.string(),
    v.trim(),
    v.regex(pattern, error),
    v.toNumber(error),
    v.minValue(min, error),
    v.maxValue(max, error),
  );

export const wholeNumber = (min: number, max: number) =>
  decimal(/^\d{1,15}$/, min, max, `must be a whole number from ${min} to ${max}`);

export const numberBetween = (min: number, max: number) =>
  decimal(/^\d{1,9}(?:\.\d+)?$/, min, max, `must be a number from ${min} to ${max}`);

/** Scheme, host and port, without a path. */
export const httpOrigin = v.pipe(
  v.string(),
  v.trim(),
  v.check(
    (text) => /^https?:\/\//i.test(text) && URL.canParse(text) && `${new URL(text).origin}/` === new URL(text).href,
    'must be an address like http://127.0.0.1:8080, without path, name or password',
  ),
  v.transform((text) => new URL(text).origin),
);

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export const logLevel = v.picklist(logLevels, `must be one of ${logLevels.join(', ')}`);
