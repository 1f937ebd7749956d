import { Button, ListRow, Tag, TextField } from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { type ReactNode, useId, useState } from 'react';
import { type AgendaView, type FreezeWindow, maySwitch, nameOf, type ScheduleView } from './api';
import styles from './Console.module.css';
import { ActionButton, type SectionProps } from './LiveSection';
import { formats, relativeTime, texts, timeUntil, versionOf, waitingLine, windowLine } from './texts';

/** What concerns everything on the page: that nothing may go forward now, what waits for a second person, and that nobody takes the steps. */
export function AgendaNotice({ agenda }: { agenda: AgendaView | undefined }) {
  if (!agenda) return null;
  const { frozen, problem, schedules, watched, proposals = [] } = agenda;
  const lines = [
    ...(problem ? [problem] : []),
    ...(frozen ? [texts.freeze.open(formats.short(frozen.until), frozen.reason)] : []),
    ...(proposals.length > 0 ? [texts.approval.waits(proposals.length)] : []),
    ...(schedules.length > 0 && !watched ? [texts.schedule.unwatched] : []),
  ];
  return lines.map((line) => (
    <p key={line} className={styles.notice} role="status">
      {line}
    </p>
  ));
}

function NextStep({ schedule, now }: { schedule: ScheduleView; now: Date }) {
  const { next, paused, waiting } = schedule;
  const isDue = Date.parse(next.due) <= now.getTime();
  return (
    <>
      <p>{texts.schedule.next(next.percent, paused ? '–' : timeUntil(next.due, now))}</p>
      {paused && (
        <p className={styles.alarm}>
          {paused.refusal ? texts.schedule.refused(paused.refusal) : texts.schedule.paused(paused.by)}
        </p>
      )}
      {waiting && <p className={styles.alarm}>{waitingLine(waiting)}</p>}
      {isDue && !waiting && !paused && <p className={styles.quiet}>{texts.schedule.due}</p>}
    </>
  );
}

/** The steps of a candidate: those taken, the next one with when it comes and why it waits, and what may become of them. */
export function ScheduleRow({ schedule, me, console, running, now }: { schedule: ScheduleView } & SectionProps) {
  const { builds, steps, taken, paused, by, at, name, why } = schedule;
  const may = builds.every((id) => maySwitch(me, nameOf(id)));
  const steer = paused ? ('continue' as const) : ('pause' as const);
  const changes = builds.map((id) => `${nameOf(id)} ${versionOf(id)}`);
  const ask = (verb: 'pause' | 'continue' | 'cancel', lines: string[]) =>
    console.ask(
      verb,
      { name },
      { title: `${texts.schedule[verb]} · ${name}`, action: texts.schedule[verb], changes: lines },
    );
  return (
    <section className={styles.plan} aria-label={`${texts.schedule.title} ${name}`}>
      <p className={styles.quiet}>
        {texts.schedule.title} {texts.list(changes)} · {texts.schedule.set(by, relativeTime(at, now))}
        {why && ` ${texts.log.why(why)}`}
      </p>
      <ol className={styles.steps}>
        {steps.map(({ percent }, index) => (
          <li
            key={percent}
            className={clsx(index < taken && styles.taken)}
            aria-current={index === taken ? 'step' : undefined}
          >
            {texts.schedule.share(percent)}
          </li>
        ))}
      </ol>
      <NextStep schedule={schedule} now={now} />
      {may && (
        <div className={styles.actions}>
          <ActionButton
            control={`cancel ${name}`}
            running={running}
            onClick={() => ask('cancel', [texts.schedule.keeps])}
          >
            {texts.schedule.cancel}
          </ActionButton>
          <ActionButton control={`${steer} ${name}`} running={running} onClick={() => ask(steer, changes)}>
            {texts.schedule[steer]}
          </ActionButton>
        </div>
      )}
    </section>
  );
}

interface FoldedFormProps {
  title: string;
  onSubmit: () => void;
  children: ReactNode;
}

/** A form that opens below its title. */
export const FoldedForm = ({ title, onSubmit, children }: FoldedFormProps) => (
  <details className={styles.details}>
    <summary>{title}</summary>
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  </details>
);

interface PlanFormProps extends Pick<SectionProps, 'console' | 'running'> {
  builds: readonly string[];
  percent: number;
}

/** Plans the shares to come of a candidate that runs. */
export function PlanForm({ builds, percent, console, running }: PlanFormProps) {
  const [steps, setSteps] = useState(percent < 25 ? '25@1h,100@4h' : '100@4h');
  const { plan, hint, steps: label } = texts.schedule;
  return (
    <FoldedForm
      title={plan}
      onSubmit={() => {
        const changes = steps.split(',').map((step) => step.trim());
        const title = `${plan} · ${texts.list(builds.map(nameOf))}`;
        console.ask('schedule', { builds, steps }, { title, action: plan, changes });
      }}
    >
      <TextField
        label={label}
        hint={hint}
        autoComplete="off"
        autoCapitalize="none"
        required
        value={steps}
        onChange={(event) => setSteps(event.target.value)}
      />
      <Button
        type="submit"
        variant="quiet"
        small
        disabled={running !== null || steps.trim() === ''}
        aria-label={`${plan} ${texts.list(builds.map(nameOf))}`}
      >
        {plan}
      </Button>
    </FoldedForm>
  );
}

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
  const id = useId();
  return (
    <fieldset className={styles.weekTime}>
      <legend>{label}</legend>
      <select
        id={id}
        aria-label={label}
        className={styles.control}
        value={value.day}
        onChange={(event) => onChange({ ...value, day: Number(event.target.value) })}
      >
        {formats.weekdays.map((name, day) => (
          <option key={name} value={day}>
            {name}
          </option>
        ))}
      </select>
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

/** Adds a window, every week by the clocks of a named zone or once by those of this machine; its reason is asked for with the consent. */
function FreezeForm({ console, running }: Pick<SectionProps, 'console' | 'running'>) {
  const [kind, setKind] = useState<FreezeWindow['kind']>('weekly');
  const [from, setFrom] = useState<TimeOfWeek>({ day: 4, time: '18:00' });
  const [to, setTo] = useState<TimeOfWeek>({ day: 0, time: '08:00' });
  const [zone, setZone] = useState(Intl.DateTimeFormat().resolvedOptions().timeZone);
  const [begins, setBegins] = useState('');
  const [ends, setEnds] = useState('');
  const { add, kind: kindLabel, weekly, once, submit, zone: zoneLabel, from: fromLabel, to: toLabel } = texts.freeze;
  const window = (): FreezeWindow =>
    kind === 'weekly'
      ? { kind, from: minutesOf(from), to: minutesOf(to), zone: zone.trim() }
      : { kind, from: new Date(begins).toISOString(), to: new Date(ends).toISOString() };
  return (
    <FoldedForm
      title={add}
      onSubmit={() => {
        const added = window();
        console.ask('freeze', { window: added }, { title: add, action: add, changes: [windowLine(added)] });
      }}
    >
      <select
        aria-label={kindLabel}
        className={styles.control}
        value={kind}
        onChange={(event) => setKind(event.target.value === 'once' ? 'once' : 'weekly')}
      >
        <option value="weekly">{weekly}</option>
        <option value="once">{once}</option>
      </select>
      {kind === 'weekly' ? (
        <>
          <WeekTime label={fromLabel} value={from} onChange={setFrom} />
          <WeekTime label={toLabel} value={to} onChange={setTo} />
          <TextField label={zoneLabel} required value={zone} onChange={(event) => setZone(event.target.value)} />
        </>
      ) : (
        <>
          <TextField
            type="datetime-local"
            label={fromLabel}
            required
            value={begins}
            onChange={(event) => setBegins(event.target.value)}
          />
          <TextField
            type="datetime-local"
            label={toLabel}
            required
            value={ends}
            onChange={(event) => setEnds(event.target.value)}
          />
        </>
      )}
      <Button type="submit" variant="quiet" small disabled={running !== null}>
        {submit}
      </Button>
    </FoldedForm>
  );
}

/** When nothing may go forward, and why. */
export function FreezeSection({ agenda, me, console, running }: { agenda: AgendaView | undefined } & SectionProps) {
  const freezes = agenda?.freezes ?? [];
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
                <ActionButton
                  control={`unfreeze ${id}`}
                  running={running}
                  aria-label={`${remove} ${reason}`}
                  onClick={() =>
                    console.ask('unfreeze', { id }, { title: remove, action: remove, changes: [windowLine(window)] })
                  }
                >
                  {remove}
                </ActionButton>
              )
            }
          />
        ))}
      </div>
      {maySwitch(me) && <FreezeForm console={console} running={running} />}
    </>
  );
}

function WebhookForm({ console, running }: Pick<SectionProps, 'console' | 'running'>) {
  const [url, setUrl] = useState('');
  const { add, url: label, hint } = texts.webhook;
  return (
    <FoldedForm title={add} onSubmit={() => void console.addWebhook('webhook', url.trim()).then(() => setUrl(''))}>
      <TextField
        type="url"
        label={label}
        hint={hint}
        autoComplete="off"
        required
        value={url}
        onChange={(event) => setUrl(event.target.value)}
      />
      <ActionButton type="submit" control="webhook" running={running}>
        {add}
      </ActionButton>
    </FoldedForm>
  );
}

/** Who is notified, and what did not arrive. */
export function WebhookSection({ agenda, me, console, running }: { agenda: AgendaView | undefined } & SectionProps) {
  const webhooks = agenda?.webhooks ?? [];
  const { nothing, remove, test, by, failing, undelivered } = texts.webhook;
  return (
    <>
      {webhooks.length === 0 && <p className={styles.quiet}>{nothing}</p>}
      <div className={styles.rows}>
        {webhooks.map(({ id, shown, by: who, attempts, problem, undelivered: lost }) => (
          <ListRow
            key={id}
            className={styles.row}
            title={shown}
            detail={
              <>
                {by(who)}
                {attempts > 0 && (
                  <span className={clsx(styles.fallback, styles.alarm)}>{failing(attempts, problem)}</span>
                )}
                {lost.length > 0 && (
                  <span className={clsx(styles.fallback, styles.alarm)}>
                    {undelivered(lost.length, lost.at(-1)?.problem ?? '')}
                  </span>
                )}
              </>
            }
            value={
              maySwitch(me) && (
                <span className={styles.pair}>
                  <ActionButton
                    control={`test ${id}`}
                    running={running}
                    aria-label={`${test} ${shown}`}
                    onClick={() => void console.testWebhook(`test ${id}`, id)}
                  >
                    {test}
                  </ActionButton>
                  <ActionButton
                    control={`unhook ${id}`}
                    running={running}
                    aria-label={`${remove} ${shown}`}
                    onClick={() =>
                      console.ask('webhook-remove', { id }, { title: remove, action: remove, changes: [shown] })
                    }
                  >
                    {remove}
                  </ActionButton>
                </span>
              )
            }
          />
        ))}
      </div>
      {maySwitch(me) && <WebhookForm console={console} running={running} />}
    </>
  );
}
