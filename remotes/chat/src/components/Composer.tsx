import { codePoints, formatPoints, isBlank as saysNothing, signUpGiftText, wordsOf } from '@liaozhai/shared/format';
import { createSignal, drafts, hostConfig } from '@liaozhai/shared/runtime';
import {
  Chip,
  CloseIcon,
  ContinueIcon,
  EditIcon,
  IconButton,
  MoreIcon,
  media,
  RefreshIcon,
  RowBoundary,
  SendIcon,
  SparkIcon,
  StopIcon,
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
import type { Suggestions } from '../slice';
import { texts } from '../texts';
import styles from './Composer.module.css';

/** As the API takes them. */
const MAX_CHARACTERS = 2000;
const WARN_BELOW = 100;
/** What an IME reports while it composes, on browsers that forget `isComposing`. */
const IME_KEY_CODE = 229;

interface ComposerProps {
  field: RefObject<HTMLTextAreaElement | null>;
  draft: Draft;
  onSend: (body: string) => void;
  /** Points that a message costs and that the reader has; undefined where unknown. */
  price: number | undefined;
  balance: number | undefined;
  isMember: boolean;
  /** Too few for one message more. */
  lacksPoints: boolean;
  onGetPoints: () => void;
  /** Stops the reply that is being written; given while there is one that can be stopped. */
  onStop: (() => void) | undefined;
  isStopping: boolean;
  /** What is written must wait. */
  isHeld: boolean;
  /** What stands above the field: 灵感, 继续. */
  children: ReactNode;
}

/**
 * Where the reader writes. Enter sends on a keyboard; on a touch screen it is a new line. The words stand in the field and in
 * the draft, not in React's state, so that most key presses draw nothing.
 */
export function Composer(props: ComposerProps) {
  const { field, draft, onSend, onStop, isStopping, isHeld, children } = props;
  const footId = useId();
  const left = useSyncExternalStore(draft.subscribe, () => charactersLeft(draft.read()));
  const isBlank = left === MAX_CHARACTERS;
  const canSend = !isBlank && left >= 0 && !isHeld;
  useLayoutEffect(() => {
    const show = () => {
      const text = draft.read();
      // even the same words would move the caret to their end
      if (field.current && field.current.value !== text) field.current.value = text;
      grow(field.current);
    };
    show();
    const stopFollowing = draft.subscribe(show);
    const stopListening = field.current ? listenToTyping(field.current, draft) : undefined;
    return () => {
      stopFollowing();
      stopListening?.();
    };
  }, [field, draft]);

  const send = (event?: FormEvent) => {
    event?.preventDefault();
    if (canSend) onSend(draft.read().trim());
  };
  const stop = ({ detail }: MouseEvent) => {
    // the second half of a double tap on 发送 must not stop what the first has just asked for
    if (detail > 1 || isStopping) return;
    onStop?.();
    // the button goes with the reply
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
            // Chromium would restyle it at each key, visible or not
            placeholder={isBlank ? texts.chat.placeholder : undefined}
            aria-label={texts.chat.composer}
            aria-describedby={footId}
            aria-invalid={left < 0 || undefined}
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
      <div id={footId} className={styles.foot} data-over={left < 0}>
        {left < WARN_BELOW ? left < 0 ? texts.chat.tooLong(-left) : texts.chat.left(left) : <Cost {...props} />}
      </div>
    </form>
  );
}

/** What a message costs and what the reader has; where that is too little, the way to more. */
function Cost({ price, balance, isMember, lacksPoints, onGetPoints }: ComposerProps) {
  const points = balance === undefined ? undefined : formatPoints(balance);
  if (lacksPoints && price !== undefined && points !== undefined) {
    return (
      <span className={styles.lacking}>
        <span>{texts.points.lacking(formatPoints(price), points)}</span>
        <button type="button" className={styles.getPoints} onClick={onGetPoints}>
          {texts.points.get}
        </button>
      </span>
    );
  }
  const parts = [
    price === undefined ? '' : texts.chat.price(price),
    points !== undefined && texts.chat.balance(points),
    isMember ? '' : signUpGiftText(hostConfig().rules, price),
  ];
  return <span>{parts.filter(Boolean).join(' · ')}</span>;
}

/** The field keeps the focus when its button is pressed, so that a phone's keyboard stays. */
const keepFocus = (event: MouseEvent) => event.preventDefault();

/** A mouse or trackpad comes with a keyboard; a touch screen covers half of itself with one. */
export const hasKeyboard = (): boolean => media('(pointer: fine)').matches;

/** How many more characters fit, as far as the composer shows it: all of them for a blank text, at most the warning's for others. */
function charactersLeft(text: string): number {
  const body = text.trim();
  if (saysNothing(wordsOf(body))) return MAX_CHARACTERS;
  // no text has more characters than code units
  if (body.length <= MAX_CHARACTERS - WARN_BELOW) return WARN_BELOW;
  return Math.min(WARN_BELOW, MAX_CHARACTERS - codePoints(body));
}

/** What a key brings. React makes its `beforeinput` of `textInput`. */
const typingEvents = [
  ...['keydown', 'keypress', 'keyup', 'textInput', 'input', 'selectionchange'],
  ...['compositionstart', 'compositionupdate', 'compositionend'],
];

/**
 * Hears the field and lets typing go no further: for each event of a key React would look through the whole page for who
 * listens, some of them before the field hears them. Shortcuts, Tab and Escape go on. Returns the way to stop.
 */
function listenToTyping(field: HTMLTextAreaElement, draft: Draft): () => void {
  const over = new AbortController();
  const hear = (event: Event) => {
    if (event.target !== field) return;
    if (event.type === 'input') draft.write(field.value);
    if (event instanceof KeyboardEvent) {
      if (event.type === 'keydown' && sendsByKey(event)) {
        event.preventDefault();
        field.form?.requestSubmit();
      }
      if (!isTyping(event)) return;
    }
    event.stopPropagation();
  };
  // on the way down, and from the very top
  for (const type of typingEvents) window.addEventListener(type, hear, { capture: true, signal: over.signal });
  return () => over.abort();
}

/** The key belongs to an input method. */
export const isComposed = (event: KeyboardEvent): boolean => event.isComposing || event.keyCode === IME_KEY_CODE;

const sendsByKey = (event: KeyboardEvent) =>
  event.key === 'Enter' && !event.shiftKey && !isComposed(event) && hasKeyboard();

const isTyping = (event: KeyboardEvent) =>
  isComposed(event) || (event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey);

const growsByItself = globalThis.CSS?.supports('field-sizing', 'content');

/** Without `field-sizing` the field is as tall as what is drawn behind it; asking for its height would lay the page out twice with each key. */
function grow(field: HTMLTextAreaElement | null): void {
  if (!growsByItself) field?.parentElement?.setAttribute('data-text', field.value);
}

interface EditingBarProps {
  /** How many messages follow the line that is edited. */
  followers: number;
  isHeld: boolean;
  onCancel: () => void;
}

/** Above the field while one of the reader's lines is being edited: what sending does, and the way out. */
export function EditingBar({ followers, isHeld, onCancel }: EditingBarProps) {
  const { title, replies, cuts, busy, cancel } = texts.editing;
  return (
    <div className={styles.editing} role="status">
      <EditIcon size={16} />
      <p>
        <strong>{title}</strong>
        <span>{isHeld ? busy : followers > 1 ? cuts(followers) : replies}</span>
      </p>
      <IconButton label={cancel} icon={<CloseIcon size={18} />} onClick={onCancel} />
    </div>
  );
}

interface ReplyChipsProps {
  /** Points, where the site names them. */
  prices: { suggestions: number | undefined; resume: number | undefined };
  isBusy: boolean;
  canContinue: boolean;
  /** The suggestions that are shown; others can be had instead of them once they are there. */
  suggestions: Suggestions | undefined;
  /** Both get the price that their button showed. */
  onSuggest: (price: number | undefined, others: boolean) => void;
  onContinue: (price: number | undefined) => void;
  /** What can be done with the whole conversation; undefined where that is nothing. */
  onMore: (() => void) | undefined;
}

/** 灵感, or 换一批 while some are shown, and 继续 above the composer, each with what it costs. */
export function ReplyChips(props: ReplyChipsProps) {
  const { prices, isBusy, canContinue, suggestions, onSuggest, onContinue, onMore } = props;
  const others = suggestions?.status === 'ready';
  return (
    <div className={styles.chips}>
      <Chip
        icon={others ? <RefreshIcon /> : <SparkIcon />}
        disabled={isBusy || suggestions?.status === 'pending'}
        // the second half of a double tap must not buy others instead of those the first has just shown
        onClick={({ detail }) => detail < 2 && onSuggest(prices.suggestions, others)}
      >
        <span>{others ? texts.suggest.others : texts.suggest.label}</span>
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
  /** A tap fills the composer with the words, the arrow sends them as they are. */
  onUse: (text: string) => void;
  onSend: (text: string) => void;
  onClose: () => void;
}

/** What the reader might say next. */
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

/** Words that are written and not sent. */
export interface Draft {
  read(): string;
  write(text: string): void;
  /** Subscribes to each change, the owner's own included. Returns the way to stop. */
  subscribe(listener: () => void): () => void;
}

/** What is written and not sent for a story; kept on the device, followed in other tabs. */
export const useDraft = (storyId: string): Draft => useMemo(() => createDraft(`story.${storyId}`), [storyId]);

function createDraft(key: string): Draft {
  const written = createSignal();
  return {
    read: () => drafts.read(key),
    write(text) {
      drafts.write(key, text);
      written.emit();
    },
    subscribe(listener) {
      const stops = [written.on(listener), drafts.subscribe(key, listener)];
      return () => {
        for (const stop of stops) stop();
      };
    },
  };
}
