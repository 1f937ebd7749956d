import { ListRow, Tag, TextField } from '@liaozhai/shared/ui';
import { useState } from 'react';
import { type FreezeWindow, maySwitch } from './api';
import styles from './Console.module.css';
import { formats } from './language';
import { Alarm, AskButton, Choice, FoldedForm, useConsole, useSnapshot } from './Section';
import { texts, translate, windowLine } from './texts';

const minutesOf = (day: string, time: string): number => {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  return Number(day) * 24 * 60 + hour * 60 + minute;
};

interface WeekTimeProps {
  /** Of its fields: `fromDay` and `fromTime`. */
  name: 'from' | 'to';
  label: string;
  day: number;
  time: string;
}

const WeekTime = ({ name, label, day, time }: WeekTimeProps) => (
  <fieldset className={styles.weekTime}>
    <legend>{label}</legend>
    <Choice
      name={`${name}Day`}
      label={label}
      defaultValue={day}
      options={formats.weekdays.map((weekday, at) => [String(at), weekday])}
    />
    <input
      type="time"
      name={`${name}Time`}
      aria-label={texts.freeze.time(label)}
      className={styles.control}
      required
      defaultValue={time}
    />
  </fieldset>
);

// a year of five digits is no date to JavaScript
const Moment = (props: { name: 'from' | 'to'; label: string }) => (
  <TextField type="datetime-local" required max="9999-12-31T23:59" {...props} />
);

/** The zones that the server accepts: it refuses abbreviations, because they are ambiguous. */
const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone.includes('/'))];

/** Why a window would never be open, or null. */
function problemOf(window: FreezeWindow, now: Date): 'neverOpen' | 'endsBefore' | 'isOver' | null {
  if (window.kind === 'weekly') return window.from === window.to ? 'neverOpen' : null;
  if (window.to <= window.from) return 'endsBefore';
  return Date.parse(window.to) <= now.getTime() ? 'isOver' : null;
}

/** Adds a freeze window, weekly in a named time zone or once in local time. The dialog requires a reason. */
function FreezeForm() {
  const { console, now } = useConsole();
  const [problem, setProblem] = useState<ReturnType<typeof problemOf>>(null);
  const [kind, setKind] = useState<FreezeWindow['kind']>('weekly');
  const { add, kind: kindLabel, weekly, once, submit, zone, from, to, problems } = texts.freeze;
  const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const windowOf = (field: (name: string) => string): FreezeWindow => {
    if (kind === 'once')
      return { kind, from: new Date(field('from')).toISOString(), to: new Date(field('to')).toISOString() };
    const [start, end] = ['from', 'to'].map((name) => minutesOf(field(`${name}Day`), field(`${name}Time`)));
    return { kind, from: start ?? 0, to: end ?? 0, zone: field('zone') };
  };
  const ask = (window: FreezeWindow) => {
    setProblem(problemOf(window, now));
    if (problemOf(window, now)) return;
    const question = { title: add, action: add, changes: [windowLine(window)], requiresReason: true };
    console.openQuestion('freeze', { window }, question);
  };
  return (
    <FoldedForm title={add} action={submit} onSubmit={(field) => ask(windowOf(field))}>
      <Choice
        label={kindLabel}
        value={kind}
        options={[
          ['weekly', weekly],
          ['once', once],
        ]}
        onChange={(chosen) => {
          setKind(chosen);
          setProblem(null);
        }}
      />
      {kind === 'weekly' ? (
        <>
          <Choice
            name="zone"
            label={zone}
            defaultValue={ZONES.includes(ownZone) ? ownZone : 'UTC'}
            options={ZONES.map((each) => [each, each])}
          />
          <WeekTime name="from" label={from} day={4} time="18:00" />
          <WeekTime name="to" label={to} day={0} time="08:00" />
        </>
      ) : (
        <>
          <Moment name="from" label={from} />
          <Moment name="to" label={to} />
        </>
      )}
      {problem && <Alarm>{problems[problem]}</Alarm>}
    </FoldedForm>
  );
}

export function FreezeSection() {
  const { me } = useConsole();
  const { freezes = [] } = useSnapshot().status.agenda ?? {};
  const { nothing, remove, isOpen, by } = texts.freeze;
  return (
    <>
      {freezes.length === 0 && <p className={styles.quiet}>{nothing}</p>}
      <div className={styles.rows}>
        {freezes.map(({ id, window, reason, by: who, open }) => (
          <ListRow
            key={id}
            className={styles.row}
            title={
              <>
                {reason} {open && <Tag>{isOpen}</Tag>}
              </>
            }
            detail={
              <>
                {windowLine(window)}
                <span className={styles.fallback}>{by(translate(who))}</span>
              </>
            }
            value={
              maySwitch(me) && (
                <AskButton
                  aria-label={`${remove} ${reason}`}
                  verb="unfreeze"
                  body={{ id }}
                  question={{ title: remove, action: remove, changes: [windowLine(window)] }}
                />
              )
            }
          />
        ))}
      </div>
      {maySwitch(me) && <FreezeForm />}
    </>
  );
}
