import { anyErrorText, formatPoints } from '@liaozhai/shared/format';
import {
  copyText,
  drafts,
  isApiError,
  newClientId,
  requestLogin,
  session,
  store,
  toast,
} from '@liaozhai/shared/runtime';
import { type RefObject, useMemo } from 'react';
import { loadThread } from '../api/chatApi';
import { expectApiError, toastFailure } from '../api/failures';
import { outbox } from '../api/outbox';
import { selectLacksPoints } from '../api/purchases';
import {
  chooseVariant,
  continueReply,
  editMessage,
  regenerateReply,
  restartConversation,
  stopReply,
} from '../api/replies';
import { requestSuggestions } from '../api/suggestions';
import { threadSyncs } from '../api/threadSync';
import type { EditedLine, Message } from '../model/message';
import { type PendingMessage, risenPrice } from '../model/pendingMessage';
import type { Story } from '../model/story';
import { chatActions, type Rewrite, selectChat, selectIsRestarting } from '../slice';
import { texts } from '../texts';
import type { OpenSheet } from './ChatSheet';

/** The user's actions in a story's chat. An action that the user cannot pay for opens the points sheet instead. */
export function useChatActions(
  { id: storyId, pricePerMessage }: Story,
  conversationId: string | null,
  isMember: boolean,
  open: (sheet: OpenSheet) => void,
  canOpenSheet: RefObject<boolean>,
  onReordered: () => void,
) {
  return useMemo(() => {
    const getPoints = (cost: number, refusal?: string) => {
      open({ kind: 'points', cost, ...(refusal && { refusal }) });
      // points may have been added on another device
      void session.refresh();
    };
    const canPay = (cost: number | undefined): boolean => {
      if (!selectLacksPoints(store.getState(), storyId, cost)) return true;
      getPoints(cost ?? 0);
      return false;
    };
    /** Nothing is sent or bought meanwhile, since the restart would delete it without a refund. */
    const isRestarting = () => selectIsRestarting(store.getState(), storyId, conversationId);
    /** Used to ignore a second tap while an order is open. */
    const isOrdering = () => isRestarting() || selectChat(store.getState()).continuing.includes(storyId);
    /** Lets the composer show that the request is under way, even after the user has left the chat and returned. */
    const whileRewriting = (rewrite: Rewrite, request: () => Promise<void>): Promise<void> => {
      store.dispatch(chatActions.rewriteStarted({ storyId, rewrite }));
      return request().finally(() => store.dispatch(chatActions.rewriteEnded(storyId)));
    };
    /** Shows why a purchase failed; for lack of points, opens the points sheet instead, unless the user is in another or has left. */
    const showFailure = (cause: unknown, fallback: string) => {
      if (!isApiError(cause)) throw cause;
      if (cause.kind === 'insufficientBalance') {
        if (cause.required > cause.balance) session.userPatched({ balance: cause.balance });
        if (canOpenSheet.current) return getPoints(cause.required, anyErrorText(cause));
      }
      toastFailure(cause, fallback);
    };
    /** Buys at the shown price. If it has risen meanwhile, a dialog shows the new price and offers to continue. */
    const buy = (
      price: number | undefined,
      order: (price: number | undefined) => Promise<unknown>,
      fallback: string,
    ) => {
      void order(price).catch((cause: unknown) => {
        const newPrice = isApiError(cause) ? risenPrice(cause) : undefined;
        if (newPrice === undefined) return showFailure(cause, fallback);
        const { title, now, goOn, late } = texts.price;
        const points = formatPoints(newPrice);
        if (!canOpenSheet.current) return showFailure(cause, late(points));
        const run = () => canPay(newPrice) && buy(newPrice, order, fallback);
        open({ kind: 'confirm', title, text: now(points), label: goOn(points), danger: false, run });
      });
    };
    return {
      login: () => void requestLogin('login'),
      refresh: () => void threadSyncs.of(storyId)?.catchUp(),
      getPoints,
      openMenu: (target: Message | PendingMessage) => open({ kind: 'menu', target }),
      openMore: () => open({ kind: 'more' }),
      restart() {
        if (conversationId === null || isRestarting()) return;
        void whileRewriting({ conversationId }, () => restartConversation(storyId, conversationId)).then(
          () => toast(texts.restart.done),
          (cause: unknown) => showFailure(cause, texts.restart.failed),
        );
      },
      retry: (pending: PendingMessage) => {
        if (isRestarting()) return;
        const newPrice = risenPrice(pending.error);
        const isPaidFor = newPrice === undefined && pending.error?.kind !== 'insufficientBalance';
        if (isPaidFor || canPay(newPrice ?? pricePerMessage)) void outbox.retry(pending);
      },
      remove: (pending: PendingMessage) => outbox.remove(pending.clientId),
      /** Returns false if the balance is too low or the conversation restarts; the caller then keeps the text. */
      send(body: string, suggestionId?: string): boolean {
        if (isRestarting() || !canPay(pricePerMessage)) return false;
        const price = pricePerMessage;
        void outbox.enqueue({ clientId: newClientId(), storyId, conversationId, body, suggestionId, price });
        drafts.flush();
        if (!isMember) void requestLogin();
        return true;
      },
      /** `price` is the one that was shown. */
      resume(message: Message, price: number | undefined) {
        if (isOrdering() || !canPay(price)) return;
        buy(price, (shownPrice) => continueReply(storyId, message, shownPrice), texts.resume.failed);
        onReordered();
      },
      retell(message: Message) {
        if (isOrdering() || !canPay(pricePerMessage)) return;
        buy(pricePerMessage, (price) => regenerateReply(storyId, message, price), texts.retell.failed);
        onReordered();
      },
      /** Confirms first if more than the reply to the line would be deleted. `onSettled` receives whether the server accepted it. */
      edit(line: EditedLine, body: string, lastSeq: number, onSettled: (isAccepted: boolean) => void) {
        if (isOrdering() || !canPay(pricePerMessage)) return;
        const order = (price: number | undefined) =>
          whileRewriting(line, () =>
            editMessage(storyId, line, body, lastSeq, price).then(
              () => onSettled(true),
              (cause: unknown) => {
                onSettled(false);
                throw cause;
              },
            ),
          );
        const run = () => buy(pricePerMessage, order, texts.editing.failed);
        const followers = lastSeq - line.seq;
        if (followers <= 1) return run();
        const { question: title, warning, confirm: label } = texts.editing;
        open({ kind: 'confirm', title, text: warning(followers), label, danger: true, run });
      },
      choose(message: Message, variant: number) {
        if (isOrdering()) return;
        void chooseVariant(storyId, message, variant).catch((cause: unknown) =>
          showFailure(cause, texts.retell.chooseFailed),
        );
      },
      stop: (message: Message): Promise<void> =>
        stopReply(storyId, message).catch((cause: unknown) => showFailure(cause, texts.stop.failed)),
      /** `price` is the one that was shown. Resolves once the thread has loaded for which the suggestions are requested. */
      async requestSuggestions(price: number | undefined, replaces = false): Promise<void> {
        const order = async (shownPrice: number | undefined) => {
          const notice = await requestSuggestions(storyId, shownPrice, replaces, canPay);
          if (notice) toast(notice, { kind: 'error' });
        };
        buy(price, order, texts.suggest.failed);
        await loadThread(storyId).catch(expectApiError);
      },
      copy: (text: string) =>
        void copyText(text).then((isCopied) =>
          toast(isCopied ? texts.chat.copied : texts.chat.copyFailed, { kind: isCopied ? 'success' : 'error' }),
        ),
    };
  }, [storyId, pricePerMessage, conversationId, isMember, open, canOpenSheet, onReordered]);
}

export type ChatActions = ReturnType<typeof useChatActions>;
