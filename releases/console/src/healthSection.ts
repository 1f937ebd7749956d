import { element } from './element';
import type { Health } from './model';
import { texts } from './texts';

type Group = Health['stable'];

const percent = (part: number, whole: number): string => (whole === 0 ? '–' : `${((part / whole) * 100).toFixed(1)}%`);

const failuresOf = ({ failures }: Group): string =>
  Object.entries(failures)
    .map(([failure, count]) => `${texts.failure(failure)} ${count}`)
    .join('、') || texts.health.none;

const MEASURES: [label: string, show: (group: Group) => string][] = [
  [texts.health.visitors, ({ visitors }) => String(visitors)],
  [texts.health.failed, ({ failedVisitors, visitors }) => `${failedVisitors}（${percent(failedVisitors, visitors)}）`],
  [texts.health.loads, ({ loads }) => String(loads)],
  [
    texts.health.p75,
    ({ p75LoadMilliseconds }) => (p75LoadMilliseconds === null ? '–' : `${Math.round(p75LoadMilliseconds)} ms`),
  ],
  [texts.health.failures, failuresOf],
];

function verdict({ verdict: found }: Health): HTMLElement | null {
  if (!found) return null;
  const p = found.pValue < 0.001 ? found.pValue.toExponential(1) : found.pValue.toFixed(3);
  const text = found.worse ? texts.health.worse(p) : found.enough ? texts.health.fine(p) : texts.health.tooFew;
  return element('p', { class: found.worse ? 'alarm' : 'quiet' }, text);
}

/** How the sets fare in browsers, the candidate beside its control. */
export function healthSection(health: Health | null): (HTMLElement | null)[] {
  if (!health) return [element('p', { class: 'quiet' }, texts.health.waiting)];
  const { stable, candidate } = health;
  const head = [element('td', {}), element('th', { scope: 'col' }, texts.health.stable)];
  if (candidate) head.push(element('th', { scope: 'col' }, texts.health.candidate));
  const rows = MEASURES.map(([label, show]) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, label),
      element('td', {}, show(stable)),
      candidate ? element('td', {}, show(candidate)) : null,
    ),
  );
  return [
    element('table', {}, element('thead', {}, element('tr', {}, ...head)), element('tbody', {}, ...rows)),
    verdict(health),
  ];
}
