import { say } from '../../src/sentences';
import {
  ApiFailure,
  type ChannelView,
  type Comparison,
  type Difference,
  failureOf,
  get,
  type KillEffect,
  nameOf,
  pathOf,
  post,
  type RefusalReason,
  saveAddressChannel,
} from './api';
import {
  type Basis,
  type Cure,
  createConsoleStore,
  createPolling,
  type Notice,
  type QuestionOptions,
  stateBefore,
} from './consoleStore';
import { createQuestions, throwIfUnanswered } from './questions';
import {
  changeLine,
  endedBy,
  killLines,
  labels,
  overtakenBy,
  placesLine,
  rollbackTitle,
  schedulesEnded,
  shortList,
  takenBackLines,
  texts,
  translate,
  versionOf,
  type WayBack,
} from './texts';

/**
 * Effects of a rollback. The server determines the target state, so that the dialog shows what will happen. Throws the server's
 * refusal of killed builds, so that nobody is asked in vain.
 */
async function rollbackChanges(currentBasis: Basis, killed: readonly string[], name?: string, to?: number) {
  const target = to ?? (await stateBefore(currentBasis, name));
  const all = await get<Difference[]>(`${pathOf('diff', currentBasis)}&a=${currentBasis.seq}&b=${target}`);
  const differences = all.filter((difference) => !name || difference.name === name);
  const builds = differences.flatMap((difference) => difference.to ?? []).filter((id) => killed.includes(id));
  if (builds.length > 0) throw new ApiFailure(422, [], { kind: 'killed', builds });
  return differences;
}

/** State and actions of the signed-in page. One instance per sign-in. */
export function createConsole(channel: string) {
  const store = createConsoleStore(channel, (cause) => refusalOf(cause));
  const { state, set, showToast, hideToast, showNotice, currentBasis, run } = store;
  const refresh = createPolling(store);
  const questions = createQuestions(store, refresh);
  const checkedBuilds = new Set<string>();
  let turnCount = 0;

  const effects = (linesOf: (status: ChannelView) => string[]): string[] => {
    const { snapshot } = state();
    return snapshot ? linesOf(snapshot.status) : [];
  };

  function refusalOf(cause: unknown): Notice {
    const { status, lines, reason } = failureOf(cause);
    const notice = { title: texts.refusal(status), lines: lines.map(translate) };
    return reason ? { ...notice, ...explainRefusal(reason, lines) } : notice;
  }

  const rollbackCure = (target: WayBack): Cure => ({
    label: rollbackTitle(target),
    choose: () => void self.rollback(target),
  });

  /** Offers to withdraw a live build, except the host. */
  const withoutIt = (build: string): Cure[] => {
    const name = nameOf(build);
    const label = `${texts.live.withdraw} ${labels.of(name)}`;
    return name === 'host' ? [] : [{ label, choose: () => void self.withdraw(build) }];
  };

  /** The page's text for a refusal, with actions that resolve it. */
  function explainRefusal(reason: RefusalReason, lines: readonly string[]): Partial<Notice> {
    const currentChannel = state().channel;
    if (reason.kind === 'partly') return { title: texts.done.partly };
    if (reason.kind === 'gone') return { title: texts.done.unchanged, lines: [texts.gone[reason.what]] };
    if (reason.kind === 'killed') return { lines: [texts.live.dead(shortList(reason.builds))] };
    if (reason.kind === 'unfit') {
      const { builds, to } = reason;
      const [name = '', ...others] = builds.map(nameOf);
      const live =
        state().snapshot?.status.stable?.builds.filter((id) => others.length === 0 && nameOf(id) === name) ?? [];
      return {
        // the first and last line, message and advice, are for the command line
        lines: [texts.live.unfit(shortList(builds)), ...lines.slice(1, -1).map(translate)],
        cures: [...(to === null ? [] : [rollbackCure({ to })]), ...live.flatMap((id) => withoutIt(id))],
      };
    }
    const { from, builds } = reason;
    const cures = builds.map(({ build }) => ({
      label: texts.takenBack.bring(labels.of(nameOf(build)), from),
      choose: () => void promoteInto(from, currentChannel, build),
    }));
    return { lines: takenBackLines(currentChannel, reason), cures };
  }

  /** Switches to the channel that lacks a build, and asks there to promote it. */
  async function promoteInto(channel: string, origin: string, build: string): Promise<void> {
    const { seq: fromSeq } = currentBasis();
    saveAddressChannel(channel);
    await self.chooseChannel(channel);
    const { snapshot } = state();
    if (!snapshot) return;
    const name = nameOf(build);
    const live = snapshot.status.stable?.builds.find((id) => nameOf(id) === name) ?? null;
    const changes = [changeLine({ name, from: live, to: build }), ...overtakenBy(snapshot.status, [build])];
    const title = texts.takenBack.bring(labels.of(name), channel);
    questions.openQuestion(
      'promote',
      { from: origin, name, fromSeq },
      { title, action: texts.candidate.promote, changes },
    );
  }

  /**
   * Shows the answer, unless the manager has turned to something else meanwhile, which it would interrupt. A toast says so; not
   * after a cancelled question.
   */
  const showUnlessTurned = async <Answer>(load: Promise<Answer>, show: (answer: Answer) => void): Promise<void> => {
    const { question } = state();
    const turnsBefore = turnCount;
    const answer = await load;
    if (turnCount !== turnsBefore) showToast(texts.turnedAway, 'error');
    else if (state().question === question) show(answer);
  };

  /** Asks before a change that `prepare` describes, upon the state that is shown now. */
  const ask = async (prepare: (basis: Basis) => Promise<[string, object, QuestionOptions]>) => {
    const basis = currentBasis();
    await run(() => showUnlessTurned(prepare(basis), (asked) => questions.openQuestion(...asked, basis)));
  };

  const self = {
    subscribe: store.subscribe,
    state,
    refresh,

    /** Called when the manager types text or changes the view. */
    turnAway: () => {
      turnCount += 1;
    },

    chooseChannel: (chosen: string) => {
      self.turnAway();
      set({ channel: chosen, snapshot: null, health: null, refreshFailure: null });
      return refresh();
    },

    /** Asks before a rollback. */
    rollback: ({ name, to, action = texts.live.rollback }: WayBack) =>
      ask(async (basis) => {
        const differences = await rollbackChanges(basis, state().snapshot?.status.killed ?? [], name, to);
        const changed = differences.map((difference) => difference.name);
        const ended = changed.length > 0 ? effects((status) => endedBy(status, name, changed)) : [];
        const changes = [...differences.map(changeLine), ...ended];
        const title = rollbackTitle({ name, to, action });
        return ['rollback', { name, to }, { title, action, danger: true, changes }];
      }),

    compare: (name: string, from: string, to: string) =>
      run(async () => {
        const [a, b] = [from, to].map(encodeURIComponent);
        const [comparison = null] = await get<Comparison[]>(`${pathOf('compare', currentBasis())}&a=${a}&b=${b}`);
        set({ comparison: { name, from, to, result: comparison } });
      }),

    /** Compares the live build with the previous one. */
    compareWithFormer: (name: string) =>
      run(async () => {
        const formerState = await stateBefore(currentBasis(), name).catch((cause: unknown) => {
          const { reason } = failureOf(cause);
          // a build that no longer fits can still be compared
          if (reason?.kind === 'unfit' && reason.builds[0]) return encodeURIComponent(reason.builds[0]);
          throw cause;
        });
        const comparisons = await get<Comparison[]>(`${pathOf('compare', currentBasis())}&a=${formerState}&b=stable`);
        const comparison = comparisons.find((each) => each.name === name) ?? null;
        set({ comparison: { name, from: comparison?.from ?? '', to: comparison?.to ?? '', result: comparison } });
      }),

    endComparison: () => set({ comparison: null }),

    /** Asks before all visitors get the set of another channel. */
    promoteFrom: (channel: string) =>
      ask(async (basis) => {
        const place = encodeURIComponent(`${channel}:stable`);
        // before the differences, so that builds which go live there meanwhile are a conflict
        const { seq: fromSeq } = await get<{ seq: number }>(pathOf('status', { channel }));
        const differences = await get<Difference[]>(`${pathOf('diff', basis)}&a=stable&b=${place}`);
        const [title, action] = [texts.live.promoteFrom(channel), texts.candidate.promote];
        const builds = differences.flatMap(({ to }) => to ?? []);
        const changes = [...differences.map(changeLine), ...effects((status) => overtakenBy(status, builds))];
        return ['promote', { from: channel, fromSeq }, { title, action, changes }];
      }),

    /** Asks before a build is killed. Shows the effect, that it is permanent, and a change that can be undone. */
    kill: (build: string) =>
      ask(async (basis) => {
        const effect = await get<KillEffect>(`${pathOf('kill', basis)}&build=${encodeURIComponent(build)}`);
        const { name, live, instead, unfit, whole } = effect;
        // typing the name would not help: the server refuses to kill the only host
        if (live && name === 'host' && instead === null && whole === null)
          throw new ApiFailure(422, [say('onlyHost', { build }), ...unfit, say('onlyHostCure')]);
        const wayBack = whole === null ? { name } : { to: whole };
        const gentler = instead || whole !== null ? rollbackCure(wayBack) : withoutIt(build)[0];
        const options = {
          title: `${texts.builds.kill} ${labels.of(name)} ${versionOf(build)}`,
          action: texts.builds.kill,
          danger: true,
          changes: [
            ...killLines(effect),
            ...effects((status) => schedulesEnded(status, live ? [build, name] : [build])),
          ],
          confirmationText: name,
          gentler: live ? gentler : undefined,
        };
        return ['kill', { build, confirm: name }, options];
      }),

    /** Asks before a remote is withdrawn. Shows which addresses disappear. */
    withdraw: (build: string) =>
      ask(async (basis) => {
        const name = nameOf(build);
        const { withdraw, lost } = texts.live;
        const { shown, instead } = await get<KillEffect>(`${pathOf('kill', basis)}&build=${encodeURIComponent(build)}`);
        const options = {
          title: `${withdraw} ${labels.of(name)}`,
          action: withdraw,
          danger: true,
          changes: [
            changeLine({ name, from: build, to: null }),
            lost(placesLine(shown)),
            ...effects((status) => endedBy(status, name)),
          ],
          confirmationText: name,
          gentler: instead ? rollbackCure({ name }) : undefined,
        };
        return ['withdraw', { name, confirm: name }, options];
      }),

    ...questions,
    dismiss: store.closeNotice,

    /** Runs the gate, which may take minutes. It changes nothing, so other actions stay available. */
    check: async (build: string) => {
      if (checkedBuilds.has(build)) return;
      checkedBuilds.add(build);
      const toastText = texts.checking(shortList([build]));
      showToast(toastText);
      try {
        const results = await post<{ check: string; problems: string[] }[]>(pathOf('check', currentBasis()), {
          builds: [build],
        });
        const problems = results.flatMap(({ check, problems: messages }) =>
          messages.map((line) => `${check}: ${line}`),
        );
        if (problems.length > 0) throw new ApiFailure(422, problems);
        showToast(texts.done.checked(shortList([build])), 'success');
      } catch (cause) {
        hideToast(toastText);
        const refusal = refusalOf(cause);
        showNotice({ ...refusal, lines: [shortList([build]), ...refusal.lines] });
      } finally {
        checkedBuilds.delete(build);
      }
    },

    /** Adds a webhook, and shows its secret, which cannot be read later. */
    addWebhook: (url: string) =>
      run(async () => {
        const request = post<{ secret: string }>(pathOf('webhook', currentBasis()), { url });
        const { secret } = await request.catch(async (cause: unknown) => {
          // shows whether it was added
          await refresh();
          throwIfUnanswered(cause);
          throw cause;
        });
        showNotice({ title: texts.webhook.secret, lines: [secret], copy: secret });
        await refresh();
      }),

    testWebhook: (id: string) =>
      run(async () => {
        await post(pathOf('webhook-test', currentBasis()), { id }).finally(refresh);
        showToast(texts.webhook.tested, 'success');
      }),

    override: (build: string) =>
      run(async () => {
        const request = { builds: [build], hours: 2 };
        const link = post<{ query: string; address: string | null }>(pathOf('override', currentBasis()), request);
        await showUnlessTurned(link, ({ query, address }) => {
          const { override, overrideWithoutSite } = texts.done;
          const copy = address ?? query;
          showNotice({ title: address ? override : overrideWithoutSite, lines: [copy], copy });
        });
      }),
  };
  return self;
}

export type Console = ReturnType<typeof createConsole>;
