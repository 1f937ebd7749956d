import { ListRow, Tag } from '@liaozhai/shared/ui';
import { type BuildHealth, type CandidateHealth, type ErrorHealth, type Health, nameOf, type Portion } from './api';
import styles from './Console.module.css';
import { CopyButton } from './dialogs';
import { formats } from './language';
import { Lines, Name, useConsole } from './Section';
import { failuresLine, namesList, probability, riseLine, shortId, texts, versionOf } from './texts';

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

/** `1,001 位访客，失败 39（3.9%），加载 p75 320 毫秒` */
function summary({ visitors, failedVisitors, p75LoadMilliseconds: p75 }: Group): string {
  const load = p75 === null ? '–' : formats.milliseconds(p75);
  return texts.health.summary(visitors, texts.health.share(failedVisitors, visitors), load);
}

function Verdict({ worse, enough, hasVisitors, pValue }: CandidateHealth['verdict']) {
  const p = probability(pValue);
  const { worse: isWorse, fine, tooFew } = texts.health;
  const line = worse ? isWorse(p) : enough ? fine(p) : tooFew(hasVisitors);
  return <p className={worse ? styles.alarm : styles.quiet}>{line}</p>;
}

/** A candidate compared with its control. */
function Figures({ control, tried }: Pick<CandidateHealth, 'control' | 'tried'>) {
  const columns = [[texts.health.stable, control] as const, [texts.health.candidate, tried] as const];
  return (
    <table className={styles.figures}>
      <thead>
        <tr>
          <th scope="col">{texts.health.sinceCandidate}</th>
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
          <Name name={nameOf(id)} /> {group === 'candidate' && <Tag>{texts.candidate.title}</Tag>}
        </>
      }
      detail={
        <>
          <span title={id}>{versionOf(id)}</span>
          {failedVisitors > 0 && <span className={styles.fallback}>{failuresLine(failures)}</span>}
          {beside && (
            <span className={styles.fallback} title={beside.build}>
              {texts.titled(
                texts.health[group === 'candidate' ? 'live' : 'former'](versionOf(beside.build)),
                texts.health.failedOf(beside.failedVisitors, beside.visitors),
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
      <p className={styles.quiet}>{texts.health.lastDay}</p>
      {builds.map((build) => (
        <BuildFigures key={build.build} build={build} />
      ))}
    </div>
  );
}

/** Errors in the code of builds, running ones first, and health of the sets in browsers: stable, or each candidate compared with its control. Then every build, alarming ones first. */
export function HealthSection() {
  const { health } = useConsole();
  if (!health) return <p className={styles.quiet}>{texts.health.waiting}</p>;
  const { stable, sinceSwitch } = texts.health;
  const builds = [...health.builds].sort((a, b) => Number(b.alarm) - Number(a.alarm));
  return (
    <>
      {(health.errors ?? []).map((error) => (
        <ErrorRow key={`${error.build} ${error.name} ${error.where} ${error.kind} ${error.first}`} error={error} />
      ))}
      {health.candidates.length === 0 && (
        <p>
          <strong>{stable}</strong> {sinceSwitch} {summary(health.stable)}
        </p>
      )}
      {health.candidates.map(({ builds, tried, control, verdict }) => (
        <div key={builds.join()} className={styles.candidate}>
          {health.candidates.length > 1 && <h3 className={styles.quiet}>{namesList(builds)}</h3>}
          <Figures control={control} tried={tried} />
          <Verdict {...verdict} />
        </div>
      ))}
      <BuildList builds={builds} />
    </>
  );
}

const mostAffected = ([first, ...more]: readonly Portion[], format: (label: string, more: number) => string): string =>
  format(first?.label ?? '–', more.length);

/** `chat 1.4.0：3.1% 的访客，全是 Safari 17，在 /story/:id，ChatLog.tsx:88 的 TypeError，01:12 起` */
function sentenceOf({ build, gone, visitors, of, browsers, routes, where, name, kind, first }: ErrorHealth): string {
  const words = texts.errors;
  return words.sentence(
    `${shortId(build)}${gone ? texts.errors.gone : ''}`,
    words.share(visitors, of),
    mostAffected(browsers, words.browsers),
    mostAffected(routes, words.routes),
    where ? words.inPlace(name, where) : texts.failure(kind),
    formats.recent(first),
  );
}

/** Details for a fix: message, source positions, and affected browsers and routes. */
const detailsOf = ({ name, message, frames, browsers, routes, last }: ErrorHealth): string[] => [
  ...(message ? [`${name}: ${message}`] : []),
  ...frames.map(({ at, name: functionName }) => `at ${functionName ? `${functionName} (${at})` : at}`),
  texts.list([...browsers, ...routes].map(({ label, visitors }) => texts.errors.visitors(label, visitors))),
  texts.errors.last(formats.recent(last)),
];

/** An error in the code of a build, as a sentence with details. */
function ErrorRow({ error }: { error: ErrorHealth }) {
  const [sentence, details] = [sentenceOf(error), detailsOf(error)];
  return (
    <details className={styles.details}>
      <summary className={error.gone ? styles.quiet : undefined}>{sentence}</summary>
      <Lines lines={details} />
      <div className={styles.actions}>
        <CopyButton text={[sentence, ...details, error.build].join('\n')} variant="quiet" small />
      </div>
    </details>
  );
}
