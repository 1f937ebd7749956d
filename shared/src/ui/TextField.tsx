import clsx from 'clsx';
import ShowIcon from 'lucide-react/icons/eye';
import HideIcon from 'lucide-react/icons/eye-off';
import {
  type ComponentProps,
  type ReactNode,
  useEffect,
  useId,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { codePoints } from '../format/input';
import { IconButton } from './Button';
import styles from './TextField.module.css';
import { useFieldValue } from './useFieldValue';

export interface TextFieldProps extends FieldTexts, Omit<ComponentProps<'input'>, 'children' | 'value'> {
  value?: string | number;
  /** A button at the end of the input's frame. */
  action?: ReactNode;
}

export function TextField(props: TextFieldProps) {
  const { label, hint, error, hideLabel, action, id, className, value, defaultValue, onChange, ref, ...rest } = props;
  const field = useFieldValue<HTMLInputElement>({ value: value?.toString(), defaultValue, onChange });
  useImperativeHandle<HTMLInputElement | null, HTMLInputElement | null>(ref, () => field.ref.current, [field.ref]);
  return (
    <Field id={id} label={label} hint={hint} error={error} hideLabel={hideLabel}>
      {(control) => (
        <span className={clsx(styles.frame, error?.length && styles.invalid, rest.disabled && styles.disabled)}>
          <input type="text" {...rest} {...field} {...control} className={clsx(styles.input, className)} />
          <span className={styles.ring} />
          {action}
        </span>
      )}
    </Field>
  );
}

export interface FieldTexts {
  label: string;
  hint?: ReactNode;
  /** Error texts, e.g. from the server's 422. */
  error?: string | readonly string[] | undefined;
  /** Shows the label to screen readers only: a search box, a composer. */
  hideLabel?: boolean;
}

interface FieldProps extends FieldTexts {
  id?: string | undefined;
  /** Content at the end of the line below the input: a counter. */
  aside?: ReactNode;
  /** Receives the attributes that connect the input with its label, hint and error. */
  children: (control: Pick<ComponentProps<'input'>, 'id' | 'aria-describedby' | 'aria-invalid'>) => ReactNode;
}

/** Label, input, then error or hint; the layout of every text input. */
export function Field({ label, hint, error, hideLabel, id: givenId, aside, children }: FieldProps) {
  const ownId = useId();
  const id = givenId ?? ownId;
  const message = typeof error === 'string' ? error : error?.join('；');
  const foot = message || hint;
  const footId = `${id}-foot`;
  return (
    <div className={styles.field}>
      <label className={clsx(styles.label, hideLabel && styles.hidden)} htmlFor={id}>
        {label}
      </label>
      {children({
        id,
        'aria-describedby': foot ? footId : undefined,
        'aria-invalid': message ? true : undefined,
      })}
      {(foot || aside) && (
        <div className={styles.foot}>
          <span id={footId} className={clsx(message && styles.error)} role={message ? 'alert' : undefined}>
            {foot}
          </span>
          {aside}
        </div>
      )}
    </div>
  );
}

export interface PasswordFieldProps extends Omit<TextFieldProps, 'type' | 'action'> {
  /** Whether the password is readable; without it the field keeps this state, hidden at first. */
  visible?: boolean;
  onVisibleChange?: (visible: boolean) => void;
}

export function PasswordField({ visible: givenVisible, onVisibleChange, ...rest }: PasswordFieldProps) {
  const [ownVisible, setOwnVisible] = useState(false);
  const visible = givenVisible ?? ownVisible;
  const toggle = () => {
    setOwnVisible(!visible);
    onVisibleChange?.(!visible);
  };
  return (
    <TextField
      spellCheck={false}
      autoCapitalize="none"
      autoCorrect="off"
      {...rest}
      type={visible ? 'text' : 'password'}
      action={
        <IconButton
          label={visible ? '隐藏密码' : '显示密码'}
          icon={visible ? <HideIcon size={20} /> : <ShowIcon size={20} />}
          onClick={toggle}
        />
      }
    />
  );
}

export interface TextAreaProps
  extends FieldTexts,
    Omit<ComponentProps<'textarea'>, 'value' | 'defaultValue' | 'children' | 'maxLength' | 'ref'> {
  value: string;
  /** Grows with its text up to this number of lines, then scrolls. */
  maxRows?: number;
  /** Shows a counter of code points; longer text is marked, not prevented. */
  maxCodePoints?: number;
}

export function TextArea({
  label,
  hint,
  error,
  hideLabel,
  id,
  className,
  value,
  rows = 3,
  maxRows = 8,
  maxCodePoints,
  onChange,
  ...rest
}: TextAreaProps) {
  const field = useFieldValue<HTMLTextAreaElement>({ value, onChange });
  const { ref: input } = field;
  useLayoutEffect(() => {
    input.current?.style.setProperty('--rows', String(rows));
    input.current?.style.setProperty('--max-rows', String(maxRows));
  }, [input, rows, maxRows]);
  useLayoutEffect(() => fitHeight(input.current, value), [input, value]);
  const aside = maxCodePoints === undefined ? null : counter(value, maxCodePoints);
  return (
    <Field id={id} label={label} hint={hint} error={error} hideLabel={hideLabel} aside={aside}>
      {(control) => (
        <textarea {...rest} {...field} {...control} className={clsx(styles.textAreaInput, className)} rows={rows} />
      )}
    </Field>
  );
}

function counter(value: string, max: number): ReactNode {
  const length = codePoints(value);
  return (
    <span className={clsx(styles.counter, length > max && styles.over)} translate="no">
      {`${length}/${max}`}
    </span>
  );
}

/** Measures the text only without `field-sizing`, since that forces a layout per key press. */
function fitHeight(input: HTMLTextAreaElement | null, value: string) {
  if (!input || CSS.supports('field-sizing', 'content')) return;
  input.style.height = 'auto';
  if (value) input.style.height = `${input.scrollHeight + 2}px`;
}

export type FieldErrors<Name extends string = string> = Partial<Record<Name, FieldTexts['error']>>;

/**
 * Errors of one form, from its own checks or the server's 422. The form needs `formRef` and `noValidate`, its fields their
 * `errors`. Showing errors focuses the first wrong field. If `names` are given, errors of other fields are ignored.
 */
export function useFieldErrors<Name extends string = string>(...names: Name[]) {
  const formRef = useRef<HTMLFormElement>(null);
  const [errors, setErrors] = useState<FieldErrors<Name>>({});
  const [showCount, setShowCount] = useState(0);
  useEffect(() => {
    if (showCount > 0) formRef.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [showCount]);
  return {
    formRef,
    errors,
    /** Replaces the shown errors. Returns whether any field shows one; none does after the form is gone. */
    showErrors(newErrors: FieldErrors): boolean {
      const formErrors = Object.entries(newErrors).filter(
        ([name]) => names.length === 0 || names.some((one) => one === name),
      );
      const hasShownErrors = formRef.current !== null && formErrors.some(([, texts]) => texts?.length);
      setErrors(Object.fromEntries(formErrors) as FieldErrors<Name>);
      if (hasShownErrors) setShowCount((count) => count + 1);
      return hasShownErrors;
    },
    /** Removes the errors of fields that the user edits. */
    clearErrors: (...names: Name[]) =>
      setErrors((current) => {
        const remainingErrors = { ...current };
        for (const name of names) delete remainingErrors[name];
        return remainingErrors;
      }),
  };
}
