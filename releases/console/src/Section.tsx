import { Button, Card, TextField } from '@liaozhai/shared/ui';
import clsx from 'clsx';
import {
  type ComponentProps,
  createContext,
  type FormEvent,
  type ReactNode,
  useContext,
  useEffect,
  useState,
  useTransition,
} from 'react';
import { type ApiFailure, failureOf, get, type Me } from './api';
import styles from './Console.module.css';
import type { ConsoleState, QuestionOptions, Snapshot } from './consoleStore';
import type { Console } from './createConsole';
import { LANGUAGES, language } from './language';
import { labels, rollbackTitle, texts, type WayBack } from './texts';

interface SignedInConsole extends ConsoleState {
  me: Me;
  channels: readonly string[];
  console: Console;
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

interface ActionButtonProps extends Omit<ComponentProps<typeof Button>, 'onClick' | 'loading'> {
  act?: () => unknown;
  /** Its own request runs although it did not begin with `act`: that of a form. */
  isSending?: boolean;
}

/** A button for a slow request: busy while its own runs, disabled while any does. */
export function ActionButton({ act, isSending = false, disabled = false, ...rest }: ActionButtonProps) {
  const { isRunning } = useConsole();
  const [isActing, start] = useTransition();
  const onClick = () => {
    const ended = act?.();
    start(async () => void (await ended));
  };
  return (
    <Button
      variant="quiet"
      small
      {...rest}
      onClick={onClick}
      loading={(isActing || isSending) && isRunning}
      disabled={disabled || isRunning}
    />
  );
}

type RollbackButtonProps = { target: WayBack } & Omit<ActionButtonProps, 'act'>;

/** A button that asks before a rollback. */
export function RollbackButton({ target, ...rest }: RollbackButtonProps) {
  const { console } = useConsole();
  const title = rollbackTitle(target);
  const { action = target.name ? texts.live.rollback : title } = target;
  return (
    <ActionButton aria-label={title} {...rest} act={() => console.rollback(target)}>
      {rest.children ?? action}
    </ActionButton>
  );
}

interface AskButtonProps extends Omit<ActionButtonProps, 'act' | 'children'> {
  verb: string;
  body: object;
  question: QuestionOptions;
}

/** A button that asks before a change. Its label is that of the button that confirms it. */
export function AskButton({ verb, body, question, ...rest }: AskButtonProps) {
  const { console } = useConsole();
  return (
    <ActionButton {...rest} act={() => console.openQuestion(verb, body, question)}>
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

export const Alarm = ({ children }: { children: ReactNode }) => (
  <p className={styles.alarm} role="alert">
    {children}
  </p>
);

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
  onSubmit: (field: (name: string) => string, form: HTMLFormElement) => unknown;
  /** Shown before the button. */
  actions?: ReactNode;
  children: ReactNode;
}

/** A form that is folded below its title. The browser keeps the values of its fields. */
export function FoldedForm({ title, action, actionName, onSubmit, actions, children }: FoldedFormProps) {
  const [isSending, start] = useTransition();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const fields = new FormData(form);
    const ended = onSubmit((name) => String(fields.get(name) ?? '').trim(), form);
    start(async () => void (await ended));
  };
  return (
    <details className={styles.details}>
      <summary>{title}</summary>
      <form className={styles.form} onSubmit={submit}>
        {children}
        <div className={styles.actions}>
          {actions}
          <ActionButton type="submit" isSending={isSending} aria-label={actionName}>
            {action}
          </ActionButton>
        </div>
      </form>
    </details>
  );
}

/** Button for the other language, in that language. */
export function LanguageSwitch({ className }: { className?: string }) {
  const otherLanguage = language.current() === 'zh' ? 'en' : 'zh';
  const { tag, name } = LANGUAGES[otherLanguage];
  return (
    <Button variant="quiet" small className={className} lang={tag} onClick={() => language.choose(otherLanguage)}>
      {name}
    </Button>
  );
}
