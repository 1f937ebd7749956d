import { Button, Card, TextField } from '@liaozhai/shared/ui';
import clsx from 'clsx';
import {
  type ChangeEvent,
  type ComponentProps,
  createContext,
  type FormEvent,
  type ReactNode,
  useContext,
  useEffect,
  useState,
  useTransition,
} from 'react';
import { type ApiFailure, failureOf, forgetDraft, get, type Me, readDraft, saveDraft } from './api';
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

/** A field for a span of at most a week. */
export const HoursField = (props: Pick<ComponentProps<typeof TextField>, 'label' | 'value' | 'onChange'>) => (
  <TextField type="number" required min={1} max={MAX_HOURS} {...props} />
);

/**
 * Fields of a form, as typed. They outlive the page until the change is made or the reader signs out: a session may end while
 * somebody types.
 */
export function useDraft<Name extends string>(form: string, initialFields: Readonly<Record<Name, string>>) {
  const { channel } = useConsole();
  const [stored] = useState(() => readDraft(channel, form));
  const [fields, setFields] = useState({ ...initialFields, ...stored });
  const set = (name: Name, value: string) => {
    const next = { ...fields, [name]: value };
    setFields(next);
    saveDraft(channel, form, next);
  };
  return {
    form,
    fields,
    set,
    isStored: stored !== null,
    propsOf: (name: Name) => ({
      value: fields[name],
      onChange: ({ target }: ChangeEvent<HTMLInputElement>) => set(name, target.value),
    }),
    clear: () => {
      setFields(initialFields);
      forgetDraft(channel, form);
    },
  };
}

interface FoldedFormProps {
  title: string;
  /** Label of the button that sends the form. */
  action: string;
  /** Its name for screen readers, if the label is ambiguous. */
  actionName?: string;
  /** A form with a stored draft begins open. */
  draft: { isStored: boolean };
  onSubmit: () => unknown;
  /** Shown before the button. */
  actions?: ReactNode;
  children: ReactNode;
}

/** A form that is folded below its title. */
export function FoldedForm({ title, action, actionName, draft, onSubmit, actions, children }: FoldedFormProps) {
  const [isSending, start] = useTransition();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const ended = onSubmit();
    start(async () => void (await ended));
  };
  return (
    <details className={styles.details} open={draft.isStored}>
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
