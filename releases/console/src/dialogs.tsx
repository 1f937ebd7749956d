import { Button, type ButtonProps, Dialog, media, TextField } from '@liaozhai/shared/ui';
import { type FocusEvent, useEffect, useLayoutEffect, useRef, useState } from 'react';
import styles from './Console.module.css';
import { formats } from './language';
import { Alarm, Lines, useConsole } from './Section';
import { texts } from './texts';

/** Returns the last value that was not null, so that a dialog keeps its content while it closes. */
export function useLast<Value>(value: Value | null): Value | null {
  const [last, setLast] = useState(value);
  if (value !== null && value !== last) setLast(value);
  return value ?? last;
}

/** Time after the opening in which Enter confirms nothing. */
const UNREAD_MS = 500;

const NOTHING_TYPED = { why: '', name: '', isMistyped: false, isReasonMissing: false };

/** Asks before a change: shows its effects, and asks for a reason. A change that cannot be undone also requires the name. */
export function QuestionDialog() {
  const { me, console, question } = useConsole();
  const [typed, setTyped] = useState(NOTHING_TYPED);
  const { why, name, isMistyped, isReasonMissing } = typed;
  const [isOpen, setIsOpen] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const openedAt = useRef(0);
  const shownQuestion = useLast(question);
  // a new question starts without the previous reason, unless the same question got no response
  if (isOpen !== (question !== null)) {
    setIsOpen(question !== null);
    setTyped({ ...NOTHING_TYPED, why: question?.typedReason ?? '' });
  }
  useLayoutEffect(() => {
    // the name field, if there is one, is above the reason
    const input = field.current?.form?.querySelector('input');
    if (!isOpen || !input) return;
    openedAt.current = performance.now();
    if (media('(hover: hover)').matches) return input.focus();
    // on a touch device the on-screen keyboard would cover the question
    const panel = input.closest<HTMLElement>('dialog > *');
    if (panel) panel.tabIndex = -1;
    panel?.focus({ preventScroll: true });
  }, [isOpen]);
  const {
    title = '',
    action,
    changes = [],
    danger,
    busy,
    confirmationText,
    gentler,
    frozen,
    needsApproval,
    requiresReason,
  } = shownQuestion ?? {};
  const passesFreeze = Boolean(frozen) && me.role === 'manager';
  const needsReason = passesFreeze || requiresReason;
  const submit = () => {
    const isTyped = confirmationText === undefined || name.trim() === confirmationText;
    // the freeze applies when the proposal is approved
    const isFounded = !needsReason || needsApproval || why.trim() !== '';
    setTyped({ ...typed, isMistyped: !isTyped, isReasonMissing: !isFounded });
    if (isTyped && isFounded) void console.confirmQuestion(why, passesFreeze);
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
      onConfirm={submit}
      onClose={console.cancelQuestion}
    >
      <form
        className={styles.question}
        onSubmit={(event) => {
          event.preventDefault();
          // the second half of a double press that opened the question
          const isUnread = why === '' && name === '' && performance.now() - openedAt.current < UNREAD_MS;
          if (!busy && !isUnread) submit();
        }}
        onKeyDown={(event) => event.key === 'Enter' && event.repeat && event.preventDefault()}
      >
        <p>{texts.confirm.changes}</p>
        <Lines lines={changes.length > 0 ? changes : [texts.confirm.nothing]} />
        {gentler && (
          <Button variant="primary" disabled={busy} onClick={gentler.choose}>
            {texts.confirm.gentler(gentler.label)}
          </Button>
        )}
        {needsApproval && <p role="status">{texts.approval.asks}</p>}
        {frozen && <Alarm>{texts.freeze.open(formats.short(frozen.until), frozen.reason)}</Alarm>}
        {confirmationText && (
          <TextField
            label={texts.confirm.typed(confirmationText)}
            error={isMistyped ? texts.confirm.mistyped(confirmationText) : undefined}
            autoComplete="off"
            autoCapitalize="none"
            value={name}
            onChange={({ target }) => setTyped({ ...typed, name: target.value })}
          />
        )}
        <TextField
          ref={field}
          label={passesFreeze ? texts.freeze.passing : texts.confirm.why}
          error={isReasonMissing ? texts.confirm.whyNeeded : undefined}
          maxLength={needsReason ? 200 : 500}
          autoComplete="off"
          value={why}
          onChange={({ target }) => {
            setTyped({ ...typed, why: target.value });
            console.storeReason(target.value);
          }}
        />
      </form>
    </Dialog>
  );
}

/** Shows a result; its details can be selected and copied. */
export function NoticeDialog() {
  const { console, notice } = useConsole();
  const shownNotice = useLast(notice);
  return (
    <Dialog
      open={notice !== null}
      title={shownNotice?.title ?? ''}
      confirmLabel={texts.done.close}
      onConfirm={console.dismiss}
    >
      <Lines lines={shownNotice?.lines ?? []} />
      {shownNotice?.copy && <CopyButton key={shownNotice.copy} text={shownNotice.copy} variant="primary" />}
      {shownNotice?.cures?.map(({ label, choose }) => (
        <Button
          key={label}
          variant="primary"
          block
          className={styles.cure}
          onClick={() => {
            console.dismiss();
            choose();
          }}
        >
          {label}
        </Button>
      ))}
    </Dialog>
  );
}

/** Copies a text, and shows the result in its label. */
export function CopyButton({ text, ...buttonProps }: { text: string } & Pick<ButtonProps, 'variant' | 'small'>) {
  const [label, setLabel] = useState<string>(texts.done.copy);
  // a page loaded over plain HTTP has no clipboard
  const copy = () =>
    (navigator.clipboard?.writeText(text) ?? Promise.reject(new Error('no clipboard'))).then(
      () => setLabel(texts.done.copied),
      () => setLabel(texts.done.copyFailed),
    );
  return (
    <Button {...buttonProps} onClick={() => void copy()}>
      {/* no `status`: Chromium leaves that role's text out of the button's name */}
      <span aria-live="polite">{label}</span>
    </Button>
  );
}

interface FocusRecord {
  element: HTMLElement;
  /** Focus target if the element was removed: the heading of its section. A notice has none. */
  heading: HTMLElement | null;
}

const findModal = (): Element | null => document.querySelector('dialog[open]');
/** Nothing has the focus, or only an element of a dialog that has just closed. */
const isFocusLost = ({ activeElement, body }: Document): boolean =>
  activeElement === null || activeElement === body || activeElement.closest('dialog:not([open])') !== null;

const isUsable = (element: HTMLElement): boolean => element.isConnected && !element.matches(':disabled');

/** The heading of the nearest section that has one: a plan and a proposal are sections without. */
function headingOf(element: Element): HTMLElement | null {
  const section = element.closest('section');
  const heading = section?.querySelector<HTMLElement>('h2') ?? null;
  return heading || !section?.parentElement ? heading : headingOf(section.parentElement);
}

/**
 * Restores keyboard focus after the page changes. A disabled or removed control loses focus to the body. Focus returns to the
 * control once it is usable. If it was removed, the heading of its section gets the focus, or else the first heading.
 */
export function useRestoredFocus() {
  const lastFocus = useRef<FocusRecord | null>(null);
  // after every render, because any may have removed the focused control
  useEffect(() => {
    if (!lastFocus.current || !isFocusLost(document) || findModal()) return;
    const { element, heading } = lastFocus.current;
    if (isUsable(element)) element.focus({ preventScroll: true });
    else if (!element.isConnected) {
      const target = heading?.isConnected ? heading : document.querySelector<HTMLElement>('main h2');
      target?.focus({ preventScroll: true });
    }
  });
  return {
    onFocus: ({ target }: FocusEvent<HTMLElement>) => {
      if (target.closest('dialog')) return;
      lastFocus.current = {
        element: target,
        heading: headingOf(target),
      };
    },
    onBlur: ({ target }: FocusEvent<HTMLElement>) => {
      // leaving a usable control is intended, unless a dialog takes the focus temporarily
      if (lastFocus.current?.element === target && isUsable(target) && !findModal()) lastFocus.current = null;
    },
  };
}
