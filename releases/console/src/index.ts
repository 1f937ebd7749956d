import './style.css';
import { createActions } from './actions';
import { ApiFailure, forgetToken, get, readToken, saveToken } from './api';
import { buildsSection } from './buildsSection';
import { candidateSection } from './candidateSection';
import { draw, element } from './element';
import { createFrame, createSignIn, type Frame } from './frame';
import { healthSection } from './healthSection';
import { liveSection } from './liveSection';
import { logSection } from './logSection';
import { createLooking } from './looking';
import type { Me, Seen } from './model';
import { texts } from './texts';

const LOOK_MILLISECONDS = 2500;
const MINUTE = 60_000;

const root = document.getElementById('console') ?? document.body;

/** Relative times change once a minute, so a minute's data is drawn once. */
const thisMinute = (): number => Math.floor(Date.now() / MINUTE);

function show(frame: Frame, seen: Seen, me: Me, actions: ReturnType<typeof createActions>): void {
  const { status, log, names } = seen;
  const now = new Date();
  const { candidate, ...rest } = status;
  draw(frame.live, [rest, thisMinute()], () => liveSection(status, me, actions, now));
  draw(frame.candidate, [candidate, rest.stable, thisMinute()], () => candidateSection(status, me, actions, now));
  draw(frame.builds, [names, status.seq, status.channel], () =>
    reopened(frame.builds, buildsSection(names, status.channel, { status, me, actions })),
  );
  draw(frame.log, [log, thisMinute()], () => logSection(log, me, actions, now));
}

/** Lists that were open stay open when they are drawn anew. */
function reopened(place: Element, lists: HTMLElement[]): HTMLElement[] {
  const open = new Set([...place.querySelectorAll('details[open]')].map((list) => list.getAttribute('data-name')));
  for (const list of lists) if (list instanceof HTMLDetailsElement) list.open = open.has(list.dataset.name ?? '');
  return lists;
}

async function run(me: Me, channels: { channels: string[]; shown: string }): Promise<void> {
  const frame = createFrame(() => {
    forgetToken();
    signIn(false);
  });
  frame.who.textContent = texts.role(me.role, me.name);
  frame.channel.append(
    ...channels.channels.map((name) => element('option', { value: name, selected: name === channels.shown }, name)),
  );
  const looking = createLooking({
    channel: () => frame.channel.value,
    show: (seen) => {
      frame.notice.hidden = true;
      show(frame, seen, me, actions);
    },
    showHealth: (health) => draw(frame.health, health, healthSection),
    failed: ({ status }) => {
      if (status === 401) return signIn(true);
      frame.notice.hidden = false;
    },
  });
  const { refresh } = looking;
  const say = (line: string) => {
    frame.said.textContent = line;
  };
  const actions = createActions({ status: looking.status, say, refresh });
  frame.channel.addEventListener('change', () => void refresh());
  root.replaceChildren(frame.root);
  await refresh();
  const timer = setInterval(() => {
    if (!frame.root.isConnected) clearInterval(timer);
    else if (document.visibilityState === 'visible') void refresh();
  }, LOOK_MILLISECONDS);
}

function signIn(wrong: boolean): void {
  root.replaceChildren(
    createSignIn(wrong, (token) => {
      saveToken(token);
      void start();
    }),
  );
}

async function start(): Promise<void> {
  if (!readToken()) return signIn(false);
  try {
    await run(await get<Me>('me'), await get<{ channels: string[]; shown: string }>('channels'));
  } catch (cause) {
    if (!(cause instanceof ApiFailure)) throw cause;
    if (cause.status !== 401)
      return root.replaceChildren(element('p', { class: 'card alarm', role: 'alert' }, cause.message));
    forgetToken();
    signIn(true);
  }
}

void start();
