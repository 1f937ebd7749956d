import { Button, ListRow, TextField } from '@liaozhai/shared/ui';
import type { ReactNode } from 'react';
import { useState } from 'react';
import {
  type ChannelDocument,
  type Health,
  type LogEntry,
  type Me,
  mayGoBack,
  maySwitch,
  nameOf,
  type Preview,
  servedBy,
} from './api';
import styles from './Console.module.css';
import type { Console } from './createConsole';
import {
  changesByAbort,
  evidenceLine,
  formats,
  relativeTime,
  riseLine,
  subjectOf,
  texts,
  troubles,
  versionOf,
} from './texts';

/** What every section needs besides its data. */
export interface SectionProps {
  me: Me;
  console: Console;
  /** Name of the control whose request is under way. */
  running: string | null;
  now: Date;
}

/** A button whose request may take long: busy while it runs, and not to be pressed while another does. */
export function ActionButton({
  control,
  running,
  disabled = false,
  ...rest
}: { control: string; running: string | null } & React.ComponentProps<typeof Button>) {
  return (
    <Button variant="quiet" small {...rest} loading={running === control} disabled={disabled || running !== null} />
  );
}

interface LiveProps extends SectionProps {
  status: ChannelDocument;
  log: readonly LogEntry[];
}

function LiveRow({ id, status, log, me, console, running }: { id: string } & LiveProps) {
  const name = nameOf(id);
  const good = status.lastGood[name];
  const control = `rollback ${name}`;
  const title = `${texts.live.rollback} ${name}`;
  return (
    <ListRow
      className={styles.row}
      title={<strong>{name}</strong>}
      detail={
        <>
          <span title={id}>{versionOf(id)}</span>
          {good && (
            <span className={styles.fallback} title={good}>
              {texts.live.lastGood} {versionOf(good)}
            </span>
          )}
        </>
      }
      value={
        maySwitch(me, name) && (
          <span className={styles.pair}>
            {mayGoBack(log, name) && (
              <ActionButton
                control={control}
                running={running}
                aria-label={title}
                onClick={() => void console.rollback(control, { name, title })}
              >
                {texts.live.rollback}
              </ActionButton>
            )}
          </span>
        )
      }
    />
  );
}

/** Takes a remote away from everybody: behind a door of its own, so that nobody means to go back and lands here. */
function Withdrawals({ status, me, console, running }: LiveProps) {
  const remotes = (status.stable?.builds ?? []).filter((id) => nameOf(id) !== 'host' && maySwitch(me, nameOf(id)));
  if (remotes.length === 0) return null;
  return (
    <details className={styles.details}>
      <summary>
        <strong>{texts.live.withdrawals}</strong>
      </summary>
      <div className={styles.actions}>
        {remotes.map((id) => (
          <ActionButton
            key={id}
            variant="danger"
            control={`withdraw ${nameOf(id)}`}
            running={running}
            onClick={() => void console.withdraw(`withdraw ${nameOf(id)}`, id)}
          >
            {texts.live.withdraw} {nameOf(id)}
          </ActionButton>
        ))}
      </div>
    </details>
  );
}

/** What everyone runs, since when and by whom. */
export function LiveSection(props: { channels: readonly string[] } & LiveProps) {
  const { status, log, channels, me, console, running, now } = props;
  const { stable, seq, killed, expires } = status;
  if (!stable) return <p className={styles.quiet}>{texts.live.nothing}</p>;
  return (
    <>
      <p className={styles.quiet}>
        {texts.live.state(seq)} · {texts.live.since(relativeTime(stable.since, now), stable.by)}
      </p>
      <div className={styles.rows}>
        {stable.builds.map((id) => (
          <LiveRow key={nameOf(id)} id={id} {...props} />
        ))}
      </div>
      {killed.length > 0 && (
        <p className={styles.quiet} title={killed.join('\n')}>
          {texts.live.killedBuilds(texts.list(killed.map((id) => `${nameOf(id)} ${versionOf(id)}`)))}
        </p>
      )}
      <div className={styles.actions}>
        <small className={styles.aside}>{texts.live.expires(formats.day(expires))}</small>
        {maySwitch(me) &&
          channels
            .filter((channel) => channel !== status.channel)
            .map((channel) => (
              <ActionButton
                key={channel}
                control={`promote ${channel}`}
                running={running}
                onClick={() => void console.promoteFrom(`promote ${channel}`, channel)}
              >
                {texts.live.promoteFrom(channel)}
              </ActionButton>
            ))}
        {maySwitch(me) && mayGoBack(log) && (
          <ActionButton
            variant="danger"
            control="rollback"
            running={running}
            onClick={() => void console.rollback('rollback', { title: texts.live.rollbackAll })}
          >
            {texts.live.rollbackAll}
          </ActionButton>
        )}
      </div>
      <Withdrawals {...props} />
    </>
  );
}

/** Leads to what a notice speaks of, which a phone shows far below. */
function WayTo({ section, label }: { section: 'health' | 'vitals' | 'log'; label: string }) {
  return (
    <Button variant="quiet" small onClick={() => document.getElementById(section)?.scrollIntoView()}>
      {label}
    </Button>
  );
}

function UrgentNotice({ children, actions }: { children: ReactNode; actions: ReactNode }) {
  return (
    <div className={styles.urgent} role="alert">
      {children}
      <div className={styles.actions}>{actions}</div>
    </div>
  );
}

const MOST_NAMED = 4;

function named(builds: readonly string[]): string {
  const listed = texts.list(builds.slice(0, MOST_NAMED).map((id) => `${nameOf(id)} ${versionOf(id)}`));
  return builds.length > MOST_NAMED ? texts.listAndMore(listed, builds.length - MOST_NAMED) : listed;
}

/** What somebody who is woken has to know first: what fails now, what the automatic stop did, and that a way back has been taken. */
export function UrgentNotices(props: { health: Health | null } & LiveProps) {
  const { status, log, health, me, console, running, now } = props;
  const { abort } = texts.candidate;
  const { rollback } = texts.live;
  const alarming = health?.builds.filter(({ alarm }) => alarm) ?? [];
  const { stops, served } = servedBy(status, log, now);
  return (
    <>
      {health &&
        troubles(status, health).map(({ builds, lines, section }) => {
          const name = nameOf(builds[0] ?? '');
          const title = `${abort} ${name}`;
          const changes = changesByAbort(status, builds);
          return (
            <UrgentNotice
              key={builds.join()}
              actions={
                <>
                  <WayTo section={section} label={texts.now.figures} />
                  {builds.every((id) => maySwitch(me, nameOf(id))) && (
                    <ActionButton
                      variant="danger"
                      control={`urgent ${name}`}
                      running={running}
                      aria-label={title}
                      onClick={() => console.ask('abort', { name }, { title, action: abort, danger: true, changes })}
                    >
                      {abort}
                    </ActionButton>
                  )}
                </>
              }
            >
              <strong>{texts.now.candidate(named(builds))}</strong>
              {lines.map((line) => (
                <p key={line}>{line}</p>
              ))}
            </UrgentNotice>
          );
        })}
      {alarming.map((health) => {
        const { build } = health;
        const name = nameOf(build);
        const control = `urgent ${name}`;
        const title = `${rollback} ${name}`;
        return (
          <UrgentNotice
            key={build}
            actions={
              <>
                <WayTo section="health" label={texts.now.figures} />
                {maySwitch(me, name) && (
                  <ActionButton
                    variant="danger"
                    control={control}
                    running={running}
                    aria-label={title}
                    onClick={() => void console.rollback(control, { name, title })}
                  >
                    {rollback}
                  </ActionButton>
                )}
              </>
            }
          >
            <strong>{named([build])}</strong>
            <p>{riseLine(health)}</p>
          </UrgentNotice>
        );
      })}
      {stops.map(({ seq, at, action }) => (
        <UrgentNotice key={seq} actions={<WayTo section="log" label={texts.now.log} />}>
          <strong>{texts.now.stopped(subjectOf(action), relativeTime(at, now))}</strong>
          {action.evidence.slice(0, 1).map((each) => (
            <p key={each.kind}>{evidenceLine(each)}</p>
          ))}
        </UrgentNotice>
      ))}
      {served && (
        <p className={styles.good} role="status">
          {texts.now.served(status.seq, served.set.slice(0, 8), relativeTime(served.at, now), named(served.builds))}
        </p>
      )}
    </>
  );
}

const HOURS = 4;
const MOST_HOURS = 168;

/** Opens a preview for somebody, once what is asked for was pasted and the person is named. */
function OpenForm({ console }: Pick<SectionProps, 'console'>) {
  const [request, setRequest] = useState('');
  const [person, setPerson] = useState('');
  const [hours, setHours] = useState(HOURS);
  const { preview } = texts;
  const ask = () =>
    console.ask(
      'preview',
      { request: request.trim(), person: person.trim(), hours },
      {
        title: preview.title,
        action: preview.open,
        danger: true,
        changes: [
          ...request.split(/\s+/).filter((word) => word.includes('@')),
          preview.only(person.trim(), hours),
          preview.unchecked,
        ],
      },
    );
  return (
    <form
      className={styles.question}
      onSubmit={(event) => {
        event.preventDefault();
        ask();
      }}
    >
      <TextField
        label={preview.request}
        hint={preview.requestHint}
        required
        maxLength={1200}
        autoComplete="off"
        autoCapitalize="none"
        value={request}
        onChange={(event) => setRequest(event.target.value)}
      />
      <TextField
        label={preview.person}
        required
        maxLength={60}
        autoComplete="off"
        value={person}
        onChange={(event) => setPerson(event.target.value)}
      />
      <TextField
        type="number"
        label={preview.hours}
        required
        min={1}
        max={MOST_HOURS}
        value={hours}
        onChange={(event) => setHours(event.target.valueAsNumber)}
      />
      <Button type="submit" variant="quiet" small>
        {preview.open}
      </Button>
    </form>
  );
}

/** Who runs remotes from a dev server in the deployed host, and the way to let somebody, or to end it. */
export function PreviewSection({ previews, ...props }: { previews: readonly Preview[] } & SectionProps) {
  const { me, console, running } = props;
  const { preview } = texts;
  return (
    <>
      <p className={styles.quiet}>{previews.length > 0 ? preview.about : `${preview.about}${preview.nothing}`}</p>
      <div className={styles.rows}>
        {previews.map(({ browser, person, remotes, expires, who }) => (
          <ListRow
            key={browser}
            className={styles.row}
            title={<strong>{person}</strong>}
            detail={
              <>
                {texts.list(remotes)}
                <span className={styles.fallback}>{preview.until(formats.moment(expires), who)}</span>
              </>
            }
            value={
              me.role === 'manager' && (
                <ActionButton
                  control={`preview-end ${browser}`}
                  running={running}
                  aria-label={`${preview.end} ${person}`}
                  onClick={() =>
                    console.ask(
                      'preview-end',
                      { browser },
                      {
                        title: preview.title,
                        action: preview.end,
                        changes: [preview.subject(person, texts.list(remotes))],
                      },
                    )
                  }
                >
                  {preview.end}
                </ActionButton>
              )
            }
          />
        ))}
      </div>
      {me.role === 'manager' && (
        <details className={styles.details}>
          <summary>
            <strong>{preview.openFor}</strong>
          </summary>
          <OpenForm console={console} />
        </details>
      )}
    </>
  );
}
