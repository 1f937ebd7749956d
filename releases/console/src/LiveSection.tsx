import { Button, ListRow, TextField } from '@liaozhai/shared/ui';
import { useState } from 'react';
import type { ChannelDocument, Me, Preview } from './api';
import styles from './Console.module.css';
import { type Console, maySwitch } from './createConsole';
import { formats, nameOf, relativeTime, texts, versionOf } from './texts';

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

function LiveRow({ id, status, me, console, running }: { id: string; status: ChannelDocument } & SectionProps) {
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
            {!good && name !== 'host' && (
              <ActionButton
                control={`withdraw ${name}`}
                running={running}
                aria-label={`${texts.live.withdraw} ${name}`}
                onClick={() => console.withdraw(name, id)}
              >
                {texts.live.withdraw}
              </ActionButton>
            )}
            <ActionButton
              control={control}
              running={running}
              aria-label={title}
              onClick={() => void console.rollback(control, { name, title })}
            >
              {texts.live.rollback}
            </ActionButton>
          </span>
        )
      }
    />
  );
}

/** What everyone runs, since when and by whom. */
export function LiveSection(props: { status: ChannelDocument; channels: readonly string[] } & SectionProps) {
  const { status, channels, me, console, running, now } = props;
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
        {maySwitch(me) && (
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
