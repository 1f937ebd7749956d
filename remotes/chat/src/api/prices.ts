import { hostConfig } from '@liaozhai/shared/runtime';

const amount = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

/** What the site's rules say that a continuation and a set of ideas cost, in points; undefined where they do not say. */
export function prices(): { resume: number | undefined; ideas: number | undefined } {
  const { rules } = hostConfig();
  return { resume: amount(rules.continuePrice), ideas: amount(rules.suggestionPrice) };
}
