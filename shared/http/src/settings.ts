import * as v from 'valibot';

// Schemas of environment variables; each error message states the required form.

export function wholeNumber(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return v.pipe(
    v.string(),
    v.nonEmpty(error),
    v.toNumber(error),
    v.safeInteger(error),
    v.minValue(min, error),
    v.maxValue(max, error),
  );
}

export function numberBetween(min: number, max: number) {
  const error = `must be a number from ${min} to ${max}`;
  return v.pipe(v.string(), v.nonEmpty(error), v.toNumber(error), v.minValue(min, error), v.maxValue(max, error));
}

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
