import type { Actions } from './actions';
import { element } from './element';
import { nameOf, relativeTime, versionOf } from './format';
import { type ChannelDocument, type Me, maySwitch } from './model';
import { texts } from './texts';

function liveRow(id: string, status: ChannelDocument, me: Me, actions: Actions): HTMLElement {
  const name = nameOf(id);
  const good = status.lastGood[name];
  return element(
    'li',
    { class: 'row' },
    element('span', { class: 'name' }, name),
    element(
      'span',
      { class: 'version', title: id },
      versionOf(id),
      good ? element('small', { title: good }, `${texts.live.lastGood} ${versionOf(good)}`) : null,
    ),
    maySwitch(me, name)
      ? element(
          'button',
          {
            type: 'button',
            'aria-label': `${texts.live.rollback} ${name}`,
            onclick: () => void actions.rollback({ name, title: `${texts.live.rollback} ${name}` }),
          },
          texts.live.rollback,
        )
      : null,
  );
}

const killedLine = (killed: readonly string[]): HTMLElement =>
  element(
    'p',
    { class: 'killed quiet', title: killed.join('\n') },
    `${texts.live.killed}：${killed.map((id) => `${nameOf(id)} ${versionOf(id)}`).join('、')}`,
  );

/** What everyone runs, since when and by whom. */
export function liveSection(status: ChannelDocument, me: Me, actions: Actions, now: Date): (HTMLElement | null)[] {
  const { stable, seq, killed, expires } = status;
  if (!stable) return [element('p', { class: 'quiet' }, texts.live.nothing)];
  return [
    element(
      'p',
      { class: 'quiet' },
      `${texts.live.state(seq)} · ${texts.live.since(relativeTime(stable.since, now), stable.by)}`,
    ),
    element('ul', { class: 'rows' }, ...stable.builds.map((id) => liveRow(id, status, me, actions))),
    killed.length > 0 ? killedLine(killed) : null,
    element(
      'div',
      { class: 'actions' },
      element('small', {}, texts.live.expires(new Date(expires).toLocaleDateString('zh-CN'))),
      maySwitch(me)
        ? element(
            'button',
            {
              type: 'button',
              class: 'danger',
              onclick: () => void actions.rollback({ title: texts.live.rollbackAll }),
            },
            texts.live.rollbackAll,
          )
        : null,
    ),
  ];
}
