import { ListRow, Menu } from '@liaozhai/shared/ui';
import { ApiFailure, type LogEntry, mayGoBack, maySwitch, nameOf, withdrawnIn } from './api';
import styles from './Console.module.css';
import { formats } from './language';
import { Alarm, Name, RollbackButton, useConsole, useSnapshot } from './Section';
import { SharedLibraries } from './SharedLibraries';
import { labels, relativeTime, shortList, texts, translate, versionOf } from './texts';

function LiveRow({ id }: { id: string }) {
  const snapshot = useSnapshot();
  const { me, console, isRunning } = useConsole();
  const name = nameOf(id);
  const lastGoodBuild = snapshot.status.fallbacks?.find((each) => nameOf(each) === name);
  return (
    <ListRow
      className={styles.row}
      title={<Name name={name} />}
      detail={
        <>
          <span title={id}>{versionOf(id)}</span>
          {lastGoodBuild && (
            <span className={styles.fallback} title={lastGoodBuild}>
              {texts.live.lastGood} {versionOf(lastGoodBuild)}
            </span>
          )}
        </>
      }
      value={
        mayGoBack(snapshot, name) && (
          <span className={styles.pair}>
            {maySwitch(me, name) && <RollbackButton target={{ name }} />}
            <Menu
              label={texts.moreOf(labels.of(name))}
              items={[
                {
                  label: texts.compare.withFormer,
                  disabled: isRunning,
                  onSelect: () => void console.compareWithFormer(name),
                },
              ]}
            />
          </span>
        )
      }
    />
  );
}

function WithdrawnRow({ build, entry }: { build: string; entry: LogEntry }) {
  const { me, now } = useConsole();
  const name = nameOf(build);
  return (
    <ListRow
      className={styles.row}
      title={<Name name={name} />}
      detail={
        <span className={styles.alarm} title={build}>
          {versionOf(build)} · {texts.live.withdrawn(relativeTime(entry.at, now), translate(entry.who))}
        </span>
      }
      value={maySwitch(me, name) && <RollbackButton target={{ name, action: texts.live.restore }} />}
    />
  );
}

/** The live builds, their age and author, and the withdrawn remotes. */
export function LiveSection() {
  const snapshot = useSnapshot();
  const { status, log, sharing } = snapshot;
  const { me, channels, console, isRunning, now } = useConsole();
  const { stable, seq, killed, expires } = status;
  if (!stable) return <p className={styles.quiet}>{texts.live.nothing}</p>;
  const otherChannels = maySwitch(me) ? channels.filter((channel) => channel !== status.channel) : [];
  return (
    <>
      <p className={styles.quiet}>{texts.live.since(relativeTime(stable.since, now), translate(stable.by))}</p>
      <div className={styles.rows}>
        {stable.builds.map((id) => (
          <LiveRow key={nameOf(id)} id={id} />
        ))}
        {withdrawnIn(status, log).map(({ build, entry }) => (
          <WithdrawnRow key={nameOf(build)} build={build} entry={entry} />
        ))}
      </div>
      {sharing instanceof ApiFailure ? (
        <Alarm>{texts.titled(texts.sharing.title, texts.builds.lost)}</Alarm>
      ) : (
        <SharedLibraries libraries={sharing?.stable ?? []} />
      )}
      {killed.length > 0 && (
        <p className={styles.quiet} title={killed.join('\n')}>
          {texts.live.killedBuilds(shortList(killed))}
        </p>
      )}
      <div className={styles.actions}>
        <small className={styles.aside}>{texts.live.expires(seq, formats.day(expires))}</small>
        {maySwitch(me) && mayGoBack(snapshot) && <RollbackButton variant="danger" target={{}} />}
        {otherChannels.length > 0 && (
          <Menu
            label={texts.moreOf(texts.live.title)}
            items={otherChannels.map((channel) => ({
              label: texts.live.promoteFrom(channel),
              disabled: isRunning,
              onSelect: () => void console.promoteFrom(channel),
            }))}
          />
        )}
      </div>
    </>
  );
}
