import { Button, Card, TextField } from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { type ComponentProps, createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import { type ApiFailure, failureOf, get, type Me } from './api';
import styles from './Console.module.css';
import type { QuestionOptions, Snapshot } from './consoleStore';
import type { Console } from './createConsole';
import { labels } from './labels';

export interface SignedInConsole {
  me: Me;
  console: Console;
  /** Name of the control whose request is under way. */
  running: string | null;
  now: Date;
  snapshot: Snapshot | null;
}

export const ConsoleContext = createContext<SignedInConsole | null>(null);

/** The console, for all sections. Throws outside of the signed-in page. */
export function useConsole(): SignedInConsole {
  const context = useContext(ConsoleContext);
  if (!context) throw new Error('not signed in');
  return context;
}

/** The loaded state of the channel. Throws before it is loaded. */
export function useSnapshot(): Snapshot {
  const { snapshot } = useConsole();
  if (!snapshot) throw new Error('no state is loaded');
  return snapshot;
}

/** The last answer to a GET, requested again for another path or revision; null before the first. */
export function useAnswer<Answer>(path: string | false, revision = ''): Answer | ApiFailure | null {
  const [latest, setLatest] = useState<{ path: string; answer: Answer | ApiFailure } | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies(revision): the path is requested again
  useEffect(() => {
    if (!path) return;
    let isCurrent = true;
    void get<Answer>(path)
      .catch(failureOf)
      .then((answer) => isCurrent && setLatest({ path, answer }));
    return () => {
      isCurrent = false;
    };
  }, [path, revision]);
  return latest && (!path || latest.path === path) ? latest.answer : null;
}

/** A package's label, followed by its name if that differs. */
export function Name({ name }: { name: string }) {
  const label = labels.of(name);
  return (
    <span className={styles.name}>
      <strong>{label}</strong> {label !== name && <small>{name}</small>}
    </span>
  );
}

/** A button for a slow request: busy while it runs, disabled while another request runs. */
export function ActionButton({
  control,
  disabled = false,
  ...rest
}: { control: string } & ComponentProps<typeof Button>) {
  const { running } = useConsole();
  return (
    <Button variant="quiet" small {...rest} loading={running === control} disabled={disabled || running !== null} />
  );
}

interface AskButtonProps extends Omit<ComponentProps<typeof ActionButton>, 'onClick' | 'children'> {
  verb: string;
  body: object;
  question: QuestionOptions;
}

/** A button that asks before a change. Its label is that of the button that confirms it. */
export function AskButton({ verb, body, question, ...rest }: AskButtonProps) {
  const { console } = useConsole();
  return (
    <ActionButton {...rest} onClick={() => console.openQuestion(verb, body, question)}>
      {question.action}
    </ActionButton>
  );
}

interface ChoiceProps<Value extends string> extends Omit<ComponentProps<'select'>, 'onChange'> {
  label: string;
  options: readonly (readonly [value: Value, text: string])[];
  /** Text of a first option, which chooses ''. */
  none?: string;
  onChange?: (value: Value) => void;
}

/** A select with a hidden label. */
export const Choice = <Value extends string>({ label, options, none, onChange, ...rest }: ChoiceProps<Value>) => (
  <select
    {...rest}
    aria-label={label}
    className={styles.control}
    onChange={onChange && (({ target }) => onChange(target.value as Value))}
  >
    {none !== undefined && <option value="">{none}</option>}
    {options.map(([each, text]) => (
      <option key={each} value={each}>
        {text}
      </option>
    ))}
  </select>
);

interface PartProps {
  /** Anchor for links in notices. */
  id?: string;
  title: string;
  className?: string;
  children: ReactNode;
}

export function Section({ id, title, className, children }: PartProps) {
  return (
    <Card id={id} className={clsx(styles.section, className)} aria-label={title}>
      <h2 className={styles.heading} tabIndex={-1}>
        {title}
      </h2>
      {children}
    </Card>
  );
}

export const Lines = ({ lines }: { lines: readonly string[] }) => (
  <ul className={styles.lines}>
    {lines.map((line) => (
      <li key={line}>{line}</li>
    ))}
  </ul>
);

const MAX_HOURS = 168;

/** A field `hours` for a span of at most a week. */
export const HoursField = ({ label, hours }: { label: string; hours: number }) => (
  <TextField type="number" name="hours" label={label} required min={1} max={MAX_HOURS} defaultValue={hours} />
);

interface FoldedFormProps {
  title: string;
  /** Label of the button that sends the form. */
  action: string;
  /** Its name for screen readers, if the label is ambiguous. */
  actionName?: string;
  /** Receives the value of each named field, without blanks around it. */
  onSubmit: (field: (name: string) => string, form: HTMLFormElement) => void;
  /** Shown before the button. */
  actions?: ReactNode;
  children: ReactNode;
}

/** A form that is folded below its title. The browser keeps the values of its fields. */
export const FoldedForm = ({ title, action, actionName, onSubmit, actions, children }: FoldedFormProps) => (
  <details className={styles.details}>
    <summary>{title}</summary>
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        const fields = new FormData(event.currentTarget);
        onSubmit((name) => String(fields.get(name) ?? '').trim(), event.currentTarget);
      }}
    >
      {children}
      <div className={styles.actions}>
        {actions}
        <ActionButton type="submit" control={title} aria-label={actionName}>
          {action}
        </ActionButton>
      </div>
    </form>
  </details>
);
