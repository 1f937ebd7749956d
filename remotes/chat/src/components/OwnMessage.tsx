import { Passages } from '@liaozhai/shared/ui';
import { memo, type ReactNode } from 'react';
import { texts } from '../texts';
import { MoreButton } from './MoreButton';
import styles from './OwnMessage.module.css';
import { useLongPress } from './useLongPress';

interface OwnMessageProps {
  body: string;
  /** Whether the server has it; until then the bubble is paler. */
  isConfirmed: boolean;
  /** The line below: how far it has come. */
  state?: ReactNode;
  onMore: () => void;
}

/** The reader's own words, a bubble at the right. */
export const OwnMessage = memo(function OwnMessage({ body, isConfirmed, state, onMore }: OwnMessageProps) {
  const longPress = useLongPress(onMore);
  return (
    <article {...longPress} className={styles.own} aria-label={texts.chat.me}>
      <div className={styles.line}>
        <MoreButton onPress={onMore} />
        <div className={styles.bubble} data-confirmed={isConfirmed}>
          {body.split('\n').map((line, order) => (
            <p key={`line-${order.toString()}`}>
              <Passages line={line} />
            </p>
          ))}
        </div>
      </div>
      {state}
    </article>
  );
});
