import type { Actions } from './actions';
import { buildsSection, refreshOpenLists } from './buildsSection';
import { candidateSection, candidateSince } from './candidateSection';
import { draw } from './element';
import type { Frame } from './frame';
import { liveSection } from './liveSection';
import { logSection } from './logSection';
import type { Me, Seen } from './model';

const MINUTE = 60_000;

interface ShowContext {
  me: Me;
  actions: Actions;
  now: Date;
}

/** Draws what changed. Relative times change once a minute; a share being chosen must not be lost to that. */
export function show(frame: Frame, { status, log, names }: Seen, { me, actions, now }: ShowContext): void {
  const minute = Math.floor(now.getTime() / MINUTE);
  const { candidate, ...rest } = status;
  draw(frame.live, [rest, minute], () => liveSection(status, me, actions, now));
  draw(frame.candidateSince, [candidate, minute], () => candidateSince(status, now));
  draw(frame.candidate, [candidate, rest.stable], () => candidateSection(status, me, actions));
  draw(frame.builds, [names, status.seq, status.channel], () =>
    reopened(frame.builds, buildsSection(names, status.channel, { status, me, actions })),
  );
  draw(frame.log, [log, minute], () => logSection(log, me, actions, now));
  refreshOpenLists(frame.builds, minute);
}

/** Lists that were open stay open when they are drawn anew. */
function reopened(place: Element, lists: HTMLElement[]): HTMLElement[] {
  const open = new Set([...place.querySelectorAll('details[open]')].map((list) => list.getAttribute('data-name')));
  for (const list of lists) if (list instanceof HTMLDetailsElement) list.open = open.has(list.dataset.name ?? '');
  return lists;
}
