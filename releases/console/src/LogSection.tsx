import { Button } from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { useEffect, useState } from 'react';
import { ApiFailure, failureOf, get, type LogEntry, maySwitch, nameOf, switchesStable } from './api';
import { OriginLine } from './BuildsSection';
import styles from './Console.module.css';
import logStyles from './Log.module.css';
import { labels } from './labels';
import { formats } from './language';
import { ActionButton, Choice, Lines, useConsole, useSnapshot } from './Section';
import { evidenceLine, fullIdsOf, relativeTime, subjectOf, texts, translate } from './texts';

const TONES: Record<string, string | undefined> = {
  rollback: logStyles.back,
  abort: logStyles.back,
  kill: logStyles.back,
  withdraw: logStyles.back,
  alarm: logStyles.back,
  canary: logStyles.aside,
  init: logStyles.aside,
  preview: logStyles.aside,
  'preview-end': logStyles.aside,
  renew: logStyles.aside,
  schedule: logStyles.aside,
  freeze: logStyles.aside,
  webhook: logStyles.aside,
  approval: logStyles.aside,
  proposal: logStyles.aside,
};

/** Actions whose reason may be a generated sentence. */
const GENERATED_REASONS: readonly string[] = ['schedule', 'seed'];

function LogRow({ entry, isFormer }: { entry: LogEntry; isFormer: boolean }) {
  const { me, console, now } = useConsole();
  const { seq, verb, action, why, who, at, origins = {} } = entry;
  const control = `restore ${seq}`;
  const { restore, restoreState } = texts.log;
  return (
    <li className={clsx(logStyles.entry, TONES[verb])}>
      <p>
        <strong>
          {seq} · {texts.verb(verb)}
        </strong>{' '}
        <span title={fullIdsOf(entry)}>{subjectOf(action)}</span>
      </p>
      <small title={formats.moment(at)}>{texts.log.by(translate(who), relativeTime(at, now))}</small>
      {Object.entries(origins).map(([id, origin]) => (
        <OriginLine key={id} {...origin} />
      ))}
      {why && <p className={styles.quiet}>{texts.log.why(GENERATED_REASONS.includes(verb) ? translate(why) : why)}</p>}
      {action.evidence.length > 0 && <Lines lines={action.evidence.map(evidenceLine)} />}
      {isFormer && maySwitch(me) && (
        <ActionButton
          className={logStyles.restore}
          control={control}
          aria-label={`${restore} ${seq}`}
          onClick={() => void console.rollback(control, { to: seq, title: restoreState(seq) })}
        >
          {restore}
        </ActionButton>
      )}
    </li>
  );
}

type Filter = Record<'name' | 'who' | 'verb', string>;
const NO_FILTER: Filter = { name: '', who: '', verb: '' };
const MAX_ENTRIES = 500;
const FIRST_PAGE_SIZE = 20;

const namesOf = ({ action }: LogEntry): string[] => ('builds' in action ? action.builds.map(nameOf) : []);

const matchesFilter = (entry: LogEntry, { name, who, verb }: Filter): boolean =>
  (!name || namesOf(entry).includes(name)) && (!who || entry.who === who) && (!verb || entry.verb === verb);

const distinct = (values: readonly string[]): string[] => [...new Set(values)].sort();

/** The newest entries, and all earlier ones on request or while a filter is active. */
function useEntries(newest: readonly LogEntry[], channel: string, needsAll: boolean): readonly LogEntry[] {
  const [allEntries, setAllEntries] = useState<{ channel: string; entries: readonly LogEntry[] } | null>(null);
  useEffect(() => {
    if (!needsAll) return;
    let isCurrent = true;
    const path = `log?limit=${MAX_ENTRIES}&channel=${encodeURIComponent(channel)}`;
    void get<LogEntry[]>(path)
      .catch(failureOf)
      .then((entries) => {
        if (isCurrent && !(entries instanceof ApiFailure)) setAllEntries({ channel, entries });
      });
    return () => {
      isCurrent = false;
    };
  }, [channel, needsAll]);
  if (!needsAll || allEntries?.channel !== channel) return newest;
  const oldestSeq = newest.at(-1)?.seq ?? Number.POSITIVE_INFINITY;
  return [...newest, ...allEntries.entries.filter(({ seq }) => seq < oldestSeq)];
}

/** The log, newest entry first, filtered by package, person or kind. */
export function LogSection() {
  const { log, status } = useSnapshot();
  const [filter, setFilter] = useState(NO_FILTER);
  const [showsAll, setShowsAll] = useState(false);
  const isFiltered = Object.values(filter).some(Boolean);
  const entries = useEntries(log, status.channel, showsAll || isFiltered);
  const matchingEntries = entries.filter((entry) => matchesFilter(entry, filter));
  const shownEntries = showsAll || isFiltered ? matchingEntries : matchingEntries.slice(0, FIRST_PAGE_SIZE);
  const { ofName, ofPerson, ofKind, earlier, nothing } = texts.log;
  const liveSeq = log.find(switchesStable)?.seq ?? 0;
  return (
    <>
      <div className={logStyles.filter}>
        <Choice
          label={ofName}
          none={ofName}
          value={filter.name}
          options={distinct(entries.flatMap(namesOf)).map((name) => [name, labels.of(name)])}
          onChange={(name) => setFilter({ ...filter, name })}
        />
        <Choice
          label={ofPerson}
          none={ofPerson}
          value={filter.who}
          options={distinct(entries.map(({ who }) => who)).map((who) => [who, translate(who)])}
          onChange={(who) => setFilter({ ...filter, who })}
        />
        <Choice
          label={ofKind}
          none={ofKind}
          value={filter.verb}
          options={distinct(entries.map(({ verb }) => verb)).map((verb) => [verb, texts.verb(verb)])}
          onChange={(verb) => setFilter({ ...filter, verb })}
        />
      </div>
      {shownEntries.length === 0 && <p className={styles.quiet}>{nothing}</p>}
      <ol className={logStyles.timeline}>
        {shownEntries.map((entry) => (
          <LogRow
            key={entry.seq}
            entry={entry}
            isFormer={entry.seq > 1 && entry.seq < liveSeq && switchesStable(entry)}
          />
        ))}
      </ol>
      {!showsAll && (entries.at(-1)?.seq ?? 1) > 1 - Number(shownEntries.length < matchingEntries.length) && (
        <Button variant="quiet" small onClick={() => setShowsAll(true)}>
          {earlier}
        </Button>
      )}
    </>
  );
}
