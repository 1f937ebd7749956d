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
import type { ChannelDocument, Health, LogEntry, Me, Seen } from './model';
import { texts } from './texts';

const LOOK_MILLISECONDS = 2500;
const LOG_LENGTH = 60;
const MINUTE = 60_000;

const root = document.getElementById('console') ?? document.body;

async function look(channel: string, former: Seen | null): Promise<Seen> {
  const query = `channel=${encodeURIComponent(channel)}`;
  const [status, health, names] = await Promise.all([
    get<ChannelDocument>(`status?${query}`),
    get<Health>(`health?${query}`),
    get<string[]>('names'),
  ]);
  const isSame = former?.status.channel === status.channel && former.status.seq === status.seq;
  const log = isSame ? former.log : await get<LogEntry[]>(`log?limit=${LOG_LENGTH}&${query}`);
  return { status, health, log, names };
}

/** Relative times change once a minute, so a minute's data is drawn once. */
const thisMinute = (): number => Math.floor(Date.now() / MINUTE);

function show(frame: Frame, seen: Seen, me: Me, actions: ReturnType<typeof createActions>): void {
  const { status, health, log, names } = seen;
  const now = new Date();
  const { candidate, ...rest } = status;
  draw(frame.live, [rest, thisMinute()], () => liveSection(status, me, actions, now));
  draw(frame.candidate, [candidate, rest.stable, thisMinute()], () => candidateSection(status, me, actions, now));
  draw(frame.health, health, healthSection);
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
  let seen: Seen | null = null;
  const refresh = async () => {
    try {
      seen = await look(frame.channel.value, seen);
      frame.notice.hidden = true;
      show(frame, seen, me, actions);
    } catch (cause) {
      if (cause instanceof ApiFailure && cause.status === 401) return signIn(true);
      if (!(cause instanceof ApiFailure)) throw cause;
      frame.notice.hidden = false;
    }
  };
  const say = (line: string) => {
    frame.said.textContent = line;
  };
  const status = () => seen?.status ?? null;
  const actions = createActions({
    channel: () => frame.channel.value,
    seq: () => seen?.status.seq ?? 0,
    status,
    say,
    refresh,
  });
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
