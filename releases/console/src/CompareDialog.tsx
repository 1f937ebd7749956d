import { Dialog } from '@liaozhai/shared/ui';
import { type ReactNode, useId } from 'react';
import { ApiFailure, type Comparison } from './api';
import { Link, OriginLine, useBuilds } from './BuildsSection';
import styles from './Compare.module.css';
import { useLast } from './dialogs';
import { formats } from './language';
import { useConsole, useSnapshot } from './Section';
import { failuresLine, labels, texts, translate, versionOf } from './texts';

const MAX_FILES = 8;

/** `^1.0.0 → ^2.0.0`, or one value marked as equal. */
function formatSides({ from, to }: Record<'from' | 'to', string | null>): string {
  return from === to ? texts.aside(from ?? '–', texts.compare.same) : `${from ?? '–'} → ${to ?? '–'}`;
}

function Row({ title, children }: { title: string; children: ReactNode }) {
  return (
    <>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Commits({ commits, back, page }: Comparison) {
  const { brings, takesBack, allCommits } = texts.compare;
  return (
    <>
      {back ? takesBack(commits.length) : brings(commits.length)}
      <ul>
        {commits.map(({ build, ...origin }) => (
          <li key={build}>
            {versionOf(build)} <OriginLine {...origin} />
          </li>
        ))}
      </ul>
      {page && <Link to={page}>{allCommits}</Link>}
    </>
  );
}

/** `34 KiB → 36 KiB`, or one size if both are equal. */
const sizes = (...values: (number | null)[]): string =>
  [...new Set(values.flatMap((size) => (size === null ? [] : formats.bytes(size))))].join(' → ');

function Files({ files: { from, to }, changedFiles }: Comparison) {
  const rest = changedFiles.length - MAX_FILES;
  const { more, files } = texts.compare;
  const fileSummary = ({ count, bytes }: { count: number; bytes: number }) => files(count, formats.bytes(bytes));
  const [before, after] = [from && fileSummary(from), to && fileSummary(to)];
  return (
    <>
      {changedFiles.length > 0 && before === after ? after : formatSides({ from: before, to: after })}
      <ul>
        {changedFiles.slice(0, MAX_FILES).map(({ path, from: before, to: after }) => (
          <li key={path}>
            {before === null ? '+' : after === null ? '−' : '~'} {path} {sizes(before, after)}
          </li>
        ))}
        {rest > 0 && <li>{more(rest)}</li>}
      </ul>
    </>
  );
}

function healthText(health: Comparison['health']['from']): string {
  if (!health) return texts.compare.nothing;
  const { failedVisitors, visitors, failures } = health;
  const counts = texts.health.failedOf(failedVisitors, visitors);
  return failedVisitors > 0 ? texts.aside(counts, failuresLine(failures)) : counts;
}

/** `carries 1.0.0 → 1.2.0` */
function libraryChange({ carries, accepts }: Pick<Comparison['libraries'][number], 'carries' | 'accepts'>): string {
  const words = texts.compare;
  const changes = [
    carries.from !== carries.to && `${words.carries} ${formatSides(carries)}`,
    accepts.from !== accepts.to && `${words.accepts} ${formatSides(accepts)}`,
  ];
  return changes.filter(Boolean).join(' ');
}

function ComparisonDetails({ comparison }: { comparison: Comparison }) {
  const { routes, contract, libraries, health, damaged } = comparison;
  const words = texts.compare;
  const places = [
    ...routes.removed.map((place) => `− ${translate(place)}`),
    ...routes.added.map((place) => `+ ${translate(place)}`),
  ];
  return (
    <dl className={styles.comparison}>
      {damaged.length > 0 && <Row title={texts.builds.damaged}>{texts.list(damaged)}</Row>}
      <Row title={texts.health.lastDay}>
        <p>{healthText(health.from)}</p>
        <p>→ {healthText(health.to)}</p>
      </Row>
      <Row title={words.commits}>
        <Commits {...comparison} />
      </Row>
      <Row title={words.addresses}>{places.length > 0 ? texts.list(places) : words.same}</Row>
      <Row title={words.contract}>{formatSides(contract)}</Row>
      <Row title={texts.sharing.title}>
        {libraries.length === 0 && words.same}
        <ul>
          {libraries.map(({ name, carries, accepts }) => (
            <li key={name}>{texts.titled(name, libraryChange({ carries, accepts }))}</li>
          ))}
        </ul>
      </Row>
      <Row title={words.changedFiles}>
        <Files {...comparison} />
      </Row>
    </dl>
  );
}

interface SideProps {
  label: string;
  value: string;
  ids: readonly string[];
  onChange: (id: string) => void;
}

function Side({ label, value, ids, onChange }: SideProps) {
  const id = useId();
  return (
    <p className={styles.side}>
      <label htmlFor={id}>{label}</label>
      <select id={id} value={value} onChange={({ target }) => onChange(target.value)}>
        {ids.map((each) => (
          <option key={each} value={each}>
            {versionOf(each)}
          </option>
        ))}
      </select>
    </p>
  );
}

/** Compares two builds of one name; either can be changed. */
export function CompareDialog() {
  const { console, comparison } = useConsole();
  const { name = '', from = '', to = '', result = null } = useLast(comparison) ?? {};
  const builds = useBuilds(name, comparison !== null, useSnapshot().status, 0);
  const buildIds = builds instanceof ApiFailure ? [] : (builds ?? []).map(({ id }) => id);
  const ids = [...new Set([...buildIds, from, to])].filter(Boolean);
  const choose = (a: string, b: string) => void console.compare(name, a, b);
  const { title, from: fromLabel, to: toLabel } = texts.compare;
  return (
    <Dialog
      open={comparison !== null}
      title={title(labels.of(name))}
      confirmLabel={texts.compare.close}
      onConfirm={console.endComparison}
    >
      <Side label={fromLabel} value={from} ids={ids} onChange={(id) => choose(id, to)} />
      <Side label={toLabel} value={to} ids={ids} onChange={(id) => choose(from, id)} />
      {result ? <ComparisonDetails comparison={result} /> : <p>{texts.compare.same}</p>}
    </Dialog>
  );
}
