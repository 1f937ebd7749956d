import { ListRow, Tag, TextField } from '@liaozhai/shared/ui';
import { type ComponentProps, useState } from 'react';
import { type FreezeWindow, maySwitch } from './api';
import styles from './Console.module.css';
import { formats } from './language';
import { Alarm, AskButton, Choice, FoldedForm, useConsole, useDraft, useSnapshot } from './Section';
import { texts, translate, windowLine } from './texts';

const minutesOf = (day: string, time: string): number => {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  return Number(day) * 24 * 60 + hour * 60 + minute;
};

const FIRST_FIELDS = { kind: 'weekly', fromDay: '4', fromTime: '18:00', toDay: '0', toTime: '08:00', from: '', to: '' };

interface WeekTimeProps {
  /** Of its fields: `fromDay` and `fromTime`. */
  name: 'from' | 'to';
  label: string;
  draft: ReturnType<typeof useDraft<keyof typeof FIRST_FIELDS>>;
}

const WeekTime = ({ name, label, draft }: WeekTimeProps) => (
  <fieldset className={styles.weekTime}>
    <legend>{label}</legend>
    <Choice
      label={label}
      value={draft.fields[`${name}Day`]}
      onChange={(day) => draft.set(`${name}Day`, day)}
      options={formats.weekdays.map((weekday, at) => [String(at), weekday])}
    />
    <input
      type="time"
      {...draft.propsOf(`${name}Time`)}
      aria-label={texts.freeze.time(label)}
      className={styles.control}
      required
    />
  </fieldset>
);

// a year of five digits is no date to JavaScript
const Moment = (props: Pick<ComponentProps<typeof TextField>, 'label' | 'value' | 'onChange'>) => (
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
  const { add, kind: kindLabel, weekly, once, submit, zone, from, to, problems } = texts.freeze;
  const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const draft = useDraft('freeze', { ...FIRST_FIELDS, zone: ZONES.includes(ownZone) ? ownZone : 'UTC' });
  const { fields } = draft;
  const isWeekly = fields.kind === 'weekly';
  const windowOf = (): FreezeWindow => {
    if (!isWeekly)
      return { kind: 'once', from: new Date(fields.from).toISOString(), to: new Date(fields.to).toISOString() };
    const [start, end] = [minutesOf(fields.fromDay, fields.fromTime), minutesOf(fields.toDay, fields.toTime)];
    return { kind: 'weekly', from: start, to: end, zone: fields.zone };
  };
  const ask = () => {
    const window = windowOf();
    setProblem(problemOf(window, now));
    if (problemOf(window, now)) return;
    const question = { title: add, action: add, changes: [windowLine(window)], requiresReason: true, form: draft.form };
    console.openQuestion('freeze', { window }, question);
  };
  return (
    <FoldedForm title={add} action={submit} draft={draft} onSubmit={ask}>
      <Choice
        label={kindLabel}
        value={fields.kind}
        options={[
          ['weekly', weekly],
          ['once', once],
        ]}
        onChange={(chosen) => {
          draft.set('kind', chosen);
          setProblem(null);
        }}
      />
      {isWeekly ? (
        <>
          <Choice
            label={zone}
            value={fields.zone}
            onChange={(chosen) => draft.set('zone', chosen)}
            options={ZONES.map((each) => [each, each])}
          />
          <WeekTime name="from" label={from} draft={draft} />
          <WeekTime name="to" label={to} draft={draft} />
        </>
      ) : (
        <>
          <Moment label={from} {...draft.propsOf('from')} />
          <Moment label={to} {...draft.propsOf('to')} />
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
