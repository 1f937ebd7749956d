import type { Actions } from './actions';
import { element } from './element';
import { relativeTime, subjectOf } from './format';
import { type LogEntry, type Me, maySwitch } from './model';
import { texts } from './texts';

function entryRow(entry: LogEntry, isCurrent: boolean, me: Me, actions: Actions, now: Date): HTMLElement {
  const { seq, verb, what, why, who, at, evidence = [] } = entry;
  const restore = () => void actions.rollback({ to: seq, title: `${texts.log.restore}（${texts.live.state(seq)}）` });
  return element(
    'li',
    { class: `entry ${verb}` },
    element(
      'p',
      {},
      element('strong', {}, `${seq} · ${texts.verb(verb)}`),
      ' ',
      element('span', { class: 'what', title: what }, subjectOf(what)),
    ),
    element('small', { title: new Date(at).toLocaleString('zh-CN') }, texts.log.by(who, relativeTime(at, now))),
    why ? element('p', { class: 'why' }, `“${why}”`) : null,
    evidence.length > 0
      ? element('ul', { class: 'evidence' }, ...evidence.map((line) => element('li', {}, line)))
      : null,
    !isCurrent && seq > 1 && maySwitch(me)
      ? element(
          'button',
          { type: 'button', 'aria-label': `${texts.log.restore} ${seq}`, onclick: restore },
          texts.log.restore,
        )
      : null,
  );
}

/** Who did what and why, newest first. */
export const logSection = (log: readonly LogEntry[], me: Me, actions: Actions, now: Date): HTMLElement[] => [
  element('ol', { class: 'timeline' }, ...log.map((entry, at) => entryRow(entry, at === 0, me, actions, now))),
];
