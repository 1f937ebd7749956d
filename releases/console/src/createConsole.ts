import type { ShownToast } from '@liaozhai/shared/ui';
import {
  ApiFailure,
  type ChannelView,
  type Comparison,
  type Difference,
  failureOf,
  forgetTyped,
  get,
  type Health,
  type KillEffect,
  type LogEntry,
  nameOf,
  type Preview,
  post,
  type RefusalReason,
  type Sharing,
  saveChosen,
  saveTyped,
  typedFor,
  UNREADABLE,
} from './api';
import {
  type ConsoleState,
  type Cure,
  type Decided,
  FORWARD,
  type SeenState,
  type Wanted,
  WORDS,
} from './consoleState';
import { labels, type NamedPackage } from './labels';
import { changeLine, endedBy, killLines, said, shortList, subjectOf, takenBackLines, texts, versionOf } from './texts';

const LOG_LENGTH = 60;
const TOAST_MS = 6000;
const PREVIEWS_MS = 30_000;

interface Changed {
  changed: boolean;
  document: ChannelView;
  /** Waits for a second person in place of the change. */
  proposal?: { id: string };
}

const pathOf = (verb: string, { channel }: Decided): string => `${verb}?channel=${encodeURIComponent(channel)}`;

async function look(channel: string, former: SeenState | null): Promise<SeenState> {
  const query = `channel=${encodeURIComponent(channel)}`;
  const [status, names] = await Promise.all([
    get<ChannelView>(`status?${query}`),
    get<NamedPackage[]>(`names?${query}`),
  ]);
  const isSame = former?.status.channel === status.channel && former.status.seq === status.seq;
  labels.set(names);
  const log = isSame ? former.log : await get<LogEntry[]>(`log?limit=${LOG_LENGTH}&${query}`);
  const sharing = (isSame && former.sharing) || (await get<Sharing>(`sharing?${query}`).catch(() => null));
  return { status, log, names, sharing, at: new Date() };
}

const stateBefore = (decided: Decided, name?: string) => {
  const named = name ? `&name=${encodeURIComponent(name)}` : '';
  return get<{ seq: number }>(`${pathOf('before', decided)}${named}`).catch((cause: unknown) => {
    const { status, reason } = failureOf(cause);
    throw status === 422 && !reason ? new ApiFailure(422, [texts.live.nothingBefore(name && labels.of(name))]) : cause;
  });
};

/** The server names the state a rollback would go to, so that the dialog tells what will really happen. */
async function rollbackChanges(decided: Decided, name?: string, to?: number): Promise<string[]> {
  const target = to ?? (await stateBefore(decided, name)).seq;
  const differences = await get<Difference[]>(`${pathOf('diff', decided)}&a=${decided.seq}&b=${target}`);
  return differences.filter((difference) => !name || difference.name === name).map(changeLine);
}

/** The state of the signed-in page, and everything it can be asked to do. One for as long as somebody is signed in. */
export function createConsole(channel: string) {
  let state: ConsoleState = {
    channel,
    seen: null,
    previews: [],
    health: null,
    now: new Date(),
    stale: false,
    refused: false,
    running: null,
    question: null,
    comparison: null,
    notice: null,
    toast: null,
  };
  const listeners = new Set<() => void>();
  const healthAsked = new Set<string>();
  let previewsAsked = 0;
  let isChecking = false;
  let asked = 0;
  let shown = 0;
  let begun = 0;
  let toastTimer: ReturnType<typeof setTimeout> | undefined;

  function set(parts: Partial<ConsoleState>): void {
    state = { ...state, ...parts };
    for (const listener of listeners) listener();
  }

  function say(text: string, kind: ShownToast['kind'] = 'plain'): void {
    clearTimeout(toastTimer);
    set({ toast: { id: `${asked}-${text}`, text, kind } });
    // a running request keeps its toast until it ends
    if (kind !== 'plain') toastTimer = setTimeout(() => set({ toast: null }), TOAST_MS);
  }

  function hush(): void {
    clearTimeout(toastTimer);
    set({ toast: null });
  }

  /** Figures may take long after a start, so the state never waits for them, and they are asked for once at a time. */
  async function refreshHealth(of: string): Promise<void> {
    if (healthAsked.has(of)) return;
    healthAsked.add(of);
    const health = await get<Health>(`health?channel=${encodeURIComponent(of)}`).catch(failureOf);
    healthAsked.delete(of);
    if (of === state.channel && !(health instanceof ApiFailure)) set({ health });
  }

  /** They end by themselves, so they are asked for from time to time as well as after a change. */
  async function refreshPreviews(of: string): Promise<void> {
    if (Date.now() - previewsAsked < PREVIEWS_MS) return;
    previewsAsked = Date.now();
    const previews = await get<Preview[]>(`previews?channel=${encodeURIComponent(of)}`).catch(failureOf);
    if (of === state.channel && !(previews instanceof ApiFailure)) set({ previews });
  }

  /** Asks the server for the current state. Answers about a channel that was left, or older than what is shown, are dropped. */
  async function refresh(): Promise<void> {
    const of = state.channel;
    asked += 1;
    const turn = asked;
    void refreshHealth(of);
    const answer = await look(of, state.seen).catch(failureOf);
    if (of !== state.channel || turn < shown) return;
    shown = turn;
    const now = new Date();
    if (!(answer instanceof ApiFailure)) set({ seen: answer, stale: false, now });
    else if (answer.status === 401) set({ refused: true });
    else set({ stale: true, now });
    void refreshPreviews(of);
  }

  function decided(): Decided {
    return { channel: state.channel, seq: state.seen?.status.seq ?? 0 };
  }

  /** Runs one request at a time with a toast while it lasts; a failure is shown with the server's lines. */
  async function run(control: string, work: () => Promise<void>): Promise<void> {
    if (state.running !== null) return;
    begun += 1;
    const turn = begun;
    const end = (parts: Partial<ConsoleState>) => set({ ...parts, ...(turn === begun ? { running: null } : {}) });
    set({ running: control });
    say(texts.busy);
    try {
      await work();
      if (state.toast?.text === texts.busy) hush();
      end({});
    } catch (cause) {
      hush();
      end({ notice: refusalOf(cause) });
    }
  }

  function refusalOf(cause: unknown): NonNullable<ConsoleState['notice']> {
    const { status, lines, reason } = failureOf(cause);
    return { title: texts.refusal(status), ...(reason ? inWords(reason, lines) : { lines: lines.map(said) }) };
  }

  /** A refusal in the words of the page, with what can be done about it here. */
  function inWords(reason: RefusalReason, lines: readonly string[]): { lines: string[]; cures: Cure[] } {
    const into = state.channel;
    if (reason.kind === 'killed') return { lines: [texts.live.dead(shortList(reason.builds))], cures: [] };
    if (reason.kind === 'unfit') {
      const { builds, to } = reason;
      const title = texts.log.restoreState(to ?? 0);
      const choose = () => {
        set({ notice: null });
        void self.rollback(`restore ${to}`, { to: to ?? undefined, title });
      };
      return {
        // the first and the last, message and cure, speak of the command line
        lines: [texts.live.unfit(shortList(builds)), ...lines.slice(1, -1).map(said)],
        cures: to === null ? [] : [{ label: title, choose }],
      };
    }
    const { from, builds } = reason;
    const cures = builds.map(({ build }) => ({
      label: texts.takenBack.bring(labels.of(nameOf(build)), from),
      choose: () => void bringTo(from, into, build),
    }));
    return { lines: takenBackLines(into, reason), cures };
  }

  /** Shows the channel that lacks a build, and asks there. */
  async function bringTo(channel: string, origin: string, build: string): Promise<void> {
    set({ notice: null });
    saveChosen(channel);
    await self.chooseChannel(channel);
    if (!state.seen) return;
    const name = nameOf(build);
    const live = state.seen.status.stable?.builds.find((id) => nameOf(id) === name) ?? null;
    const changes = [changeLine({ name, from: live, to: build })];
    const title = texts.takenBack.bring(labels.of(name), channel);
    ask('promote', { from: origin, name }, { title, action: texts.candidate.promote, changes });
  }

  /** What somebody else did since a state was seen; what the server said of it where the log cannot be read. */
  async function changesSince({ channel: of, seq }: Decided, lines: readonly string[]): Promise<readonly string[]> {
    await refresh();
    const { log = [], status } = state.seen ?? {};
    const since = status?.channel === of ? log.filter((entry) => entry.seq > seq) : [];
    if (since.length === 0) return lines;
    return since.map(({ verb, action, who }) => texts.log.by(`${texts.verb(verb)} ${subjectOf(action)}`, who));
  }

  /** Whether this was about a proposal that waits no more. */
  async function isOver(verb: string, body: object): Promise<boolean> {
    if (!WORDS.includes(verb)) return false;
    await refresh();
    const { proposals = [] } = state.seen?.status.agenda ?? {};
    return !proposals.some(({ id }) => id === Reflect.get(body, 'id'));
  }

  function ask(verb: string, body: object, { back = false, ...wanted }: Wanted, seen = decided()): void {
    const { agenda } = state.seen?.status ?? {};
    const frozen = (!back && FORWARD.includes(verb) && agenda?.frozen) || null;
    const waits = Boolean(agenda?.approval) && !back && [...FORWARD, 'approval'].includes(verb);
    const kept = typedFor(seen.channel, wanted.title);
    set({ question: { verb, body, decided: seen, busy: false, frozen, waits, kept, ...wanted } });
  }

  const self = {
    subscribe: (listener: () => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    state: () => state,
    refresh,

    chooseChannel: (chosen: string) => {
      previewsAsked = 0;
      set({ channel: chosen, seen: null, previews: [], health: null, stale: false });
      return refresh();
    },

    /** Asks before a change. */
    ask,

    /** Asks before going back to what was live: for a name, to a state, or as a whole. */
    rollback: async (
      control: string,
      { name, to, title, action = texts.live.rollback }: { name?: string; to?: number; title: string; action?: string },
    ) => {
      const seen = decided();
      await run(control, async () => {
        const differences = await rollbackChanges(seen, name, to);
        const ended = state.seen && differences.length > 0 ? endedBy(state.seen.status, name) : [];
        const changes = [...differences, ...ended];
        ask('rollback', { name, to }, { title, action, danger: true, changes }, seen);
      });
    },

    /** Shows two builds of one name beside each other. */
    compare: (control: string, name: string, from: string, to: string) =>
      run(control, async () => {
        const [a, b] = [from, to].map(encodeURIComponent);
        const [found = null] = await get<Comparison[]>(`${pathOf('compare', decided())}&a=${a}&b=${b}`);
        set({ comparison: { name, from, to, found } });
      }),

    /** Shows what is live beside what was live before it. */
    compareWithFormer: (control: string, name: string) =>
      run(control, async () => {
        const { seq } = await stateBefore(decided(), name);
        const all = await get<Comparison[]>(`${pathOf('compare', decided())}&a=${seq}&b=stable`);
        const found = all.find((each) => each.name === name) ?? null;
        set({ comparison: { name, from: found?.from ?? '', to: found?.to ?? '', found } });
      }),

    endComparison: () => set({ comparison: null }),

    /** Asks before everybody gets what another channel runs. */
    promoteFrom: async (control: string, channel: string) => {
      const seen = decided();
      await run(control, async () => {
        const differences = await get<Difference[]>(
          `${pathOf('diff', seen)}&a=stable&b=${encodeURIComponent(`${channel}:stable`)}`,
        );
        const title = texts.live.promoteFrom(channel);
        ask(
          'promote',
          { from: channel },
          { title, action: texts.candidate.promote, changes: differences.map(changeLine) },
          seen,
        );
      });
    },

    /** Asks before a build is banned: what that takes away, that it is for good, and what can be undone instead. */
    kill: async (control: string, build: string) => {
      const seen = decided();
      await run(control, async () => {
        const effect = await get<KillEffect>(`${pathOf('kill', seen)}&build=${encodeURIComponent(build)}`);
        const { name, live, instead } = effect;
        const back = texts.live.rollback;
        const withdraw =
          name === 'host'
            ? undefined
            : { label: `${texts.live.withdraw} ${labels.of(name)}`, choose: () => void self.withdraw(control, build) };
        const gentler = instead
          ? {
              label: `${back} ${labels.of(name)}`,
              choose: () => void self.rollback(control, { name, title: `${back} ${labels.of(name)}` }),
            }
          : withdraw;
        ask(
          'kill',
          { build, confirm: name },
          {
            title: `${texts.builds.kill} ${labels.of(name)} ${versionOf(build)}`,
            action: texts.builds.kill,
            danger: true,
            changes: killLines(effect),
            typed: name,
            gentler: live ? gentler : undefined,
          },
          seen,
        );
      });
    },

    /** Asks before a remote leaves the set: which addresses that takes from everybody. */
    withdraw: async (control: string, build: string) => {
      const seen = decided();
      const name = nameOf(build);
      const { withdraw, rollback } = texts.live;
      await run(control, async () => {
        const { shown, instead } = await get<KillEffect>(`${pathOf('kill', seen)}&build=${encodeURIComponent(build)}`);
        const title = `${rollback} ${labels.of(name)}`;
        const gentler = { label: title, choose: () => void self.rollback(control, { name, title }) };
        ask(
          'withdraw',
          { name, confirm: name },
          {
            title: `${withdraw} ${labels.of(name)}`,
            action: withdraw,
            danger: true,
            changes: [
              changeLine({ name, from: build, to: null }),
              texts.live.lost(shown.join(' ')),
              ...(state.seen ? endedBy(state.seen.status, name) : []),
            ],
            typed: name,
            ...(instead ? { gentler } : {}),
          },
          seen,
        );
      });
    },

    /** Carries out what was asked, for a reason, which is also the one for switching while frozen where `overrides`. */
    agree: async (why: string, overrides = false) => {
      const { question } = state;
      // one that was left goes on behind the page
      if (!question || state.running !== null) return;
      const { verb, body, title, decided: seen } = question;
      saveTyped({ channel: seen.channel, title, why });
      const agreed = { ...question, busy: true };
      set({ question: agreed });
      let isDone = false;
      await run('question', async () => {
        try {
          const upon = WORDS.includes(verb) ? {} : { seq: seen.seq };
          const request = { ...body, why, ...upon, ...(overrides && why.trim() ? { override: why } : {}) };
          const { changed, document, proposal } = await post<Changed>(pathOf(verb, seen), request).catch(
            async (cause: unknown) => {
              const { status } = failureOf(cause);
              // the request may have arrived although its answer did not
              if (status === 0 || status === UNREADABLE) throw new ApiFailure(status, [texts.confirm.unanswered]);
              if (status === 409) throw new ApiFailure(409, await changesSince(seen, failureOf(cause).lines));
              throw (await isOver(verb, body)) ? new ApiFailure(status, [texts.approval.over]) : cause;
            },
          );
          previewsAsked = 0;
          forgetTyped();
          await refresh();
          isDone = true;
          const shownNow = state.seen?.status;
          const seq = shownNow?.channel === document.channel ? Math.max(shownNow.seq, document.seq) : document.seq;
          if (proposal) say(texts.approval.proposed(proposal.id), 'success');
          else say(changed ? texts.done.changed(seq) : texts.done.unchanged, 'success');
        } finally {
          if (state.question === agreed) set({ question: null });
        }
      });
      if (!isDone) await refresh();
    },

    /** Keeps what is being typed, in case the session ends meanwhile. */
    type: (why: string) => {
      const { question } = state;
      if (question) saveTyped({ channel: question.decided.channel, title: question.title, why });
    },

    callOff: () => {
      // one that is under way may still fail, and holds up nothing
      if (!state.question?.busy) forgetTyped();
      set({ question: null, ...(state.question?.busy ? { running: null } : {}) });
    },
    dismiss: () => set({ notice: null }),

    /** Runs the gate, which may take minutes and changes nothing: everything else can be done meanwhile. */
    check: async (build: string) => {
      if (isChecking) return;
      isChecking = true;
      const checking = texts.checking(shortList([build]));
      say(checking);
      try {
        const results = await post<{ check: string; problems: string[] }[]>(pathOf('check', decided()), {
          builds: [build],
        });
        const problems = results.flatMap(({ check, problems: found }) => found.map((line) => `${check}: ${line}`));
        if (problems.length > 0) throw new ApiFailure(422, [build, ...problems]);
        say(texts.done.checked(shortList([build])), 'success');
      } catch (cause) {
        if (state.toast?.text === checking) hush();
        set({ notice: refusalOf(cause) });
      }
      isChecking = false;
    },

    /** Adds a webhook address, and shows its secret this once. */
    addWebhook: (control: string, url: string) =>
      run(control, async () => {
        const { secret } = await post<{ secret: string }>(pathOf('webhook', decided()), { url });
        set({ notice: { title: texts.webhook.secret, lines: [secret] } });
        await refresh();
      }),

    testWebhook: (control: string, id: string) =>
      run(control, async () => {
        await post(pathOf('webhook-test', decided()), { id });
        say(texts.webhook.tested, 'success');
      }),

    override: (control: string, build: string) =>
      run(control, async () => {
        const request = { builds: [build], hours: 2 };
        const { query, address } = await post<{ query: string; address: string | null }>(
          pathOf('override', decided()),
          request,
        );
        const { override, overrideWithoutSite } = texts.done;
        const copy = address ?? query;
        set({ notice: { title: address ? override : overrideWithoutSite, lines: [copy], copy } });
      }),
  };
  return self;
}

export type Console = ReturnType<typeof createConsole>;
