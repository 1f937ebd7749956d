import type { MetricVitals, NameVitals, VitalsSeries } from './api';
import styles from './Console.module.css';
import { formats } from './language';
import { Name, useConsole } from './Section';
import { probability, texts, versionOf } from './texts';
import vitalsStyles from './Vitals.module.css';

const WIDTH = 120;
const HEIGHT = 36;
const MARGIN = 3;

/** Splits the points into runs without missing values, so that the line has gaps. */
function runsOf(points: VitalsSeries['points']): { at: number; value: number }[][] {
  const runs: { at: number; value: number }[][] = [[]];
  for (const [at, value] of points.entries()) {
    if (value === null) runs.push([]);
    else runs.at(-1)?.push({ at, value });
  }
  return runs.filter((run) => run.length > 0);
}

/** p75 over time, both builds on one scale from zero. `label` contains the values for screen readers. */
function Chart({ series, label }: { series: readonly (VitalsSeries | null)[]; label: string }) {
  const pointLists = series.map((one) => one?.points ?? []);
  const maxValue = Math.max(...pointLists.flat().map((value) => value ?? 0)) || 1;
  const x = (at: number, count: number) => MARGIN + (at / Math.max(1, count - 1)) * (WIDTH - 2 * MARGIN);
  const y = (value: number) => HEIGHT - MARGIN - (value / maxValue) * (HEIGHT - 2 * MARGIN);
  return (
    <svg className={vitalsStyles.chart} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
      {pointLists.map((points, group) =>
        runsOf(points).map((run) => {
          const path = run.map(({ at, value }) => `${x(at, points.length).toFixed(1)},${y(value).toFixed(1)}`);
          const key = `${group} ${run[0]?.at}`;
          const [cx, cy] = (path[0] ?? '').split(',');
          const mark = group === 0 ? vitalsStyles.stableMark : vitalsStyles.triedMark;
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

function Figure({
  metric,
  series,
  isCandidate = false,
}: {
  metric: string;
  series: VitalsSeries;
  isCandidate?: boolean;
}) {
  const { stable, candidate } = texts.health;
  const { figure, few } = texts.vitals;
  const { build, pages: count, p75 } = series;
  return (
    <span className={vitalsStyles.figure} title={build}>
      <span className={isCandidate ? vitalsStyles.triedKey : vitalsStyles.stableKey}>
        {isCandidate ? candidate : stable}
      </span>{' '}
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
  const label = texts.sentences(
    texts.aside(nameOf(metric), over(stepMinutes)),
    ...lines.filter((line) => line !== null),
  );
  return (
    <div className={vitalsStyles.vital}>
      <span className={vitalsStyles.vitalName}>{nameOf(metric)}</span>
      <Chart series={[stable, candidate]} label={label} />
      <span className={vitalsStyles.vitalFigures}>
        {stable && <Figure metric={metric} series={stable} />}
        {candidate && <Figure metric={metric} series={candidate} isCandidate />}
        {verdict && (
          <span className={verdict.slower ? styles.alarm : styles.quiet}>
            {verdict.slower ? slower(probability(verdict.pValue)) : verdict.enough ? fine : tooFew}
          </span>
        )}
      </span>
    </div>
  );
}

/** Names the stable build and the candidate's; initially open if there is a candidate. */
function PackageVitals({ vitals: { name, metrics, stepMinutes } }: { vitals: NameVitals }) {
  const [first] = metrics;
  const builds = [first?.stable, first?.candidate].flatMap((series) => (series ? versionOf(series.build) : []));
  const measured = metrics.filter(({ stable, candidate }) => stable?.pages || candidate?.pages);
  const { over, nothing } = texts.vitals;
  return (
    <details className={styles.details} open={Boolean(first?.candidate)}>
      <summary>
        <Name name={name} />
        <small>{builds.join(' → ')}</small>
      </summary>
      <p className={styles.quiet}>{over(stepMinutes)}</p>
      {measured.length === 0 && <p className={styles.quiet}>{nothing}</p>}
      {measured.map((vitals) => (
        <Metric key={vitals.metric} vitals={vitals} stepMinutes={stepMinutes} />
      ))}
    </details>
  );
}

/** Vitals of the host and of every remote, stable compared with candidate; those with a candidate come first. */
export function VitalsSection() {
  const vitals = useConsole().health?.vitals;
  if (!vitals) return <p className={styles.quiet}>{texts.health.waiting}</p>;
  const candidateRank = ({ metrics }: NameVitals) => Number(metrics.some(({ candidate }) => candidate));
  const sorted = [...vitals].sort((a, b) => candidateRank(b) - candidateRank(a) || a.name.localeCompare(b.name));
  return (
    <div className={styles.rows}>
      <p className={styles.quiet}>{texts.vitals.about}</p>
      {sorted.map((one) => (
        <PackageVitals key={one.name} vitals={one} />
      ))}
    </div>
  );
}
