import clsx from 'clsx';
import { type ComponentProps, type ReactNode, useLayoutEffect, useRef } from 'react';
import { codePoints } from '../format/codePoints';
import { Field, type FieldTexts } from './Field';
import styles from './TextArea.module.css';

export interface TextAreaProps
  extends FieldTexts,
    Omit<ComponentProps<'textarea'>, 'value' | 'children' | 'maxLength'> {
  value: string;
  /** Grows with its text up to so many lines, then scrolls. */
  maxRows?: number;
  /** Shows a counter of characters as a reader counts them; going over is shown, not prevented. */
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
  ...rest
}: TextAreaProps) {
  const input = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    input.current?.style.setProperty('--rows', String(rows));
    input.current?.style.setProperty('--max-rows', String(maxRows));
  }, [rows, maxRows]);
  useLayoutEffect(() => grow(input.current, value), [value]);
  const aside = maxCodePoints === undefined ? null : counter(value, maxCodePoints);
  return (
    <Field id={id} label={label} hint={hint} error={error} hideLabel={hideLabel} aside={aside}>
      {(control) => (
        <textarea
          {...rest}
          {...control}
          ref={input}
          className={clsx(styles.input, className)}
          value={value}
          rows={rows}
        />
      )}
    </Field>
  );
}

function counter(value: string, max: number): ReactNode {
  const used = codePoints(value);
  return (
    <span className={clsx(styles.counter, used > max && styles.over)}>
      {used}/{max}
    </span>
  );
}

/** Browsers with `field-sizing` grow the field without a forced layout per key press; the others are measured. */
function grow(input: HTMLTextAreaElement | null, value: string) {
  if (!input || CSS.supports('field-sizing', 'content')) return;
  input.style.height = 'auto';
  if (value) input.style.height = `${input.scrollHeight + 2}px`;
}
