import { Tag } from '@liaozhai/shared/ui';
import { Fragment, useEffect, useState } from 'react';
import { ApiFailure, type BuildSummary, type ChannelDocument, failureOf, get, maySwitch, nameOf } from './api';
import styles from './Console.module.css';
import { ActionButton, type SectionProps } from './LiveSection';
import { changesBy, relativeTime, texts, versionOf } from './texts';

const MOST_SHOWN = 50;
const MINUTE = 60_000;

type BuildsProps = { status: ChannelDocument } & SectionProps;

function BuildActions({ id, status, me, console, running }: { id: string } & BuildsProps) {
  const changes = changesBy(status, [id]);
  const may = maySwitch(me, nameOf(id)) && changes.length > 0;
  const button = (label: string, verb: string, onClick: (control: string) => void, danger = false) => (
    <ActionButton
      variant={danger ? 'danger' : 'quiet'}
      control={`${verb} ${id}`}
      running={running}
      aria-label={`${label} ${id}`}
      onClick={() => onClick(`${verb} ${id}`)}
    >
      {label}
    </ActionButton>
  );
  const change = (label: string, verb: string, body: object) =>
    button(label, verb, () =>
      console.ask(verb, body, {
        title: `${label} ${versionOf(id)}`,
        action: label,
        changes,
      }),
    );
  const { activate, canary, check, override, kill } = texts.builds;
  return (
    <>
      <div className={styles.actions}>
        {button(check, 'check', (control) => void console.check(control, id))}
        {may && change(activate, 'activate', { builds: [id] })}
        {may && change(canary, 'canary', { builds: [id], percent: 5 })}
        {may && button(override, 'override', (control) => void console.override(control, id))}
      </div>
      {me.role === 'manager' && (
        <details className={styles.details}>
          <summary aria-label={`${texts.builds.more} ${id}`}>
            <small>{texts.builds.more}</small>
          </summary>
          <div className={styles.actions}>
            {button(kill, 'kill', (control) => void console.kill(control, id), true)}
          </div>
        </details>
      )}
    </>
  );
}

function BuildRow({ build, ...props }: { build: BuildSummary } & BuildsProps) {
  const { id, bytes, files, provenance, problem } = build;
  const { status, now } = props;
  const killed = status.killed.includes(id);
  const by = texts.builds.by(provenance.publisher, relativeTime(provenance.at, now));
  return (
    <li className={styles.build}>
      <p>
        <strong title={id}>{versionOf(id)}</strong>
        {status.stable?.builds.includes(id) && <Tag tone="jade">{texts.builds.running}</Tag>}
        {killed && <Tag tone="accent">{texts.live.killed}</Tag>}
        {problem && <Tag tone="accent">{texts.builds.damaged}</Tag>}
      </p>
      <small>
        {by} · {problem ?? texts.builds.size(bytes, files)}
      </small>
      <OriginLine {...provenance} />
      {!killed && !problem && <BuildActions id={id} {...props} />}
    </li>
  );
}

/**
 * The builds of one name, fetched while its list is open: immediately, after every switch, and once a minute, so that a new publish shows
 * and a list that was lost comes back. Null = not known yet.
 */
function useBuilds(name: string, isOpen: boolean, { channel, seq }: ChannelDocument, minute: number) {
  const [found, setFound] = useState<BuildSummary[] | ApiFailure | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies(seq): a switch may come with a publish
  // biome-ignore lint/correctness/useExhaustiveDependencies(minute): the list is asked for again
  useEffect(() => {
    if (!isOpen) return;
    let isCurrent = true;
    const path = `builds?name=${encodeURIComponent(name)}&channel=${encodeURIComponent(channel)}`;
    void get<BuildSummary[]>(path)
      .catch(failureOf)
      .then((builds) => {
        if (isCurrent) setFound(builds);
      });
    return () => {
      isCurrent = false;
    };
  }, [name, isOpen, channel, seq, minute]);
  return found;
}

function NamedBuilds({ name, ...props }: { name: string } & BuildsProps) {
  const { status, now } = props;
  const [isOpen, setOpen] = useState(false);
  const builds = useBuilds(name, isOpen, status, Math.floor(now.getTime() / MINUTE));
  const live = status.stable?.builds.find((id) => nameOf(id) === name);
  return (
    <details className={styles.details} open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <strong>{name}</strong>
        <small>{live ? versionOf(live) : texts.builds.none}</small>
      </summary>
      {builds instanceof ApiFailure ? (
        <p className={styles.alarm} role="alert">
          {texts.builds.lost}
        </p>
      ) : (
        <ul>
          {(builds ?? []).slice(0, MOST_SHOWN).map((build) => (
            <BuildRow key={build.id} build={build} {...props} />
          ))}
        </ul>
      )}
    </details>
  );
}

/** Published builds by name; each name's list is fetched when it is opened, since there may be very many. */
export function BuildsSection({ names, ...props }: { names: readonly string[] } & BuildsProps) {
  if (names.length === 0) return <p className={styles.quiet}>{texts.builds.nothing}</p>;
  return names.map((name) => <NamedBuilds key={`${props.status.channel} ${name}`} name={name} {...props} />);
}

type Origin = Pick<BuildSummary['provenance'], 'commit' | 'author' | 'change' | 'run'>;

/** The store's word is not the console's: only an address of the web becomes a link. */
const isAddress = (address?: string): address is string => /^https?:\/\//.test(address ?? '');

const Link = ({ to, children }: { to: string; children: string }) => (
  <a href={to} target="_blank" rel="noreferrer">
    {children}
  </a>
);

/** What a build was made from: commit and author, and where its change and its pipeline run can be read. */
export function OriginLine({ commit, author, change, run }: Origin) {
  const parts = [
    commit && texts.builds.commit(commit),
    author,
    isAddress(change) && <Link to={change}>{texts.builds.change}</Link>,
    isAddress(run) && <Link to={run}>{texts.builds.run}</Link>,
  ].filter(Boolean);
  if (parts.length === 0) return null;
  return (
    <small className={styles.origin}>
      {parts.map((part, at) => (
        <Fragment key={at}>
          {at > 0 && ' · '}
          {part}
        </Fragment>
      ))}
    </small>
  );
}
