import { Button } from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { useEffect, useState } from 'react';
import { ApiFailure, failureOf, get, type LogEntry, maySwitch, nameOf, switchesStable } from './api';
import { OriginLine } from './BuildsSection';
import styles from './Console.module.css';
import own from './Log.module.css';
import { labels } from './labels';
import { ActionButton, type SectionProps } from './Section';
import { evidenceLine, formats, fullIdsOf, relativeTime, said, subjectOf, texts } from './texts';

const TONES: Record<string, string | undefined> = {
  rollback: own.back,
  abort: own.back,
  kill: own.back,
  withdraw: own.back,
  alarm: own.back,
  canary: own.aside,
  init: own.aside,
  preview: own.aside,
  'preview-end': own.aside,
  renew: own.aside,
  schedule: own.aside,
  freeze: own.aside,
  webhook: own.aside,
  approval: own.aside,
  proposal: own.aside,
};

/** Actions whose reason may be a generated sentence. */
const WRITTEN_BY_US: readonly string[] = ['schedule', 'seed'];

function LogRow({ entry, isFormer, ...props }: { entry: LogEntry; isFormer: boolean } & SectionProps) {
  const { me, console, running, now } = props;
  const { seq, verb, action, why, who, at, origins = {} } = entry;
  const control = `restore ${seq}`;
  const { restore, restoreState } = texts.log;
  return (
    <li className={clsx(own.entry, TONES[verb])}>
      <p>
        <strong>
          {seq} · {texts.verb(verb)}
        </strong>{' '}
        <span title={fullIdsOf(entry)}>{subjectOf(action)}</span>
      </p>
      <small title={formats.moment(at)}>{texts.log.by(said(who), relativeTime(at, now))}</small>
      {Object.entries(origins).map(([id, origin]) => (
        <OriginLine key={id} {...origin} />
      ))}
      {why && <p className={styles.quiet}>{texts.log.why(WRITTEN_BY_US.includes(verb) ? said(why) : why)}</p>}
      {action.evidence.length > 0 && (
        <ul className={styles.lines}>
          {action.evidence.map(evidenceLine).map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
      {isFormer && maySwitch(me) && (
        <ActionButton
          className={own.restore}
          control={control}
          running={running}
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
const MOST_READ = 500;
const FIRST_SHOWN = 20;

const namesOf = ({ action }: LogEntry): string[] => ('builds' in action ? action.builds.map(nameOf) : []);

const passes = (entry: LogEntry, { name, who, verb }: Filter): boolean =>
  (!name || namesOf(entry).includes(name)) && (!who || entry.who === who) && (!verb || entry.verb === verb);

interface ChoiceProps {
  label: string;
  value: string;
  options: readonly (readonly [value: string, text: string])[];
  onChange: (value: string) => void;
}

const Choice = ({ label, value, options, onChange }: ChoiceProps) => (
  <select aria-label={label} className={styles.control} value={value} onChange={({ target }) => onChange(target.value)}>
    <option value="">{label}</option>
    {options.map(([each, text]) => (
      <option key={each} value={each}>
        {text}
      </option>
    ))}
  </select>
);

const distinct = (values: readonly string[]): string[] => [...new Set(values)].sort();

/** The newest entries, and all earlier ones on request or while a filter is active. */
function useEntries(newest: readonly LogEntry[], channel: string, isWhole: boolean): readonly LogEntry[] {
  const [whole, setWhole] = useState<{ channel: string; entries: readonly LogEntry[] } | null>(null);
  useEffect(() => {
    if (!isWhole) return;
    let isCurrent = true;
    const path = `log?limit=${MOST_READ}&channel=${encodeURIComponent(channel)}`;
    void get<LogEntry[]>(path)
      .catch(failureOf)
      .then((entries) => {
        if (isCurrent && !(entries instanceof ApiFailure)) setWhole({ channel, entries });
      });
    return () => {
      isCurrent = false;
    };
  }, [channel, isWhole]);
  if (!isWhole || whole?.channel !== channel) return newest;
  const since = newest.at(-1)?.seq ?? Number.POSITIVE_INFINITY;
  return [...newest, ...whole.entries.filter(({ seq }) => seq < since)];
}

/** The log, newest entry first, filtered by package, person or kind. */
export function LogSection({ log, channel, ...props }: { log: readonly LogEntry[]; channel: string } & SectionProps) {
  const [filter, setFilter] = useState(NO_FILTER);
  const [isWhole, setWhole] = useState(false);
  const isFiltered = Object.values(filter).some(Boolean);
  const entries = useEntries(log, channel, isWhole || isFiltered);
  const matching = entries.filter((entry) => passes(entry, filter));
  const shown = isWhole || isFiltered ? matching : matching.slice(0, FIRST_SHOWN);
  const { ofName, ofPerson, ofKind, earlier, nothing } = texts.log;
  const live = log.find(switchesStable)?.seq ?? 0;
  return (
    <>
      <div className={own.filter}>
        <Choice
          label={ofName}
          value={filter.name}
          options={distinct(entries.flatMap(namesOf)).map((name) => [name, labels.of(name)])}
          onChange={(name) => setFilter({ ...filter, name })}
        />
        <Choice
          label={ofPerson}
          value={filter.who}
          options={distinct(entries.map(({ who }) => who)).map((who) => [who, said(who)])}
          onChange={(who) => setFilter({ ...filter, who })}
        />
        <Choice
          label={ofKind}
          value={filter.verb}
          options={distinct(entries.map(({ verb }) => verb)).map((verb) => [verb, texts.verb(verb)])}
          onChange={(verb) => setFilter({ ...filter, verb })}
        />
      </div>
      {shown.length === 0 && <p className={styles.quiet}>{nothing}</p>}
      <ol className={own.timeline}>
        {shown.map((entry) => (
          <LogRow
            key={entry.seq}
            entry={entry}
            isFormer={entry.seq > 1 && entry.seq < live && switchesStable(entry)}
            {...props}
          />
        ))}
      </ol>
      {!isWhole && (entries.at(-1)?.seq ?? 1) > 1 - Number(shown.length < matching.length) && (
        <Button variant="quiet" small onClick={() => setWhole(true)}>
          {earlier}
        </Button>
      )}
    </>
  );
}
