import clsx from 'clsx';
import type { LogEntry } from './api';
import styles from './Console.module.css';
import { maySwitch } from './createConsole';
import { ActionButton, type SectionProps } from './LiveSection';
import { OriginLine } from './OriginLine';
import { evidenceLine, fullIdsOf, relativeTime, subjectOf, texts } from './texts';

const TONES: Record<string, string | undefined> = {
  rollback: styles.back,
  abort: styles.back,
  kill: styles.back,
  withdraw: styles.back,
  canary: styles.aside,
  init: styles.aside,
  renew: styles.aside,
};

function Entry({ entry, isCurrent, ...props }: { entry: LogEntry; isCurrent: boolean } & SectionProps) {
  const { me, console, running, now } = props;
  const { seq, verb, action, why, who, at, origins = {} } = entry;
  const control = `restore ${seq}`;
  const { restore } = texts.log;
  return (
    <li className={clsx(styles.entry, TONES[verb])}>
      <p>
        <strong>
          {seq} · {texts.verb(verb)}
        </strong>{' '}
        <span title={fullIdsOf(entry)}>{subjectOf(action)}</span>
      </p>
      <small title={new Date(at).toLocaleString('zh-CN')}>{texts.log.by(who, relativeTime(at, now))}</small>
      {Object.entries(origins).map(([id, origin]) => (
        <OriginLine key={id} {...origin} />
      ))}
      {why && <p className={styles.quiet}>“{why}”</p>}
      {action.evidence.length > 0 && (
        <ul className={styles.lines}>
          {action.evidence.map(evidenceLine).map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
      {!isCurrent && seq > 1 && maySwitch(me) && (
        <ActionButton
          className={styles.restore}
          control={control}
          running={running}
          aria-label={`${restore} ${seq}`}
          onClick={() => void console.rollback(control, { to: seq, title: `${restore}（${texts.live.state(seq)}）` })}
        >
          {restore}
        </ActionButton>
      )}
    </li>
  );
}

/** Who did what and why, newest first. */
export function LogSection({ log, ...props }: { log: readonly LogEntry[] } & SectionProps) {
  return (
    <ol className={styles.timeline}>
      {log.map((entry, at) => (
        <Entry key={entry.seq} entry={entry} isCurrent={at === 0} {...props} />
      ))}
    </ol>
  );
}
