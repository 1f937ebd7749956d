import { Button, ListRow, Tag } from '@liaozhai/shared/ui';
import { useId, useState } from 'react';
import { PlanForm, ScheduleRow } from './AgendaSection';
import {
  type BuildHealth,
  type CandidateHealth,
  type ChannelDocument,
  candidatesOf,
  type Health,
  type MetricVitals,
  maySwitch,
  type NameVitals,
  nameOf,
  type VitalsSeries,
} from './api';
import styles from './Console.module.css';
import type { Console } from './createConsole';
import { ActionButton, type SectionProps } from './LiveSection';
import {
  changesBy,
  changesByAbort,
  failuresLine,
  formats,
  probability,
  relativeTime,
  riseLine,
  texts,
  versionOf,
} from './texts';

const STEPS = [0, 0.1, 0.5, 1, 2, 5, 10, 20, 30, 50, 75, 100];
const stepOf = (percent: number): number => {
  const at = STEPS.findIndex((step) => step >= percent);
  return at < 0 ? STEPS.length - 1 : at;
};

type Candidate = NonNullable<ChannelDocument['candidate']>;

interface ShareProps {
  candidate: Candidate;
  running: string | null;
  console: Console;
}

function Share({ candidate: { builds, percent }, running, console }: ShareProps) {
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
        onClick={() => {
          const wanted = { title: apply, action: apply, changes, back: chosen < percent };
          console.ask('canary', { builds, percent: chosen }, wanted);
        }}
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
  const name = nameOf(builds[0] ?? '');
  return (
    <div className={styles.actions}>
      <ActionButton
        variant="danger"
        control={`abort ${name}`}
        running={running}
        aria-label={`${abort} ${name}`}
        onClick={() => {
          const changes = changesByAbort(status, builds);
          console.ask('abort', { name }, { title: `${abort} ${name}`, action: abort, danger: true, changes });
        }}
      >
        {abort}
      </ActionButton>
      <ActionButton
        variant="primary"
        control={`promote ${name}`}
        running={running}
        aria-label={`${promote} ${name}`}
        onClick={() =>
          console.ask(
            'promote',
            { name },
            { title: `${promote} ${name}`, action: promote, changes: changesBy(status, builds) },
          )
        }
      >
        {promote}
      </ActionButton>
    </div>
  );
}

function OneCandidate({ candidate, ...props }: { candidate: Candidate; status: ChannelDocument } & SectionProps) {
  const { status, me, console, running, now } = props;
  const { builds, percent, since, by, salt } = candidate;
  const may = builds.every((id) => maySwitch(me, nameOf(id)));
  const plan = status.agenda?.schedules.find((each) => each.builds.some((id) => builds.includes(id)));
  return (
    <div className={styles.candidate}>
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
      {may && <Share key={`${salt} ${percent}`} candidate={candidate} running={running} console={console} />}
      {plan ? (
        <ScheduleRow schedule={plan} {...props} />
      ) : (
        may && <PlanForm builds={builds} percent={percent} running={running} console={console} />
      )}
      {may && <Decisions status={status} candidate={candidate} console={console} running={running} />}
    </div>
  );
}

/** The candidates: each one's builds, its share of visitors since when and by whom, and what may become of it. */
export function CandidateSection(props: { status: ChannelDocument } & SectionProps) {
  const candidates = candidatesOf(props.status);
  const running = candidates.flatMap(({ builds }) => builds);
  const later = (props.status.agenda?.schedules ?? []).filter(
    ({ builds }) => !builds.some((id) => running.includes(id)),
  );
  if (candidates.length + later.length === 0) return <p className={styles.quiet}>{texts.candidate.nothing}</p>;
  return (
    <>
      {candidates.map((candidate) => (
        <OneCandidate key={candidate.salt} candidate={candidate} {...props} />
      ))}
      {later.map((schedule) => (
        <div key={schedule.builds.join()} className={styles.candidate}>
          <ScheduleRow schedule={schedule} {...props} />
        </div>
      ))}
    </>
  );
}

type Group = Health['stable'];

const MEASURES: [label: 'visitors' | 'failed' | 'loads' | 'p75' | 'failures', show: (group: Group) => string][] = [
  ['visitors', ({ visitors }) => formats.number(visitors)],
  ['failed', ({ failedVisitors, visitors }) => texts.health.share(failedVisitors, visitors)],
  ['loads', ({ loads }) => formats.number(loads)],
  [
    'p75',
    ({ p75LoadMilliseconds }) => (p75LoadMilliseconds === null ? '–' : formats.milliseconds(p75LoadMilliseconds)),
  ],
  ['failures', ({ failures }) => failuresLine(failures)],
];

function Verdict({ worse, enough, pValue }: CandidateHealth['verdict']) {
  const p = probability(pValue);
  const { worse: isWorse, fine, tooFew } = texts.health;
  return <p className={worse ? styles.alarm : styles.quiet}>{worse ? isWorse(p) : enough ? fine(p) : tooFew}</p>;
}

/** Columns of figures under their headings, the measures in rows. */
function Figures({ columns }: { columns: readonly (readonly [heading: string, group: Group])[] }) {
  return (
    <table className={styles.figures}>
      <thead>
        <tr>
          <td />
          {columns.map(([heading]) => (
            <th key={heading} scope="col">
              {heading}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {MEASURES.map(([label, show]) => (
          <tr key={label}>
            <th scope="row">{texts.health[label]}</th>
            {columns.map(([heading, group]) => (
              <td key={heading}>{show(group)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function BuildFigures({ build }: { build: BuildHealth }) {
  const { build: id, group, visitors, failedVisitors, failures, alarm, beside } = build;
  return (
    <ListRow
      className={styles.row}
      title={
        <>
          <strong>{nameOf(id)}</strong> {group === 'candidate' && <Tag>{texts.candidate.title}</Tag>}
        </>
      }
      detail={
        <>
          <span title={id}>{versionOf(id)}</span>
          {failedVisitors > 0 && <span className={styles.fallback}>{failuresLine(failures)}</span>}
          {beside && (
            <span className={styles.fallback} title={beside.build}>
              {texts.health[group === 'candidate' ? 'live' : 'former'](
                versionOf(beside.build),
                beside.failedVisitors,
                beside.visitors,
              )}
            </span>
          )}
          {alarm && (
            <span className={styles.alarm} role="alert">
              {riseLine(build)}
            </span>
          )}
        </>
      }
      value={texts.health.failedOf(failedVisitors, visitors)}
    />
  );
}

function BuildList({ builds }: { builds: readonly BuildHealth[] }) {
  if (builds.length === 0) return null;
  return (
    <div className={styles.rows}>
      {builds.map((build) => (
        <BuildFigures key={build.build} build={build} />
      ))}
    </div>
  );
}

/** How the sets fare in browsers: what alarms, then all of stable, each candidate beside its control, and every build. */
export function HealthSection({ health }: { health: Health | null }) {
  if (!health) return <p className={styles.quiet}>{texts.health.waiting}</p>;
  const { stable, candidate } = texts.health;
  const alarming = health.builds.filter(({ alarm }) => alarm);
  const others = health.builds.filter(({ alarm }) => !alarm);
  return (
    <>
      <BuildList builds={alarming} />
      {health.candidates.length === 0 && <Figures columns={[[stable, health.stable]]} />}
      {health.candidates.map(({ builds, tried, control, verdict }) => (
        <div key={builds.join()} className={styles.candidate}>
          {health.candidates.length > 1 && <h3 className={styles.quiet}>{texts.list(builds.map(nameOf))}</h3>}
          <Figures
            columns={[
              [stable, control],
              [candidate, tried],
            ]}
          />
          <Verdict {...verdict} />
        </div>
      ))}
      <BuildList builds={others} />
    </>
  );
}

const WIDTH = 120;
const HEIGHT = 36;
const MARGIN = 3;

/** The runs of points that follow each other: where nobody told anything the line has a gap. */
function runsOf(points: VitalsSeries['points']): { at: number; value: number }[][] {
  const runs: { at: number; value: number }[][] = [[]];
  for (const [at, value] of points.entries()) {
    if (value === null) runs.push([]);
    else runs.at(-1)?.push({ at, value });
  }
  return runs.filter((run) => run.length > 0);
}

/** The p75 over time, both builds on one scale from zero. What it shows stands beside it in words, too. */
function Chart({ series, label }: { series: readonly (VitalsSeries | null)[]; label: string }) {
  const shown = series.map((one) => one?.points ?? []);
  const top = Math.max(...shown.flat().map((value) => value ?? 0)) || 1;
  const x = (at: number, count: number) => MARGIN + (at / Math.max(1, count - 1)) * (WIDTH - 2 * MARGIN);
  const y = (value: number) => HEIGHT - MARGIN - (value / top) * (HEIGHT - 2 * MARGIN);
  return (
    <svg className={styles.chart} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
      {shown.map((points, group) =>
        runsOf(points).map((run) => {
          const path = run.map(({ at, value }) => `${x(at, points.length).toFixed(1)},${y(value).toFixed(1)}`);
          const key = `${group} ${run[0]?.at}`;
          const [cx, cy] = (path[0] ?? '').split(',');
          const mark = group === 0 ? styles.stableMark : styles.triedMark;
          return run.length > 1 ? (
            <polyline key={key} className={mark} points={path.join(' ')} />
          ) : (
            <circle key={key} className={mark} cx={cx} cy={cy} r={2} />
          );
        }),
      )}
    </svg>
  );
}

function Figure({ metric, series, tried = false }: { metric: string; series: VitalsSeries; tried?: boolean }) {
  const { stable, candidate } = texts.health;
  const { figure, few } = texts.vitals;
  const { build, pages: count, p75 } = series;
  return (
    <span className={styles.figure} title={build}>
      <span className={tried ? styles.triedKey : styles.stableKey}>{tried ? candidate : stable}</span>{' '}
      {p75 === null ? few(count) : figure(formats.vital(metric, p75), count)}
    </span>
  );
}

const Points = ({ metric, series }: { metric: string; series: VitalsSeries }) =>
  texts.list(series.points.map((value) => (value === null ? '–' : formats.vital(metric, value))));

function Metric({ vitals, stepMinutes }: { vitals: MetricVitals; stepMinutes: number }) {
  const { metric, stable, candidate, verdict } = vitals;
  const { over, slower, fine, tooFew, metric: nameOf } = texts.vitals;
  const { stable: stableWord, candidate: candidateWord } = texts.health;
  const lines = [
    stable && `${stableWord} ${Points({ metric, series: stable })}`,
    candidate && `${candidateWord} ${Points({ metric, series: candidate })}`,
  ];
  const label = [`${nameOf(metric)}，${over(stepMinutes)}`, ...lines.filter(Boolean)].join('。');
  return (
    <div className={styles.vital}>
      <span className={styles.vitalName}>{nameOf(metric)}</span>
      <Chart series={[stable, candidate]} label={label} />
      <span className={styles.vitalFigures}>
        {stable && <Figure metric={metric} series={stable} />}
        {candidate && <Figure metric={metric} series={candidate} tried />}
        {verdict && (
          <span className={verdict.slower ? styles.alarm : styles.quiet}>
            {verdict.slower ? slower(probability(verdict.pValue)) : verdict.enough ? fine : tooFew}
          </span>
        )}
      </span>
    </div>
  );
}

/** Both builds are named where they differ; initially open where a candidate runs. */
function OfName({ vitals: { name, metrics, stepMinutes } }: { vitals: NameVitals }) {
  const [first] = metrics;
  const tried = first?.candidate;
  const told = metrics.filter(({ stable, candidate }) => stable?.pages || candidate?.pages);
  const { over, nothing } = texts.vitals;
  return (
    <details className={styles.details} open={Boolean(tried)}>
      <summary>
        <strong>{name}</strong>
        <small>{tried ? versionOf(tried.build) : first?.stable && versionOf(first.stable.build)}</small>
      </summary>
      <p className={styles.quiet}>{over(stepMinutes)}</p>
      {told.length === 0 && <p className={styles.quiet}>{nothing}</p>}
      {told.map((vitals) => (
        <Metric key={vitals.metric} vitals={vitals} stepMinutes={stepMinutes} />
      ))}
    </details>
  );
}

/** What readers felt of the host and of every remote, stable beside candidate; those with a candidate first. */
export function VitalsSection({ vitals }: { vitals: readonly NameVitals[] | undefined }) {
  if (!vitals) return <p className={styles.quiet}>{texts.health.waiting}</p>;
  const tried = ({ metrics }: NameVitals) => Number(metrics.some(({ candidate }) => candidate));
  const sorted = [...vitals].sort((a, b) => tried(b) - tried(a) || a.name.localeCompare(b.name));
  return (
    <>
      <p className={styles.quiet}>{texts.vitals.about}</p>
      {sorted.map((one) => (
        <OfName key={one.name} vitals={one} />
      ))}
    </>
  );
}
