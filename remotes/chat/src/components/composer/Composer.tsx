import { codePoints, formatPoints } from '@liaozhai/shared/format';
import { IconButton, SendIcon } from '@liaozhai/shared/ui';
import {
  type FormEvent,
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  type RefObject,
  useId,
  useLayoutEffect,
} from 'react';
import { texts } from '../../texts';
import styles from './Composer.module.css';

/** As the API takes them. */
const MAX_CHARACTERS = 2000;
const WARN_BELOW = 100;
/** What an IME reports while it composes, on browsers that forget `isComposing`. */
const IME_KEY_CODE = 229;

interface ComposerProps {
  field: RefObject<HTMLTextAreaElement | null>;
  text: string;
  onText: (text: string) => void;
  onSend: (body: string) => void;
  /** Points that a message costs and that the reader has; undefined where unknown. */
  price: number | undefined;
  balance: number | undefined;
  /** What stands above the field: 灵感, 继续. */
  children: ReactNode;
}

/** Where the reader writes. Enter sends on a keyboard; on a touch screen it is a new line. */
export function Composer({ field, text, onText, onSend, price, balance, children }: ComposerProps) {
  const footId = useId();
  const body = text.trim();
  const left = MAX_CHARACTERS - codePoints(body);
  const canSend = body !== '' && left >= 0;
  useLayoutEffect(() => grow(field.current, text), [field, text]);

  const send = (event?: FormEvent) => {
    event?.preventDefault();
    if (canSend) onSend(body);
  };
  const sendByKey = (event: KeyboardEvent) => {
    const composing = event.nativeEvent.isComposing || event.keyCode === IME_KEY_CODE;
    if (event.key !== 'Enter' || event.shiftKey || composing || !hasKeyboard()) return;
    event.preventDefault();
    send();
  };
  return (
    <form className={styles.composer} onSubmit={send}>
      {children}
      <div className={styles.row}>
        <textarea
          ref={field}
          className={styles.field}
          name="message"
          rows={1}
          value={text}
          placeholder={texts.chat.placeholder}
          aria-label={texts.chat.composer}
          aria-describedby={footId}
          aria-invalid={left < 0 || undefined}
          autoComplete="off"
          onChange={(event) => onText(event.target.value)}
          onKeyDown={sendByKey}
        />
        <IconButton
          type="submit"
          variant="solid"
          label={texts.chat.send}
          icon={<SendIcon size={20} />}
          disabled={!canSend}
          onMouseDown={keepFocus}
        />
      </div>
      <p id={footId} className={styles.foot} data-over={left < 0}>
        {left < WARN_BELOW ? (left < 0 ? texts.chat.tooLong(-left) : texts.chat.left(left)) : costOf(price, balance)}
      </p>
    </form>
  );
}

function costOf(price: number | undefined, balance: number | undefined): string {
  const parts = [price === undefined ? '' : texts.chat.price(price)];
  if (balance !== undefined) parts.push(texts.chat.balance(formatPoints(balance)));
  return parts.filter(Boolean).join(' · ');
}

/** The field keeps the focus when its button is pressed, so that a phone's keyboard stays. */
const keepFocus = (event: MouseEvent) => event.preventDefault();

/** A mouse or trackpad comes with a keyboard; a touch screen covers half of itself with one. */
export const hasKeyboard = (): boolean => matchMedia('(pointer: fine)').matches;

/** Browsers with `field-sizing` grow the field by themselves. */
function grow(field: HTMLTextAreaElement | null, text: string): void {
  if (!field || CSS.supports('field-sizing', 'content')) return;
  field.style.height = 'auto';
  if (text) field.style.height = `${field.scrollHeight + 2}px`;
}
