import { Button, ListRow } from '@liaozhai/shared/ui';
import { useId, useState } from 'react';
import type { ChannelDocument, Health } from './api';
import styles from './Console.module.css';
import { type Console, changesBy, maySwitch } from './createConsole';
import { ActionButton, type SectionProps } from './LiveSection';
import { failuresLine, nameOf, probability, relativeTime, texts, versionOf } from './texts';

const STEPS = [0, 0.1, 0.5, 1, 2, 5, 10, 20, 30, 50, 75, 100];
const stepOf = (percent: number): number => {
  const at = STEPS.findIndex((step) => step >= percent);
  return at < 0 ? STEPS.length - 1 : at;
};

type Candidate = NonNullable<ChannelDocument['candidate']>;

function Share({ percent, running, console }: { percent: number; running: string | null; console: Console }) {
  const [step, setStep] = useState(stepOf(percent));
  const id = useId();
  const chosen = STEPS[step] ?? 0;
  const { share, slider, apply } = texts.candidate;
  const changes = [`${share(percent)} → ${share(chosen)}`];
  return (
    <div className={styles.share}>
      <label htmlFor={id}>{slider}</label>
      <input
        type="range"
        id={id}
        min={0}
        max={STEPS.length - 1}
        step={1}
        value={step}
        aria-valuetext={share(chosen)}
        onChange={(event) => setStep(Number(event.target.value))}
      />
      <output htmlFor={id}>{share(chosen)}</output>
      <Button
        variant="quiet"
        small
        disabled={running !== null || chosen === percent}
        onClick={() => console.ask('canary', { builds: [], percent: chosen }, { title: apply, action: apply, changes })}
      >
        {apply}
      </Button>
    </div>
  );
}

interface DecisionsProps extends Pick<SectionProps, 'console' | 'running'> {
  status: ChannelDocument;
  candidate: Candidate;
}

function Decisions({ status, candidate: { builds }, console, running }: DecisionsProps) {
  const { abort, promote } = texts.candidate;
  return (
    <div className={styles.actions}>
      <ActionButton
        variant="danger"
        control="abort"
        running={running}
        onClick={() => console.ask('abort', {}, { title: abort, action: abort, danger: true, changes: builds })}
      >
        {abort}
      </ActionButton>
      <ActionButton
        variant="primary"
        control="promote"
        running={running}
        onClick={() =>
          console.ask('promote', {}, { title: promote, action: promote, changes: changesBy(status, builds) })
        }
      >
        {promote}
      </ActionButton>
    </div>
  );
}

/** The candidate: its builds, its share of visitors since when and by whom, and what may become of it. */
export function CandidateSection({ status, me, console, running, now }: { status: ChannelDocument } & SectionProps) {
  const { candidate } = status;
  if (!candidate) return <p className={styles.quiet}>{texts.candidate.nothing}</p>;
  const { builds, percent, since, by, set } = candidate;
  const may = builds.every((id) => maySwitch(me, nameOf(id)));
  return (
    <>
      <p className={styles.quiet}>
        {texts.candidate.share(percent)} · {texts.live.since(relativeTime(since, now), by)}
      </p>
      <div className={styles.rows}>
        {builds.map((id) => (
          <ListRow
            key={id}
            className={styles.row}
            title={<strong>{nameOf(id)}</strong>}
            detail={<span title={id}>{versionOf(id)}</span>}
          />
        ))}
      </div>
      {/* a share being chosen is kept until another candidate or another share is live */}
      {may && <Share key={`${set} ${percent}`} percent={percent} running={running} console={console} />}
      {may && <Decisions status={status} candidate={candidate} console={console} running={running} />}
    </>
  );
}

type Group = Health['stable'];

const share = (part: number, whole: number): string => (whole === 0 ? '–' : `${((part / whole) * 100).toFixed(1)}%`);

const MEASURES: [label: string, show: (group: Group) => string][] = [
  [texts.health.visitors, ({ visitors }) => String(visitors)],
  [texts.health.failed, ({ failedVisitors, visitors }) => `${failedVisitors}（${share(failedVisitors, visitors)}）`],
  [texts.health.loads, ({ loads }) => String(loads)],
  [
    texts.health.p75,
    ({ p75LoadMilliseconds }) => (p75LoadMilliseconds === null ? '–' : `${Math.round(p75LoadMilliseconds)} ms`),
  ],
  [texts.health.failures, ({ failures }) => failuresLine(failures)],
];

function Verdict({ verdict }: Pick<Health, 'verdict'>) {
  if (!verdict) return null;
  const p = probability(verdict.pValue);
  const { worse, fine, tooFew } = texts.health;
  return (
    <p className={verdict.worse ? styles.alarm : styles.quiet}>
      {verdict.worse ? worse(p) : verdict.enough ? fine(p) : tooFew}
    </p>
  );
}

/** How the sets fare in browsers, the candidate beside its control. */
export function HealthSection({ health }: { health: Health | null }) {
  if (!health) return <p className={styles.quiet}>{texts.health.waiting}</p>;
  const { stable, candidate, verdict } = health;
  return (
    <>
      <table className={styles.figures}>
        <thead>
          <tr>
            <td />
            <th scope="col">{texts.health.stable}</th>
            {candidate && <th scope="col">{texts.health.candidate}</th>}
          </tr>
        </thead>
        <tbody>
          {MEASURES.map(([label, show]) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              <td>{show(stable)}</td>
              {candidate && <td>{show(candidate)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
      <Verdict verdict={verdict} />
    </>
  );
}
