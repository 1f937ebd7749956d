import { codePoints, formatPoints, saysNothing, signUpGiftText } from '@liaozhai/shared/format';
import { createSignal, drafts, hostConfig, useSelector, useUser } from '@liaozhai/shared/runtime';
import {
  Chip,
  CloseIcon,
  ContinueIcon,
  EditIcon,
  IconButton,
  listenTo,
  MoreIcon,
  media,
  RefreshIcon,
  RowBoundary,
  SendIcon,
  SparkIcon,
  Spinner,
  StopIcon,
  stopAll,
  VisuallyHidden,
} from '@liaozhai/shared/ui';
import {
  type FormEvent,
  type MouseEvent,
  type ReactNode,
  type RefObject,
  useId,
  useLayoutEffect,
  useMemo,
  useSyncExternalStore,
} from 'react';
import { selectLacksPoints } from '../api/purchases';
import type { Story } from '../model/story';
import type { Suggestions } from '../slice';
import { texts } from '../texts';
import styles from './Composer.module.css';

/** Limit of the API, in code points. */
const MAX_CHARACTERS = 2000;
const WARN_BELOW = 100;
/** In place of the characters left, for a text without visible ones. */
const INVISIBLE = Number.POSITIVE_INFINITY;
/** Key code during IME composition, for browsers that do not set `isComposing`. */
const IME_KEY_CODE = 229;

interface ComposerProps {
  field: RefObject<HTMLTextAreaElement | null>;
  draft: Draft;
  onSend: (body: string) => void;
  /** Shown below the field, unless the text is too long or nearly so. */
  cost: ReactNode;
  /** Stops the running reply; undefined while no reply can be stopped. */
  onStop: (() => void) | undefined;
  isStopping: boolean;
  /** Sending is disabled for now. */
  isHeld: boolean;
  /** Shown above the field: 灵感, 继续. */
  children: ReactNode;
}

/**
 * Enter sends with a hardware keyboard, and inserts a line break on a touch screen. The text is in the field and the draft, not in
 * React state, so that most key presses render nothing.
 */
export function Composer(props: ComposerProps) {
  const { field, draft, onSend, cost, onStop, isStopping, isHeld, children } = props;
  const footId = useId();
  const remainingCharacters = useSyncExternalStore(draft.subscribe, () => countRemainingCharacters(draft.read()));
  const isBlank = remainingCharacters >= MAX_CHARACTERS;
  const isWrong = remainingCharacters < 0 || remainingCharacters === INVISIBLE;
  const canSend = isSendable(remainingCharacters) && !isHeld;
  useLayoutEffect(() => (field.current ? connect(field.current, draft) : undefined), [field, draft]);

  const send = (event?: FormEvent) => {
    event?.preventDefault();
    // a second Enter in the same task comes before the render that disables the button
    const body = draft.read().trim();
    if (isSendable(countRemainingCharacters(body)) && !isHeld) onSend(body);
  };
  const stop = ({ detail }: MouseEvent) => {
    // the second click of a double tap on 发送 must not stop the reply that the first has requested
    if (detail > 1 || isStopping) return;
    onStop?.();
    // the button disappears with the reply, and the focus with it
    if (hasKeyboard()) field.current?.focus();
  };
  return (
    <form className={styles.composer} onSubmit={send}>
      {children}
      <div className={styles.row}>
        <div className={styles.sizer}>
          <textarea
            ref={field}
            className={styles.field}
            name="message"
            rows={1}
            // Chromium recalculates the placeholder's style on each key press, even while it is hidden
            placeholder={isBlank ? texts.chat.placeholder : undefined}
            aria-label={texts.chat.composer}
            aria-describedby={footId}
            aria-invalid={isWrong || undefined}
            autoComplete="off"
          />
        </div>
        {onStop && (
          <IconButton
            variant={isBlank ? 'solid' : 'plain'}
            label={texts.stop.label}
            icon={<StopIcon size={18} fill="currentColor" />}
            aria-disabled={isStopping}
            onClick={stop}
            onMouseDown={keepFocus}
          />
        )}
        {!(onStop && isBlank) && (
          <IconButton
            type="submit"
            variant="solid"
            label={texts.chat.send}
            icon={<SendIcon size={20} />}
            disabled={!canSend}
            onMouseDown={keepFocus}
          />
        )}
      </div>
      <div id={footId} className={styles.foot} data-over={isWrong}>
        {remainingCharacters === INVISIBLE
          ? texts.chat.invisible
          : remainingCharacters < WARN_BELOW
            ? remainingCharacters < 0
              ? texts.chat.tooLong(-remainingCharacters)
              : texts.chat.left(remainingCharacters)
            : cost}
      </div>
    </form>
  );
}

interface CostProps {
  story: Story;
  onGetPoints: (cost: number) => void;
}

/** Price of a message and the balance; if that is too low, a button to get points. */
export function Cost({ story: { id, pricePerMessage: price }, onGetPoints }: CostProps) {
  const user = useUser();
  const lacksPoints = useSelector((state) => selectLacksPoints(state, id, price));
  const points = user?.balance === undefined ? undefined : formatPoints(user.balance);
  if (lacksPoints && price !== undefined && points !== undefined) {
    return (
      <span className={styles.lacking}>
        <span>{texts.points.lacking(formatPoints(price), points)}</span>
        <button type="button" className={styles.getPoints} onClick={() => onGetPoints(price)}>
          {texts.points.get}
        </button>
      </span>
    );
  }
  const parts = [
    price === undefined ? '' : texts.chat.price(price),
    points !== undefined && texts.chat.balance(points),
    user ? '' : signUpGiftText(hostConfig().rules, price),
  ];
  return <span>{parts.filter(Boolean).join(' · ')}</span>;
}

/** Keeps the focus in the field when a button is pressed, so that a phone's keyboard stays open. */
const keepFocus = (event: MouseEvent) => event.preventDefault();

/** Assumes a hardware keyboard with a mouse or trackpad; an on-screen keyboard covers half of a touch screen. */
export const hasKeyboard = (): boolean => media('(pointer: fine)').matches;

/** Characters left, as far as they are shown: `MAX_CHARACTERS` for an empty text, otherwise at most `WARN_BELOW`, or `INVISIBLE`. */
function countRemainingCharacters(text: string): number {
  const body = text.trim();
  if (body === '') return MAX_CHARACTERS;
  if (saysNothing(body)) return INVISIBLE;
  // a text has at most as many code points as code units
  if (body.length <= MAX_CHARACTERS - WARN_BELOW) return WARN_BELOW;
  return Math.min(WARN_BELOW, MAX_CHARACTERS - codePoints(body));
}

const isSendable = (remainingCharacters: number): boolean =>
  remainingCharacters >= 0 && remainingCharacters < MAX_CHARACTERS;

/** Events of a key press. React derives `beforeinput` from `textInput`. */
const typingEventNames = [
  ...['keydown', 'keypress', 'keyup', 'textInput', 'input', 'selectionchange'],
  ...['compositionstart', 'compositionupdate', 'compositionend'],
];

/**
 * Keeps the field and the draft equal. Handles typing before React, which would search the whole page for listeners on each
 * event of a key press. Shortcuts, Tab and Escape still reach React. Returns the function that stops both.
 */
function connect(field: HTMLTextAreaElement, draft: Draft): () => void {
  let isComposing = false;
  /** The field's text when another tab changed the draft during an IME composition. */
  let heldText: string | undefined;
  const syncField = () => {
    const text = draft.read();
    // setting even the same value would move the caret to the end
    if (field.value !== text) field.value = text;
    grow(field);
  };
  const handleChange = (isForeign: boolean) => {
    // another text in the field would end the composition
    if (isForeign && isComposing) heldText = field.value;
    else syncField();
  };
  const endComposition = () => {
    isComposing = false;
    // Firefox reports the composed text only after this event
    if (field.value === heldText) syncField();
    heldText = undefined;
  };
  const handleTyping = (event: Event) => {
    if (event.target !== field) return;
    if (event.type === 'input') draft.write(field.value);
    if (event.type === 'compositionstart') isComposing = true;
    if (event.type === 'compositionend') endComposition();
    if (event instanceof KeyboardEvent) {
      if (event.type === 'keydown' && isSendKey(event)) {
        event.preventDefault();
        field.form?.requestSubmit();
      }
      if (!isTypingKey(event)) return;
    }
    event.stopPropagation();
  };
  syncField();
  // in the capture phase on `window`, to run before React's listeners
  const stopListening = listenTo(window, typingEventNames, handleTyping, { capture: true });
  return stopAll(draft.subscribe(handleChange), stopListening);
}

/** Whether the key press belongs to an input method. */
export const isComposed = (event: KeyboardEvent): boolean => event.isComposing || event.keyCode === IME_KEY_CODE;

const isSendKey = (event: KeyboardEvent) =>
  event.key === 'Enter' && !event.shiftKey && !isComposed(event) && hasKeyboard();

const isTypingKey = (event: KeyboardEvent) =>
  isComposed(event) || (event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey);

const supportsFieldSizing = globalThis.CSS?.supports('field-sizing', 'content');

/** Without `field-sizing`, a hidden copy of the text sets the height; reading `scrollHeight` would force two layouts per key press. */
function grow(field: HTMLTextAreaElement): void {
  if (!supportsFieldSizing) field.parentElement?.setAttribute('data-text', field.value);
}

interface EditingBarProps {
  /** Number of messages after the edited line. */
  followers: number;
  isHeld: boolean;
  /** The edit is under way and can no longer be cancelled. */
  isSending: boolean;
  onCancel: () => void;
}

/** Shown above the field while a line is edited: the effect of sending, and a cancel button. */
export function EditingBar({ followers, isHeld, isSending, onCancel }: EditingBarProps) {
  const { title, sending, replies, cuts, busy, cancel } = texts.editing;
  const effect = followers > 1 ? cuts(followers) : replies;
  return (
    <div className={styles.editing} role="status">
      <EditIcon size={16} />
      <p>
        <strong>{title}</strong>
        <span>{isSending ? sending : isHeld ? busy : effect}</span>
      </p>
      <IconButton
        label={cancel}
        icon={isSending ? <Spinner /> : <CloseIcon size={18} />}
        disabled={isSending}
        onClick={onCancel}
      />
    </div>
  );
}

/** Shown above the field while the conversation restarts. */
export const RestartBar = () => (
  <div className={styles.editing} role="status">
    <Spinner />
    <p>{texts.restart.busy}</p>
  </div>
);

interface ReplyChipsProps {
  /** In points; undefined if the site's rules do not specify them. */
  prices: { suggestions: number | undefined; resume: number | undefined };
  isBusy: boolean;
  canContinue: boolean;
  /** The shown suggestions, which can be replaced once they are ready. */
  suggestions: Suggestions | undefined;
  /** Both receive the price that their button showed. */
  onSuggest: (price: number | undefined, others: boolean) => void;
  onContinue: (price: number | undefined) => void;
  /** Opens the menu of the whole conversation; undefined if it would be empty. */
  onMore: (() => void) | undefined;
}

/** 灵感, or 换一批 while suggestions are shown, and 继续 above the composer, each with its price. */
export function ReplyChips(props: ReplyChipsProps) {
  const { prices, isBusy, canContinue, suggestions, onSuggest, onContinue, onMore } = props;
  const hasSuggestions = suggestions?.status === 'ready';
  return (
    <div className={styles.chips}>
      <Chip
        icon={hasSuggestions ? <RefreshIcon /> : <SparkIcon />}
        disabled={isBusy || suggestions?.status === 'pending'}
        // the second click of a double tap must not replace the suggestions that the first has just bought
        onClick={({ detail }) => detail < 2 && onSuggest(prices.suggestions, hasSuggestions)}
      >
        <span>{hasSuggestions ? texts.suggest.others : texts.suggest.label}</span>
        <Price points={prices.suggestions} />
      </Chip>
      <Chip icon={<ContinueIcon />} disabled={isBusy || !canContinue} onClick={() => onContinue(prices.resume)}>
        <span>{texts.resume.label}</span>
        <Price points={prices.resume} />
      </Chip>
      {onMore && (
        <IconButton
          className={styles.more}
          label={texts.find.more}
          icon={<MoreIcon size={20} />}
          aria-haspopup="dialog"
          onClick={onMore}
        />
      )}
    </div>
  );
}

const Price = ({ points }: { points: number | undefined }) =>
  points === undefined ? null : <span className={styles.price}>{texts.chat.priceTag(points)}</span>;

interface SuggestionListProps {
  label: string;
  suggestions: Suggestions;
  /** A tap inserts the text into the composer; the arrow sends it immediately. */
  onUse: (text: string) => void;
  onSend: (text: string) => void;
  onClose: () => void;
}

export function SuggestionList({ label, suggestions, onUse, onSend, onClose }: SuggestionListProps) {
  if (suggestions.status === 'pending') return <SuggestionSkeleton />;
  return (
    <section className={styles.panel} aria-label={label}>
      <ul className={styles.list}>
        {suggestions.items.map((each) => (
          <RowBoundary key={each.id} of={each} as="li">
            {({ text }) => (
              <li className={styles.suggestion}>
                <button
                  type="button"
                  className={styles.use}
                  aria-label={texts.suggest.use(text)}
                  onClick={() => onUse(text)}
                >
                  {text}
                </button>
                <IconButton
                  label={texts.suggest.send(text)}
                  icon={<SendIcon size={18} />}
                  onClick={() => onSend(text)}
                />
              </li>
            )}
          </RowBoundary>
        ))}
      </ul>
      <IconButton
        className={styles.close}
        label={texts.suggest.close(label)}
        icon={<CloseIcon size={18} />}
        onClick={onClose}
      />
    </section>
  );
}

const SuggestionSkeleton = () => (
  <div className={styles.panel} role="status">
    <VisuallyHidden>{texts.suggest.loading}</VisuallyHidden>
    <div className={styles.list} aria-hidden="true">
      {['wide', 'middle', 'short'].map((width) => (
        <span key={width} className={styles.blank} data-width={width} />
      ))}
    </div>
  </div>
);

export type Draft = ReturnType<typeof createDraft>;

/** Unsent text of a story, stored on the device and synchronized between tabs. */
export const useDraft = (storyId: string): Draft => useMemo(() => createDraft(`story.${storyId}`), [storyId]);

function createDraft(key: string) {
  const changeSignal = createSignal();
  return {
    read: () => drafts.read(key),
    write(text: string) {
      drafts.write(key, text);
      changeSignal.emit();
    },
    /** Subscribes to every change, including this tab's own, which are not foreign. Returns the function that unsubscribes. */
    subscribe: (listener: (isForeign: boolean) => void) =>
      stopAll(
        changeSignal.on(() => listener(false)),
        drafts.subscribe(key, () => listener(true)),
      ),
  };
}
