import { Button, ListRow } from '@liaozhai/shared/ui';
import type { ChannelDocument, Me } from './api';
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
  ...rest
}: { control: string; running: string | null } & React.ComponentProps<typeof Button>) {
  return <Button variant="quiet" small {...rest} loading={running === control} disabled={running !== null} />;
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
