import type { Actions } from './actions';
import { element } from './element';
import { nameOf, relativeTime, versionOf } from './format';
import { type ChannelDocument, changesBy, type Me, maySwitch } from './model';
import { texts } from './texts';

const STEPS = [0, 0.1, 0.5, 1, 2, 5, 10, 20, 30, 50, 75, 100];
const stepOf = (percent: number): number => {
  const at = STEPS.findIndex((step) => step >= percent);
  return at < 0 ? STEPS.length - 1 : at;
};

type Candidate = NonNullable<ChannelDocument['candidate']>;

function slider(candidate: Candidate, actions: Actions): HTMLElement {
  const shown = element('output', { for: 'share' }, texts.candidate.share(candidate.percent));
  const chosen = () => STEPS[Number(input.value)] ?? 0;
  const input = element('input', {
    type: 'range',
    id: 'share',
    min: 0,
    max: STEPS.length - 1,
    step: 1,
    value: stepOf(candidate.percent),
    'aria-valuetext': texts.candidate.share(candidate.percent),
    oninput: () => {
      shown.textContent = texts.candidate.share(chosen());
      input.setAttribute('aria-valuetext', texts.candidate.share(chosen()));
    },
  });
  const apply = () =>
    void actions.change(
      'canary',
      { builds: [], percent: chosen() },
      {
        title: texts.candidate.apply,
        action: texts.candidate.apply,
        changes: [`${texts.candidate.share(candidate.percent)} → ${texts.candidate.share(chosen())}`],
      },
    );
  return element(
    'div',
    { class: 'slider' },
    element('label', { for: 'share' }, texts.candidate.slider),
    input,
    shown,
    element('button', { type: 'button', onclick: apply }, texts.candidate.apply),
  );
}

function decisions(status: ChannelDocument, candidate: Candidate, actions: Actions): HTMLElement {
  const changes = changesBy(status, candidate.builds);
  const ask = (verb: string, action: string, danger: boolean) => () =>
    void actions.change(verb, {}, { title: action, action, danger, changes: danger ? candidate.builds : changes });
  return element(
    'div',
    { class: 'actions' },
    element(
      'button',
      { type: 'button', class: 'danger', onclick: ask('abort', texts.candidate.abort, true) },
      texts.candidate.abort,
    ),
    element(
      'button',
      { type: 'button', class: 'primary', onclick: ask('promote', texts.candidate.promote, false) },
      texts.candidate.promote,
    ),
  );
}

/** The candidate's share, since when and by whom. */
export const candidateSince = ({ candidate }: ChannelDocument, now: Date): HTMLElement[] => {
  if (!candidate) return [];
  const since = texts.live.since(relativeTime(candidate.since, now), candidate.by);
  return [element('p', { class: 'quiet' }, `${texts.candidate.share(candidate.percent)} · ${since}`)];
};

/** The candidate: its builds, its share of visitors, and what may become of it. */
export function candidateSection(status: ChannelDocument, me: Me, actions: Actions): (HTMLElement | null)[] {
  const { candidate } = status;
  if (!candidate) return [element('p', { class: 'quiet' }, texts.candidate.nothing)];
  const may = candidate.builds.every((id) => maySwitch(me, nameOf(id)));
  const rows = candidate.builds.map((id) =>
    element(
      'li',
      { class: 'row' },
      element('span', { class: 'name' }, nameOf(id)),
      element('span', { class: 'version', title: id }, versionOf(id)),
    ),
  );
  return [
    element('ul', { class: 'rows' }, ...rows),
    may ? slider(candidate, actions) : null,
    may ? decisions(status, candidate, actions) : null,
  ];
}
