import { anyErrorText, formatPoints, problemId } from '@liaozhai/shared/format';
import { useSelector } from '@liaozhai/shared/runtime';
import { ProblemCode, useCountdown } from '@liaozhai/shared/ui';
import type { ReactNode } from 'react';
import { selectLacksPoints } from '../api/points';
import { hadNoResponse, messagesLackingPoints, type PendingMessage, risenPrice } from '../model/pendingMessage';
import { selectChat } from '../slice';
import { texts } from '../texts';
import styles from './MessageRow.module.css';
import type { ChatActions } from './useChatActions';

export type Waiting = 'sending' | 'queued' | 'offline' | 'unreachable' | 'login' | 'behind';

interface PendingStateProps {
  pending: PendingMessage;
  waiting: Waiting;
  actions: Pick<ChatActions, 'retry' | 'getPoints' | 'login'>;
}

/** Delivery status of an unconfirmed message, with a button if sending failed. */
export function PendingState({ pending, waiting, actions }: PendingStateProps) {
  const pause = useSelector((state) => selectChat(state).pauses[pending.storyId]);
  const newPrice = risenPrice(pending.error);
  if (pending.state === 'failed') {
    return (
      <p className={styles.failed} role="alert">
        <span>{failureText(pending)}</span>
        {pending.error?.kind === 'insufficientBalance' ? (
          <PointsActions pending={pending} cost={pending.error.required} actions={actions} />
        ) : (
          <StateButton onPress={() => actions.retry(pending)}>
            {newPrice === undefined ? texts.chat.retry : texts.price.send(formatPoints(newPrice))}
          </StateButton>
        )}
        <ProblemCode id={problemId(pending.error)} />
      </p>
    );
  }
  if (waiting === 'login') {
    return (
      <p className={styles.state}>
        <span>{texts.state.login}</span>
        <StateButton onPress={actions.login}>{texts.state.toLogin}</StateButton>
      </p>
    );
  }
  return (
    <p className={styles.state}>
      {pause && pending.state === 'waiting' && waiting === 'sending' ? (
        <Countdown key={pause.until} {...pause} />
      ) : (
        <span>{texts.state[waiting]}</span>
      )}
    </p>
  );
}

/** Below the first message that failed for lack of points: a way to get some, and one retry for it and all messages after it. */
function PointsActions({ pending, cost, actions }: Omit<PendingStateProps, 'waiting'> & { cost: number }) {
  const { storyId, clientId } = pending;
  // cost 0: the server reported the lack without figures, so the page cannot check it
  const lacksPoints = useSelector((state) => cost === 0 || selectLacksPoints(state, storyId, cost));
  const count = useSelector((state) => {
    const heldMessages = messagesLackingPoints(storyId, selectChat(state).pending);
    return heldMessages[0]?.clientId === clientId ? heldMessages.length : 0;
  });
  if (count === 0) return null;
  return (
    <>
      {lacksPoints && <StateButton onPress={() => actions.getPoints(cost)}>{texts.points.get}</StateButton>}
      <StateButton onPress={() => actions.retry(pending)}>
        {count > 1 ? texts.points.resendAll(count) : texts.chat.retry}
      </StateButton>
    </>
  );
}

function Countdown({ until, isOverloaded }: { until: number; isOverloaded: boolean }) {
  const [seconds] = useCountdown(() => (until - performance.now()) / 1000);
  return <span>{seconds > 0 ? texts.state.later(seconds, isOverloaded) : texts.state.sending}</span>;
}

function failureText(pending: PendingMessage): string {
  if (hadNoResponse(pending)) return texts.state.unknown;
  const newPrice = risenPrice(pending.error);
  if (newPrice !== undefined) return texts.price.each(formatPoints(newPrice));
  return pending.error ? anyErrorText(pending.error) : texts.state.failed;
}

/** A text button inside a status line, with a target larger than its text. */
export const StateButton = ({ children, onPress }: { children: ReactNode; onPress: () => void }) => (
  <button type="button" className={styles.act} onClick={onPress} data-foot>
    {children}
  </button>
);
