import { Button, ListRow, Tag, TextField } from '@liaozhai/shared/ui';
import { useState } from 'react';
import { type FreezeWindow, maySwitch } from './api';
import styles from './Console.module.css';
import { formats } from './language';
import { AskButton, Choice, FoldedForm, useConsole, useSnapshot } from './Section';
import { texts, windowLine } from './texts';

interface TimeOfWeek {
  day: number;
  time: string;
}

const minutesOf = ({ day, time }: TimeOfWeek): number => {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  return day * 24 * 60 + hour * 60 + minute;
};

function WeekTime({
  label,
  value,
  onChange,
}: {
  label: string;
  value: TimeOfWeek;
  onChange: (to: TimeOfWeek) => void;
}) {
  return (
    <fieldset className={styles.weekTime}>
      <legend>{label}</legend>
      <Choice
        label={label}
        value={String(value.day)}
        options={formats.weekdays.map((name, day) => [String(day), name])}
        onChange={(day) => onChange({ ...value, day: Number(day) })}
      />
      <input
        type="time"
        aria-label={texts.freeze.time(label)}
        className={styles.control}
        required
        value={value.time}
        onChange={(event) => onChange({ ...value, time: event.target.value })}
      />
    </fieldset>
  );
}

function Moment({ label, value, onChange }: { label: string; value: string; onChange: (to: string) => void }) {
  return (
    <TextField
      type="datetime-local"
      label={label}
      required
      // a year of five digits is no date to JavaScript
      max="9999-12-31T23:59"
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

/** Adds a freeze window, weekly in a named time zone or once in local time. The dialog requires a reason. */
function FreezeForm() {
  const { console, running } = useConsole();
  const [kind, setKind] = useState<FreezeWindow['kind']>('weekly');
  const [from, setFrom] = useState<TimeOfWeek>({ day: 4, time: '18:00' });
  const [to, setTo] = useState<TimeOfWeek>({ day: 0, time: '08:00' });
  const [zone, setZone] = useState(Intl.DateTimeFormat().resolvedOptions().timeZone);
  const [startsAt, setStartsAt] = useState('');
  const [endsAt, setEndsAt] = useState('');
  const { add, kind: kindLabel, weekly, once, submit, zone: zoneLabel, from: fromLabel, to: toLabel } = texts.freeze;
  const buildWindow = (): FreezeWindow =>
    kind === 'weekly'
      ? { kind, from: minutesOf(from), to: minutesOf(to), zone: zone.trim() }
      : { kind, from: new Date(startsAt).toISOString(), to: new Date(endsAt).toISOString() };
  return (
    <FoldedForm
      title={add}
      onSubmit={() => {
        const newWindow = buildWindow();
        console.openQuestion(
          'freeze',
          { window: newWindow },
          { title: add, action: add, changes: [windowLine(newWindow)], requiresReason: true },
        );
      }}
    >
      <Choice
        label={kindLabel}
        value={kind}
        options={[
          ['weekly', weekly],
          ['once', once],
        ]}
        onChange={setKind}
      />
      {kind === 'weekly' ? (
        <>
          <WeekTime label={fromLabel} value={from} onChange={setFrom} />
          <WeekTime label={toLabel} value={to} onChange={setTo} />
          <TextField label={zoneLabel} required value={zone} onChange={(event) => setZone(event.target.value)} />
        </>
      ) : (
        <>
          <Moment label={fromLabel} value={startsAt} onChange={setStartsAt} />
          <Moment label={toLabel} value={endsAt} onChange={setEndsAt} />
        </>
      )}
      <Button type="submit" variant="quiet" small disabled={running !== null}>
        {submit}
      </Button>
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
                <span className={styles.fallback}>{by(who)}</span>
              </>
            }
            value={
              maySwitch(me) && (
                <AskButton
                  control={`unfreeze ${id}`}
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
