import * as v from 'valibot';
import { usage } from '../errors.ts';
import { say } from '../sentences.ts';

const MAX_DAYS = 30;
export const MAX_STEP_MINUTES = MAX_DAYS * 24 * 60;

/** A share of visitors in percent (100 = live for everyone), and its delay after the schedule's start in minutes. */
export const stepSchema = v.object({
  percent: v.pipe(v.number(), v.gtValue(0), v.maxValue(100)),
  minutes: v.pipe(v.number(), v.minValue(0), v.maxValue(MAX_STEP_MINUTES)),
});

export type Step = v.InferOutput<typeof stepSchema>;

/**
 * Parses steps such as `5@now,25@1h,100@4h`, with delays from the start. Throws usage, also for more than 20 steps, steps that do not rise,
 * invalid shares and delays that are too long.
 */
export function parseSteps(text: string): Step[] {
  const steps = text.split(',').map((word) => {
    const [, percent, span = '', unit = ''] = /^(\d+(?:\.\d+)?)%?@(?:now|(\d{1,5})([mhd]))$/.exec(word.trim()) ?? [];
    if (percent === undefined) throw usage(say('noStep', { text: word.trim() }), say('noStepCure'));
    return { percent: Number(percent), minutes: Number(span) * ({ m: 1, h: 60, d: 1440 }[unit] ?? 0) };
  });
  const cure = say('stepsCure');
  const rises = steps.every(({ percent, minutes }, at) => {
    const before = steps[at - 1];
    return !before || (percent > before.percent && minutes > before.minutes);
  });
  if (steps.length > 20) throw usage(say('manySteps'), cure);
  if (!rises) throw usage(say('stepsStay', { steps: stepsText(steps) }), cure);
  if (!steps.every((step) => v.is(stepSchema, step))) throw usage(say('stepOutside', { days: MAX_DAYS }), cure);
  return steps;
}

const spanText = (minutes: number): string => {
  if (minutes === 0) return 'now';
  if (minutes % 1440 === 0) return `${minutes / 1440}d`;
  return minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`;
};

/** `5@now,25@1h,100@4h` */
export const stepsText = (steps: readonly Step[]): string =>
  steps.map(({ percent, minutes }) => `${percent}@${spanText(minutes)}`).join(',');
