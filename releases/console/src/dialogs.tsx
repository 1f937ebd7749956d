import { Button, Dialog, TextField } from '@liaozhai/shared/ui';
import { useEffect, useRef, useState } from 'react';
import styles from './Console.module.css';
import type { ConsoleState } from './createConsole';
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
  mayOverride: boolean;
  onAgree: (why: string, override: string) => void;
  onCallOff: () => void;
}

/** Asks before a change, naming what changes, and for the reason; what cannot be undone also for the name. */
export function QuestionDialog({ question, mayOverride, onAgree, onCallOff }: QuestionDialogProps) {
  const [why, setWhy] = useState('');
  const [override, setOverride] = useState('');
  const [name, setName] = useState('');
  const [mistyped, setMistyped] = useState(false);
  const [open, setOpen] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const shown = useLast(question);
  // a new question begins without the reason of the former one, unless that was the same and had no answer
  if (open !== (question !== null)) {
    setOpen(question !== null);
    setWhy(question?.kept?.why ?? '');
    setOverride(question?.kept?.override ?? '');
    setName('');
    setMistyped(false);
  }
  useEffect(() => {
    // not where a finger opened it: the keyboard that comes up would cover what is asked
    if (open && matchMedia('(hover: hover)').matches) field.current?.focus();
  }, [open]);
  const { title = '', action, changes = [], danger, busy, typed, gentler, frozen, waits } = shown ?? {};
  const agree = () => {
    const isTyped = typed === undefined || name.trim() === typed;
    setMistyped(!isTyped);
    if (isTyped) onAgree(why, override);
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
        {frozen && mayOverride && (
          <TextField
            label={texts.freeze.override}
            maxLength={200}
            autoComplete="off"
            value={override}
            onChange={(event) => setOverride(event.target.value)}
          />
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
          label={texts.confirm.why}
          maxLength={500}
          autoComplete="off"
          value={why}
          onChange={(event) => setWhy(event.target.value)}
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
      {shown?.copy && <CopyButton key={shown.copy} text={shown.copy} />}
    </Dialog>
  );
}

/** Says itself how it went. */
function CopyButton({ text }: { text: string }) {
  const [label, setLabel] = useState<string>(texts.done.copy);
  const copy = () =>
    (navigator.clipboard?.writeText(text) ?? Promise.reject(new Error('no clipboard'))).then(
      () => setLabel(texts.done.copied),
      () => setLabel(texts.done.copyFailed),
    );
  return (
    <Button variant="primary" onClick={() => void copy()}>
      <span role="status">{label}</span>
    </Button>
  );
}
