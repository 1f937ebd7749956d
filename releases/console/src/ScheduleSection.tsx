import { Button, TextField } from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { useState } from 'react';
import { ReleaseError } from '../../src/errors';
import { MAX_STEP_MINUTES, parseSteps } from '../../src/model/steps';
import { say } from '../../src/sentences';
import { maySwitch, nameOf, type ScheduleView } from './api';
import styles from './Console.module.css';
import { formats, MINUTE_MS } from './language';
import { Alarm, AskButton, Choice, FoldedForm, useConsole, useDraft } from './Section';
import { namesList, relativeTime, shortList, texts, timeUntil, translate, waitingLine } from './texts';

function NextStep({ schedule, now }: { schedule: ScheduleView; now: Date }) {
  const { next, paused, waiting } = schedule;
  const isDue = Date.parse(next.due) <= now.getTime();
  return (
    <>
      <p>{texts.schedule.next(next.percent, paused || waiting ? undefined : timeUntil(next.due, now))}</p>
      {paused && (
        <p className={styles.alarm}>
          {paused.refusal
            ? texts.schedule.refused(translate(paused.refusal))
            : texts.schedule.paused(translate(paused.by))}
        </p>
      )}
      {waiting && <p className={styles.alarm}>{waitingLine(waiting)}</p>}
      {isDue && !waiting && !paused && <p className={styles.quiet}>{texts.schedule.due}</p>}
    </>
  );
}

/** A step with its time, as far as that is known: a step that waits has none, and neither have those after it. */
function stepLine({ steps, taken, next, paused, waiting }: ScheduleView, index: number, now: Date): string {
  const step = steps[index];
  if (!step) return '';
  const share = texts.schedule.share(step.percent);
  if (index < taken || paused || waiting) return share;
  const nextAt = Math.max(Date.parse(next.due), now.getTime());
  const due = nextAt + (step.minutes - (steps[taken]?.minutes ?? 0)) * MINUTE_MS;
  return texts.schedule.step(share, formats.recent(new Date(due).toISOString()));
}

/** Schedule of a candidate that runs or will begin: its steps, when the next one is due, why it waits, and the actions. */
export function ScheduleRow({ schedule, isRunning }: { schedule: ScheduleView; isRunning: boolean }) {
  const { me, now } = useConsole();
  const { builds, steps, taken, paused, by, at, name, why, mayContinue = true } = schedule;
  const isPermitted = builds.every((id) => maySwitch(me, nameOf(id)));
  const steering = (verb: 'pause' | 'continue' | 'cancel', line: string, disabled = false) => {
    const action = texts.schedule[verb];
    const question = { title: `${action} · ${namesList(builds)}`, action, changes: [line] };
    return <AskButton verb={verb} body={{ name }} question={question} disabled={disabled} />;
  };
  return (
    <section className={styles.plan} aria-label={`${texts.schedule.title} ${namesList(builds)}`}>
      <p className={styles.quiet}>
        {texts.schedule.title} {shortList(builds)} · {texts.schedule.set(translate(by), relativeTime(at, now))}
        {why && ` ${texts.log.why(why)}`}
      </p>
      <ol className={styles.steps}>
        {steps.map(({ percent }, index) => (
          <li
            key={percent}
            className={clsx(index < taken && styles.taken)}
            aria-current={index === taken ? 'step' : undefined}
          >
            {stepLine(schedule, index, now)}
          </li>
        ))}
      </ol>
      <NextStep schedule={schedule} now={now} />
      {isPermitted && !mayContinue && <p className={styles.alarm}>{translate(say('makerLeft'))}</p>}
      {isPermitted && (
        <div className={styles.actions}>
          {steering('cancel', texts.schedule.keeps(isRunning))}
          {paused
            ? steering('continue', texts.schedule.goesOn, !mayContinue)
            : steering('pause', texts.schedule.holds(isRunning))}
        </div>
      )}
    </section>
  );
}

const UNITS = ['m', 'h', 'd'] as const;
const UNIT_MINUTES = { m: 1, h: 60, d: 1440 };
const MAX_STEPS = 8;

/** A step in the form, as typed: a share, and the time after the start. A number would lose what begins with a point. */
interface StepInput {
  percent: string;
  span: string;
  unit: (typeof UNITS)[number];
}

const spanOf = ({ span, unit }: StepInput): string => texts.schedule.after[unit](Number(span));

/** The steps of a draft: `25@1h,100@4h`, whose numbers may be half typed. */
const rowsIn = (steps: string): StepInput[] =>
  steps.split(',').map((step) => {
    const [, percent = '', span = '', unit] = /^(.*)@(.*)([mhd])$/.exec(step) ?? [];
    return { percent, span, unit: UNITS.find((each) => each === unit) ?? 'h' };
  });

const draftOf = (rows: readonly StepInput[]): string =>
  rows.map(({ percent, span, unit }) => `${percent}@${span}${unit}`).join(',');

/** A share between two others, as round as it can be; undefined if none of the form's fits. */
const shareBetween = (lower: number, upper: number): number | undefined =>
  [1, 10]
    .map((scale) => Math.round(((lower + upper) / 2) * scale) / scale)
    .find((share) => lower < share && share < upper);

/** Returns why the server would refuse these steps after the current share; null if it would not. */
function problemOf(steps: string, percent: number): ReleaseError | null {
  try {
    parseSteps(percent > 0 ? `${percent}@now,${steps}` : steps);
    return null;
  } catch (cause) {
    if (cause instanceof ReleaseError) return cause;
    throw cause;
  }
}

function StepRow({
  row,
  at,
  onChange,
  onRemove,
}: {
  row: StepInput;
  at: number;
  onChange: (row: StepInput) => void;
  onRemove?: () => void;
}) {
  const { percent, span, unit, removeStep, units } = texts.schedule;
  return (
    <li className={styles.stepRow}>
      <TextField
        type="number"
        label={percent(at)}
        inputMode="decimal"
        min={0.1}
        max={100}
        step="any"
        required
        value={row.percent}
        onChange={({ target }) => onChange({ ...row, percent: target.value })}
      />
      <TextField
        type="number"
        label={span(at)}
        inputMode="numeric"
        min={1}
        max={MAX_STEP_MINUTES / UNIT_MINUTES[row.unit]}
        required
        value={row.span}
        onChange={({ target }) => onChange({ ...row, span: target.value })}
      />
      <Choice
        label={unit(at)}
        value={row.unit}
        options={UNITS.map((each) => [each, units[each]])}
        onChange={(chosen) => onChange({ ...row, unit: chosen })}
      />
      {onRemove && (
        <Button variant="quiet" small aria-label={removeStep(at)} onClick={onRemove}>
          ×
        </Button>
      )}
    </li>
  );
}

export function PlanForm({ builds, percent }: { builds: readonly string[]; percent: number }) {
  const { console } = useConsole();
  const draft = useDraft(`schedule ${builds.join(' ')}`, { steps: percent < 25 ? '25@1h,100@4h' : '100@4h' });
  const rows = rowsIn(draft.fields.steps);
  const setRows = (next: readonly StepInput[]) => draft.set('steps', draftOf(next));
  const [problem, setProblem] = useState<ReleaseError | null>(null);
  const { plan, addStep, step, limit } = texts.schedule;
  const remoteNames = namesList(builds);
  const [former, last] = [rows.at(-2), rows.at(-1)];
  const newShare = shareBetween(Number(former?.percent ?? percent), Number(last?.percent));
  /** Inserts a step before the last one, because shares have to rise. */
  const addRow = () => {
    if (!last) return;
    setRows([
      ...rows.slice(0, -1),
      { ...last, percent: String(newShare) },
      { ...last, span: String(Number(last.span) + 1) },
    ]);
  };
  return (
    <FoldedForm
      title={plan}
      action={plan}
      actionName={`${plan} ${remoteNames}`}
      actions={
        rows.length < MAX_STEPS &&
        newShare !== undefined && (
          <Button variant="quiet" small onClick={addRow}>
            {addStep}
          </Button>
        )
      }
      draft={draft}
      onSubmit={() => {
        const steps = draftOf(
          rows.map((row) => ({ ...row, percent: `${Number(row.percent)}`, span: `${Number(row.span)}` })),
        );
        const refusal = problemOf(steps, percent);
        setProblem(refusal);
        if (refusal) return;
        const changes = rows.map((row) => step(texts.schedule.share(Number(row.percent)), spanOf(row)));
        console.openQuestion(
          'schedule',
          { builds, steps },
          { title: `${plan} · ${remoteNames}`, action: plan, changes, form: draft.form },
        );
      }}
    >
      <ol className={styles.stepRows}>
        {rows.map((row, at) => (
          <StepRow
            key={at}
            row={row}
            at={at + 1}
            onChange={(next) => setRows(rows.map((each) => (each === row ? next : each)))}
            onRemove={rows.length > 1 ? () => setRows(rows.filter((each) => each !== row)) : undefined}
          />
        ))}
      </ol>
      <p className={styles.quiet}>{limit(MAX_STEP_MINUTES / UNIT_MINUTES.d)}</p>
      {problem && <Alarm>{texts.sentences(...[problem.message, problem.cure].map(translate))}</Alarm>}
    </FoldedForm>
  );
}
