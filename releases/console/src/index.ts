import './base.css';
import './controls.css';
import './sections.css';
import './frame.css';
import { createActions } from './actions';
import { ApiFailure, forgetToken, get, readToken, saveToken } from './api';
import { draw, element } from './element';
import { createFrame, createSignIn } from './frame';
import { healthSection } from './healthSection';
import { createLooking } from './looking';
import type { Me } from './model';
import { show } from './show';
import { texts } from './texts';

const LOOK_MILLISECONDS = 2500;

const root = document.getElementById('console') ?? document.body;

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
      show(frame, seen, { me, actions, now: new Date() });
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
      return root.replaceChildren(
        element(
          'div',
          { class: 'card alarm', role: 'alert' },
          ...[cause.message, ...cause.lines].map((line) => element('p', {}, line)),
        ),
      );
    forgetToken();
    signIn(true);
  }
}

void start();
