import { Button, type ButtonProps, Dialog, media, TextField } from '@liaozhai/shared/ui';
import { type FocusEvent, useEffect, useLayoutEffect, useRef, useState } from 'react';
import styles from './Console.module.css';
import type { ConsoleState } from './consoleState';
import { formats, texts } from './texts';

const Lines = ({ lines }: { lines: readonly string[] }) => (
  <ul className={styles.lines}>
    {lines.map((line) => (
      <li key={line}>{line}</li>
    ))}
  </ul>
);

/** What was shown last, so that a dialog keeps its contents while it closes. */
function useLast<Value>(value: Value | null): Value | null {
  const [last, setLast] = useState(value);
  if (value !== null && value !== last) setLast(value);
  return value ?? last;
}

interface QuestionDialogProps {
  question: ConsoleState['question'];
  /** May switch although the channel is frozen. */
  mayPassFreeze: boolean;
  onType: (why: string) => void;
  onAgree: (why: string, passesFreeze: boolean) => void;
  onCallOff: () => void;
}

/** Asks before a change, naming what changes, and for the reason; what cannot be undone also for the name. */
export function QuestionDialog({ question, mayPassFreeze, onType, onAgree, onCallOff }: QuestionDialogProps) {
  const [why, setWhy] = useState('');
  const [name, setName] = useState('');
  const [mistyped, setMistyped] = useState(false);
  const [unfounded, setUnfounded] = useState(false);
  const [open, setOpen] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const shown = useLast(question);
  // a new question begins without the reason of the former one, unless that was the same and had no answer
  if (open !== (question !== null)) {
    setOpen(question !== null);
    setWhy(question?.kept?.why ?? '');
    setName('');
    setMistyped(false);
    setUnfounded(false);
  }
  useLayoutEffect(() => {
    // the name, where one is asked for, stands above the reason
    const input = field.current?.form?.querySelector('input');
    if (!open || !input) return;
    if (media('(hover: hover)').matches) return input.focus();
    // where a finger opened it, the keyboard of the first field would cover what is asked
    const panel = input.closest<HTMLElement>('dialog > *');
    if (panel) panel.tabIndex = -1;
    panel?.focus({ preventScroll: true });
  }, [open]);
  const { title = '', action, changes = [], danger, busy, typed, gentler, frozen, waits, founded } = shown ?? {};
  const passesFreeze = Boolean(frozen) && mayPassFreeze;
  const isShort = passesFreeze || founded;
  const agree = () => {
    const isTyped = typed === undefined || name.trim() === typed;
    setMistyped(!isTyped);
    // a proposal is judged by the window when it is approved
    const isFounded = !isShort || waits || why.trim() !== '';
    setUnfounded(!isFounded);
    if (isTyped && isFounded) onAgree(why, passesFreeze);
  };
  return (
    <Dialog
      open={question !== null}
      title={title}
      confirmLabel={action}
      cancelLabel={busy ? texts.confirm.leave : texts.confirm.cancel}
      danger={danger}
      busy={busy}
      leaveable
      onConfirm={agree}
      onClose={onCallOff}
    >
      <form
        className={styles.question}
        onSubmit={(event) => {
          event.preventDefault();
          if (!busy) agree();
        }}
      >
        <p>{texts.confirm.changes}</p>
        <Lines lines={changes.length > 0 ? changes : [texts.confirm.nothing]} />
        {gentler && (
          <Button variant="primary" disabled={busy} onClick={gentler.choose}>
            {texts.confirm.gentler(gentler.label)}
          </Button>
        )}
        {waits && <p role="status">{texts.approval.asks}</p>}
        {frozen && (
          <p className={styles.alarm} role="alert">
            {texts.freeze.open(formats.short(frozen.until), frozen.reason)}
          </p>
        )}
        {typed && (
          <TextField
            label={texts.confirm.typed(typed)}
            error={mistyped ? texts.confirm.mistyped(typed) : undefined}
            autoComplete="off"
            autoCapitalize="none"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        )}
        <TextField
          ref={field}
          label={passesFreeze ? texts.freeze.passing : texts.confirm.why}
          error={unfounded ? texts.confirm.whyNeeded : undefined}
          maxLength={isShort ? 200 : 500}
          autoComplete="off"
          value={why}
          onChange={({ target }) => {
            setWhy(target.value);
            onType(target.value);
          }}
        />
      </form>
    </Dialog>
  );
}

/** Tells how something went; details can be selected and copied. */
export function NoticeDialog({ notice, onClose }: { notice: ConsoleState['notice']; onClose: () => void }) {
  const shown = useLast(notice);
  return (
    <Dialog open={notice !== null} title={shown?.title ?? ''} confirmLabel={texts.done.close} onConfirm={onClose}>
      <Lines lines={shown?.lines ?? []} />
      {shown?.copy && <CopyButton key={shown.copy} text={shown.copy} variant="primary" />}
      {shown?.cures?.map(({ label, choose }) => (
        <Button key={label} variant="primary" block className={styles.cure} onClick={choose}>
          {label}
        </Button>
      ))}
    </Dialog>
  );
}

/** Copies a text, and says itself how it went. */
export function CopyButton({ text, ...look }: { text: string } & Pick<ButtonProps, 'variant' | 'small'>) {
  const [label, setLabel] = useState<string>(texts.done.copy);
  // a page that came by plain http has no clipboard
  const copy = () =>
    (navigator.clipboard?.writeText(text) ?? Promise.reject(new Error('no clipboard'))).then(
      () => setLabel(texts.done.copied),
      () => setLabel(texts.done.copyFailed),
    );
  return (
    <Button {...look} onClick={() => void copy()}>
      {/* no `status`: Chromium leaves that role's text out of the button's name */}
      <span aria-live="polite">{label}</span>
    </Button>
  );
}

interface Last {
  element: HTMLElement;
  /** Where to go when the element is no more: the heading of its section. */
  heading: HTMLElement | null;
}

const modal = (): Element | null => document.querySelector('dialog[open]');
/** Nothing has the focus, or only what a dialog that has just closed still holds. */
const isLost = ({ activeElement, body }: Document): boolean =>
  activeElement === null || activeElement === body || activeElement.closest('dialog:not([open])') !== null;

const isUsable = (element: HTMLElement): boolean => element.isConnected && !element.matches(':disabled');

/**
 * Keeps the keyboard's place over changes of the page. A control that is busy or gone lets focus fall to the body; it comes back
 * to the control as soon as that can be used again, else to the heading of its section. Spread the result on the frame.
 */
export function useKeptFocus() {
  const last = useRef<Last | null>(null);
  // after every render, since any of them may have taken the focused control away
  useEffect(() => {
    if (!last.current || !isLost(document) || modal()) return;
    const { element, heading } = last.current;
    if (isUsable(element)) element.focus({ preventScroll: true });
    else if (!element.isConnected && heading?.isConnected) heading.focus({ preventScroll: true });
  });
  return {
    onFocus: ({ target }: FocusEvent<HTMLElement>) => {
      if (target.closest('dialog')) return;
      last.current = { element: target, heading: target.closest('section')?.querySelector<HTMLElement>('h2') ?? null };
    },
    onBlur: ({ target }: FocusEvent<HTMLElement>) => {
      // a usable control was left on purpose, unless a dialog has taken the focus for a while
      if (last.current?.element === target && isUsable(target) && !modal()) last.current = null;
    },
  };
}
