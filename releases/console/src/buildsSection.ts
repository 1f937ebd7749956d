import type { Actions } from './actions';
import { ApiFailure, get } from './api';
import { draw, element } from './element';
import { nameOf, relativeTime, versionOf } from './format';
import { type BuildSummary, type ChannelDocument, changesBy, type Me, maySwitch } from './model';
import { texts } from './texts';

const MOST_SHOWN = 50;

interface BuildsContext {
  status: ChannelDocument;
  me: Me;
  actions: Actions;
}

function buildActions(id: string, { status, me, actions }: BuildsContext): HTMLElement {
  const changes = changesBy(status, [id]);
  const button = (label: string, kind: string, onclick: () => void) =>
    element('button', { type: 'button', class: kind, 'aria-label': `${label} ${id}`, onclick }, label);
  const ask = (verb: string, body: object, label: string, danger = false) =>
    button(
      label,
      danger ? 'danger' : '',
      () =>
        void actions.change(verb, body, {
          title: `${label} ${versionOf(id)}`,
          action: label,
          changes: verb === 'kill' ? [id] : changes,
          danger,
        }),
    );
  const may = maySwitch(me, nameOf(id)) && changes.length > 0;
  return element(
    'div',
    { class: 'actions' },
    button(texts.builds.check, '', () => void actions.check(id)),
    may ? ask('activate', { builds: [id] }, texts.builds.activate) : null,
    may ? ask('canary', { builds: [id], percent: 5 }, texts.builds.canary) : null,
    may ? button(texts.builds.override, '', () => void actions.override(id)) : null,
    me.role === 'manager' ? ask('kill', { build: id }, texts.builds.kill, true) : null,
  );
}

function buildRow(build: BuildSummary, context: BuildsContext): HTMLElement {
  const { id, bytes, files, provenance, problem } = build;
  const running = context.status.stable?.builds.includes(id);
  const killed = context.status.killed.includes(id);
  return element(
    'li',
    { class: 'build' },
    element(
      'p',
      {},
      element('strong', { title: id }, versionOf(id)),
      running ? element('span', { class: 'chip' }, texts.builds.running) : null,
      killed ? element('span', { class: 'chip alarm' }, texts.live.killed) : null,
      problem ? element('span', { class: 'chip alarm' }, texts.builds.damaged) : null,
    ),
    element(
      'small',
      {},
      `${texts.builds.by(provenance.publisher, relativeTime(provenance.at, new Date()), provenance.commit)} · ${problem ?? texts.builds.size(bytes, files)}`,
    ),
    killed || problem ? null : buildActions(id, context),
  );
}

function failureOf(cause: unknown): ApiFailure {
  if (cause instanceof ApiFailure) return cause;
  throw cause;
}

/** Lists that are open ask again once a minute, so that a new publish shows, and a list that was lost comes back. */
export function refreshOpenLists(place: HTMLElement, minute: number): void {
  const former = place.dataset.minute;
  place.dataset.minute = String(minute);
  if (former === place.dataset.minute) return;
  for (const list of place.querySelectorAll('details[open]')) list.dispatchEvent(new Event('toggle'));
}

/** Published builds by name; each name's list is fetched when it is opened, since there may be very many. */
export function buildsSection(names: readonly string[], channel: string, context: BuildsContext): HTMLElement[] {
  if (names.length === 0) return [element('p', { class: 'quiet' }, texts.builds.nothing)];
  return names.map((name) => {
    const list = element('ul', { class: 'rows' });
    const live = context.status.stable?.builds.find((id) => nameOf(id) === name);
    const details = element('details', { 'data-name': name });
    const show = async () => {
      if (!details.open) return;
      const path = `builds?name=${encodeURIComponent(name)}&channel=${encodeURIComponent(channel)}`;
      const builds = await get<BuildSummary[]>(path).catch(failureOf);
      draw(list, builds, () =>
        builds instanceof ApiFailure
          ? [element('li', { class: 'alarm', role: 'alert' }, texts.builds.lost)]
          : builds.slice(0, MOST_SHOWN).map((build) => buildRow(build, context)),
      );
    };
    details.addEventListener('toggle', () => void show());
    details.append(
      element(
        'summary',
        {},
        element('span', { class: 'name' }, name),
        element('small', {}, live ? versionOf(live) : texts.builds.none),
      ),
      list,
    );
    return details;
  });
}
