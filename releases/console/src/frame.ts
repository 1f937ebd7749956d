import { element } from './element';
import { texts } from './texts';

/** The page's fixed places, drawn once. */
export interface Frame {
  root: HTMLElement;
  channel: HTMLSelectElement;
  who: HTMLElement;
  notice: HTMLElement;
  said: HTMLElement;
  live: HTMLElement;
  candidateSince: HTMLElement;
  candidate: HTMLElement;
  health: HTMLElement;
  builds: HTMLElement;
  log: HTMLElement;
}

const card = (title: string, kind: string, ...places: HTMLElement[]): HTMLElement =>
  element('section', { class: `card ${kind}`, 'aria-label': title }, element('h2', {}, title), ...places);

export function createFrame(signOut: () => void): Frame {
  const place = () => element('div');
  const frame = {
    channel: element('select', { 'aria-label': texts.channel }),
    who: element('span', { class: 'who' }),
    notice: element('p', { class: 'notice', role: 'alert', hidden: true }, texts.stale),
    said: element('p', { class: 'said', role: 'status', 'aria-live': 'polite' }),
    live: place(),
    candidateSince: place(),
    candidate: place(),
    health: place(),
    builds: place(),
    log: place(),
  };
  const header = element(
    'header',
    {},
    element('span', { class: 'seal', 'aria-hidden': 'true' }, '聊'),
    element('h1', {}, texts.title),
    frame.channel,
    frame.who,
    element('button', { type: 'button', onclick: signOut }, texts.signOut),
  );
  const main = element(
    'main',
    {},
    frame.notice,
    frame.said,
    card(texts.live.title, 'live', frame.live),
    card(texts.candidate.title, 'candidate', frame.candidateSince, frame.candidate),
    card(texts.health.title, 'health', frame.health),
    card(texts.builds.title, 'builds', frame.builds),
    card(texts.log.title, 'log', frame.log),
  );
  return { ...frame, root: element('div', { class: 'frame' }, header, main) };
}

/** Asks for a token, with the reason if a former one was refused. */
export function createSignIn(wrong: boolean, enter: (token: string) => void): HTMLElement {
  const input = element('input', {
    type: 'password',
    id: 'token',
    autocomplete: 'off',
    'aria-describedby': 'hint',
    required: true,
  });
  const submit = (event: Event) => {
    event.preventDefault();
    if (input.value.trim()) enter(input.value.trim());
  };
  return element(
    'form',
    { class: 'card sign-in', onsubmit: submit },
    element('h1', {}, texts.title),
    element('label', { for: 'token' }, texts.signIn.label),
    input,
    element(
      'p',
      { id: 'hint', class: wrong ? 'alarm' : 'quiet', role: wrong ? 'alert' : undefined },
      wrong ? texts.signIn.wrong : texts.signIn.hint,
    ),
    element('button', { type: 'submit', class: 'primary' }, texts.signIn.action),
  );
}
