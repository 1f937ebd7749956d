import {
  ApiFailure,
  type ChannelView,
  failureOf,
  forgetDraft,
  pathOf,
  post,
  readDraft,
  saveDraft,
  UNREADABLE,
} from './api';
import {
  type Basis,
  type ConsoleStore,
  FORWARD_VERBS,
  type Question,
  type QuestionOptions,
  STATELESS_VERBS,
} from './consoleStore';
import { evidenceLine, subjectOf, texts, translate } from './texts';

interface ChangeResult {
  changed: boolean;
  document: ChannelView;
  /** Set if the change became a proposal. */
  proposal?: { id: string };
}

/** Throws a failure which says that the change may have been carried out, if it got no readable answer. */
export function throwIfUnanswered(cause: unknown): void {
  const { status } = failureOf(cause);
  if (status === 0 || status === UNREADABLE) throw new ApiFailure(status, [texts.confirm.unanswered]);
}

/** Name of the draft of a question's reason. One for passing a freeze is not that of the change itself. */
const reasonForm = ({ title, frozen }: Pick<Question, 'title' | 'frozen'>): string =>
  frozen ? `${title} ${frozen.reason}` : title;

/** Changes that wait for a person's confirmation, one at a time. */
export function createQuestions(
  { state, set, showToast, currentBasis, run }: ConsoleStore,
  refresh: () => Promise<void>,
) {
  /** Returns what changed since a state; the server's lines if the log does not show it. */
  async function changesSince({ channel, seq }: Basis, lines: readonly string[]): Promise<readonly string[]> {
    await refresh();
    const { log = [], status } = state().snapshot ?? {};
    const since = status?.channel === channel ? log.filter((entry) => entry.seq > seq) : [];
    if (since.length === 0) return lines;
    return since.map(({ verb, action, who }) => {
      const line = texts.log.by(`${texts.verb(verb)} ${subjectOf(action)}`, translate(who));
      return texts.sentences(line, ...action.evidence.slice(0, 1).map(evidenceLine));
    });
  }

  /** Opens the dialog that confirms a change. */
  function openQuestion(
    verb: string,
    body: object,
    { isWayBack = false, ...options }: QuestionOptions,
    basis = currentBasis(),
  ): void {
    const { agenda } = state().snapshot?.status ?? {};
    const frozen = (!isWayBack && FORWARD_VERBS.includes(verb) && agenda?.frozen) || null;
    const needsApproval = Boolean(agenda?.approval) && !isWayBack && [...FORWARD_VERBS, 'approval'].includes(verb);
    const typedReason = readDraft(basis.channel, reasonForm({ ...options, frozen }))?.why ?? '';
    set({ question: { verb, body, basis, busy: false, frozen, needsApproval, typedReason, ...options } });
  }

  /** Sends the confirmed change with its reason. With `passesFreeze`, the reason also justifies switching during a freeze. */
  async function confirmQuestion(why: string, passesFreeze = false): Promise<void> {
    const { question } = state();
    // `run` would ignore a second request, and the question would stay busy
    if (!question || state().isRunning) return;
    const { verb, body, title, basis } = question;
    storeReason(why);
    const busyQuestion = { ...question, busy: true };
    set({ question: busyQuestion });
    let isDone = false;
    const send = async () => {
      try {
        const expectedState = STATELESS_VERBS.includes(verb) ? {} : { seq: basis.seq };
        const request = {
          ...body,
          why,
          ...expectedState,
          ...(passesFreeze && why.trim() ? { despiteFreeze: why } : {}),
        };
        const { changed, document, proposal } = await post<ChangeResult>(pathOf(verb, basis), request).catch(
          async (cause: unknown) => {
            throwIfUnanswered(cause);
            const { status, lines } = failureOf(cause);
            throw status === 409 ? new ApiFailure(409, await changesSince(basis, lines)) : cause;
          },
        );
        forgetReason(question);
        if (question.form) forgetDraft(basis.channel, question.form);
        await refresh();
        isDone = true;
        const shownStatus = state().snapshot?.status;
        const seq = shownStatus?.channel === document.channel ? Math.max(shownStatus.seq, document.seq) : document.seq;
        const result = changed ? texts.done.changed(seq) : texts.done.unchanged;
        const text = proposal ? texts.approval.proposed(proposal.id) : result;
        // the manager has left the dialog and may have begun another change
        showToast(state().question === busyQuestion ? text : `${title} · ${text}`, 'success');
      } finally {
        if (state().question === busyQuestion) set({ question: null });
      }
    };
    await run(send, title);
    if (!isDone) await refresh();
  }

  /** Stores the typed reason, in case the session ends or another question opens meanwhile. */
  function storeReason(why: string): void {
    const { question } = state();
    if (question) saveDraft(question.basis.channel, reasonForm(question), { why });
  }

  const forgetReason = (question: Question) => forgetDraft(question.basis.channel, reasonForm(question));

  function cancelQuestion(): void {
    const { question } = state();
    // a request under way may still fail, so its reason stays stored; it no longer blocks other requests
    if (question && !question.busy) forgetReason(question);
    set({ question: null, ...(question?.busy ? { isRunning: false } : {}) });
  }

  return { openQuestion, confirmQuestion, storeReason, cancelQuestion };
}
