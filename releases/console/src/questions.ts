import {
  ApiFailure,
  type ChannelView,
  failureOf,
  forgetTyped,
  pathOf,
  post,
  saveTyped,
  typedFor,
  UNREADABLE,
} from './api';
import { type Decided, FORWARD, type Wanted, WORDS } from './consoleState';
import type { ConsoleStore } from './consoleStore';
import type { Polling } from './polling';
import { said, subjectOf, texts } from './texts';

interface Changed {
  changed: boolean;
  document: ChannelView;
  /** Set if the change became a proposal. */
  proposal?: { id: string };
}

/** Changes that wait for a person's confirmation, one at a time. */
export function createQuestions(
  { state, set, say, decided, run }: ConsoleStore,
  { refresh, previewsChanged }: Polling,
) {
  /** Returns what changed since a state; the server's lines if the log does not show it. */
  async function changesSince({ channel: of, seq }: Decided, lines: readonly string[]): Promise<readonly string[]> {
    await refresh();
    const { log = [], status } = state().seen ?? {};
    const since = status?.channel === of ? log.filter((entry) => entry.seq > seq) : [];
    if (since.length === 0) return lines;
    return since.map(({ verb, action, who }) => texts.log.by(`${texts.verb(verb)} ${subjectOf(action)}`, said(who)));
  }

  /** Whether the change is about a proposal that is no longer pending. */
  async function isOver(verb: string, body: object): Promise<boolean> {
    if (!WORDS.includes(verb)) return false;
    await refresh();
    const { proposals = [] } = state().seen?.status.agenda ?? {};
    return !proposals.some(({ id }) => id === Reflect.get(body, 'id'));
  }

  /** Opens the dialog that confirms a change. */
  function ask(verb: string, body: object, { back = false, ...wanted }: Wanted, seen = decided()): void {
    const { agenda } = state().seen?.status ?? {};
    const frozen = (!back && FORWARD.includes(verb) && agenda?.frozen) || null;
    const waits = Boolean(agenda?.approval) && !back && [...FORWARD, 'approval'].includes(verb);
    const typed = typedFor(seen.channel, wanted.title);
    set({ question: { verb, body, decided: seen, busy: false, frozen, waits, kept: typed, ...wanted } });
  }

  /** Sends the confirmed change with its reason. With `passesFreeze`, the reason also justifies switching during a freeze. */
  async function agree(why: string, passesFreeze = false): Promise<void> {
    const { question } = state();
    // `run` would ignore a second request, and the question would stay busy
    if (!question || state().running !== null) return;
    const { verb, body, title, decided: seen } = question;
    saveTyped({ channel: seen.channel, title, why });
    const agreed = { ...question, busy: true };
    set({ question: agreed });
    let isDone = false;
    await run('question', async () => {
      try {
        const upon = WORDS.includes(verb) ? {} : { seq: seen.seq };
        const request = { ...body, why, ...upon, ...(passesFreeze && why.trim() ? { despiteFreeze: why } : {}) };
        const { changed, document, proposal } = await post<Changed>(pathOf(verb, seen), request).catch(
          async (cause: unknown) => {
            const { status } = failureOf(cause);
            // the request may have been processed although the response is missing
            if (status === 0 || status === UNREADABLE) throw new ApiFailure(status, [texts.confirm.unanswered]);
            if (status === 409) throw new ApiFailure(409, await changesSince(seen, failureOf(cause).lines));
            throw (await isOver(verb, body)) ? new ApiFailure(status, [texts.approval.over]) : cause;
          },
        );
        previewsChanged();
        forgetTyped();
        await refresh();
        isDone = true;
        const shownNow = state().seen?.status;
        const seq = shownNow?.channel === document.channel ? Math.max(shownNow.seq, document.seq) : document.seq;
        if (proposal) say(texts.approval.proposed(proposal.id), 'success');
        else say(changed ? texts.done.changed(seq) : texts.done.unchanged, 'success');
      } finally {
        if (state().question === agreed) set({ question: null });
      }
    });
    if (!isDone) await refresh();
  }

  /** Stores the typed reason, in case the session ends meanwhile. */
  function type(why: string): void {
    const { question } = state();
    if (question) saveTyped({ channel: question.decided.channel, title: question.title, why });
  }

  function callOff(): void {
    // a request under way may still fail, so its reason stays stored; it no longer blocks other requests
    if (!state().question?.busy) forgetTyped();
    set({ question: null, ...(state().question?.busy ? { running: null } : {}) });
  }

  return { ask, agree, type, callOff };
}
