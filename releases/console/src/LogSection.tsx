import { Button } from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { useState } from 'react';
import { ApiFailure, type LogEntry, maySwitch, nameOf, switchesStable, WAYS_BACK } from './api';
import { OriginLine } from './BuildsSection';
import styles from './Console.module.css';
import logStyles from './Log.module.css';
import { formats } from './language';
import { Choice, Lines, RollbackButton, useAnswer, useConsole, useSnapshot } from './Section';
import { evidenceLine, fullIdsOf, labels, relativeTime, subjectOf, texts, translate } from './texts';

const BACK: readonly string[] = [...WAYS_BACK, 'alarm'];
const FORWARD: readonly string[] = ['activate', 'promote', 'promoted', 'seed'];

/** Actions whose reason may be a generated sentence. */
const GENERATED_REASONS: readonly string[] = ['schedule', 'seed'];

const toneOf = (verb: string) => (BACK.includes(verb) ? logStyles.back : !FORWARD.includes(verb) && logStyles.aside);

function LogRow({ entry, isFormer }: { entry: LogEntry; isFormer: boolean }) {
  const { me, now } = useConsole();
  const { seq, verb, action, why, who, at, origins = {} } = entry;
  const { restore } = texts.log;
  return (
    <li className={clsx(logStyles.entry, toneOf(verb))}>
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
        <RollbackButton className={logStyles.restore} target={{ to: seq }} aria-label={`${restore} ${seq}`}>
          {restore}
        </RollbackButton>
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
  const answer = useAnswer<LogEntry[]>(needsAll && `log?limit=${MAX_ENTRIES}&channel=${encodeURIComponent(channel)}`);
  if (!needsAll || answer === null || answer instanceof ApiFailure) return newest;
  const oldestSeq = newest.at(-1)?.seq ?? Number.POSITIVE_INFINITY;
  return [...newest, ...answer.filter(({ seq }) => seq < oldestSeq)];
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
  const choices: [keyof Filter, string, [value: string, text: string][]][] = [
    ['name', ofName, distinct(entries.flatMap(namesOf)).map((name) => [name, labels.of(name)])],
    ['who', ofPerson, distinct(entries.map(({ who }) => who)).map((who) => [who, translate(who)])],
    ['verb', ofKind, distinct(entries.map(({ verb }) => verb)).map((verb) => [verb, texts.verb(verb)])],
  ];
  return (
    <>
      <div className={logStyles.filter}>
        {choices.map(([field, label, options]) => (
          <Choice
            key={field}
            label={label}
            none={label}
            value={filter[field]}
            options={options}
            onChange={(value) => setFilter({ ...filter, [field]: value })}
          />
        ))}
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
