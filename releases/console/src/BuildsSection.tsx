import { Menu, type MenuItem, Tag } from '@liaozhai/shared/ui';
import { Fragment, useState } from 'react';
import {
  ApiFailure,
  alarmedIn,
  type BuildSummary,
  type ChannelView,
  candidatesOf,
  maySwitch,
  nameOf,
  pathOf,
} from './api';
import styles from './Console.module.css';
import type { Snapshot } from './consoleStore';
import { MINUTE_MS } from './language';
import { ActionButton, Alarm, Name, useAnswer, useConsole, useSnapshot } from './Section';
import { changesBy, endedBy, labels, overtakenBy, relativeTime, texts, translate, versionOf } from './texts';

const MAX_BUILDS_SHOWN = 50;

/** States of a build; several may apply. */
function statesOf(id: string, { status, log }: Snapshot) {
  const candidate = candidatesOf(status).find(({ builds }) => builds.includes(id));
  return {
    isLive: status.stable?.builds.includes(id) ?? false,
    candidate: candidate ?? null,
    isKilled: status.killed.includes(id),
    isLastGood: status.fallbacks?.includes(id) ?? false,
    hasAlarmed: alarmedIn(log).has(id),
  };
}

/** The most likely action as a button, the others in a menu, destructive ones last. */
function BuildActions({ id }: { id: string }) {
  const snapshot = useSnapshot();
  const { status } = snapshot;
  const { me, console, isRunning } = useConsole();
  const name = nameOf(id);
  const { isLive, candidate, isKilled } = statesOf(id, snapshot);
  const changes = changesBy(status, [id]);
  const liveBuild = status.stable?.builds.find((other) => nameOf(other) === name);
  const isPermitted = maySwitch(me, name) && !isKilled;
  const { activate, canary, check, override, kill } = texts.builds;
  const { withdraw } = texts.live;
  const openDialog = (label: string, verb: string, body: object, endedCandidates: readonly string[] = []) =>
    console.openQuestion(verb, body, {
      title: `${label} ${labels.of(name)} ${versionOf(id)}`,
      action: label,
      changes: [...changes, ...endedCandidates],
    });
  const item = (label: string, onSelect: () => void, danger = false): MenuItem => ({
    label,
    onSelect,
    danger,
    disabled: isRunning,
  });
  const items = [
    ...(liveBuild && !isLive ? [item(texts.compare.withLive, () => void console.compare(name, liveBuild, id))] : []),
    ...(isKilled ? [] : [item(check, () => void console.check(id))]),
    ...(isPermitted && !isLive && !candidate
      ? [item(canary, () => openDialog(canary, 'canary', { builds: [id], percent: 5 }, endedBy(status, name)))]
      : []),
    ...(isPermitted && !isLive ? [item(override, () => void console.override(id))] : []),
    ...(isPermitted && isLive && name !== 'host' ? [item(withdraw, () => void console.withdraw(id), true)] : []),
    ...(me.role === 'manager' && !isKilled ? [item(kill, () => void console.kill(id), true)] : []),
  ];
  return (
    <span className={styles.pair}>
      {isPermitted && !isLive && (
        <ActionButton
          aria-label={`${activate} ${id}`}
          act={() => openDialog(activate, 'activate', { builds: [id] }, overtakenBy(status, [id]))}
        >
          {activate}
        </ActionButton>
      )}
      {items.length > 0 && <Menu label={texts.moreOf(id)} items={items} />}
    </span>
  );
}

function BuildRow({ build }: { build: BuildSummary }) {
  const { id, bytes, files, provenance, problem } = build;
  const { isLive, candidate, isKilled, isLastGood, hasAlarmed } = statesOf(id, useSnapshot());
  const { now } = useConsole();
  const by = texts.builds.by(translate(provenance.publisher), relativeTime(provenance.at, now));
  return (
    <li className={styles.build}>
      <strong title={id}>{versionOf(id)}</strong>
      {isLive && <Tag tone="jade">{texts.builds.running}</Tag>}
      {candidate && <Tag>{texts.builds.tried(candidate.percent)}</Tag>}
      {isLastGood && <Tag>{texts.live.lastGood}</Tag>}
      {isKilled && <Tag tone="accent">{texts.live.killed}</Tag>}
      {hasAlarmed && <Tag tone="accent">{texts.builds.alarmed}</Tag>}
      {problem && <Tag tone="accent">{texts.builds.damaged}</Tag>}
      {!problem && <BuildActions id={id} />}
      <small>
        {by} · {problem ?? texts.builds.size(bytes, files)}
      </small>
      <OriginLine {...provenance} />
    </li>
  );
}

/** Fetches the builds of a name while its list is open: on opening, after every switch and once a minute. Null while loading. */
export const useBuilds = (name: string, isOpen: boolean, { channel, seq }: ChannelView, minute: number) =>
  useAnswer<BuildSummary[]>(
    isOpen && `${pathOf('builds', { channel })}&name=${encodeURIComponent(name)}`,
    `${seq} ${minute}`,
  );

function NamedBuilds({ name }: { name: string }) {
  const { status } = useSnapshot();
  const { now } = useConsole();
  const [isOpen, setOpen] = useState(false);
  const builds = useBuilds(name, isOpen, status, Math.floor(now.getTime() / MINUTE_MS));
  const liveBuild = status.stable?.builds.find((id) => nameOf(id) === name);
  const candidateOfName = candidatesOf(status).find((candidate) => candidate.builds.some((id) => nameOf(id) === name));
  return (
    <details className={styles.details} open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Name name={name} />
        <small>
          {liveBuild ? versionOf(liveBuild) : texts.builds.none}
          {candidateOfName && ` · ${texts.builds.tried(candidateOfName.percent)}`}
        </small>
      </summary>
      {builds instanceof ApiFailure ? (
        <Alarm>{texts.builds.lost}</Alarm>
      ) : (
        <ul>
          {(builds ?? []).slice(0, MAX_BUILDS_SHOWN).map((build) => (
            <BuildRow key={build.id} build={build} />
          ))}
        </ul>
      )}
    </details>
  );
}

/** Published builds by name. A name's list is fetched when it is opened, because it may be long. */
export function BuildsSection() {
  const { names, status } = useSnapshot();
  if (names.length === 0) return <p className={styles.quiet}>{texts.builds.nothing}</p>;
  return names.map(({ name }) => <NamedBuilds key={`${status.channel} ${name}`} name={name} />);
}

type Origin = Pick<BuildSummary['provenance'], 'commit' | 'author' | 'change' | 'run'>;

/** Checks for an `http(s)` URL, because the record comes from the publisher and another scheme could run script. */
const isAddress = (address?: string): address is string => /^https?:\/\//.test(address ?? '');

export const Link = ({ to, children }: { to: string; children: string }) => (
  <a href={to} target="_blank" rel="noreferrer">
    {children}
  </a>
);

/** Origin of a build: its commit and author, and links to its change and pipeline run. */
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
