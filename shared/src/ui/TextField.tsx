import clsx from 'clsx';
import type { ComponentProps, ReactNode } from 'react';
import { Field, type FieldTexts } from './Field';
import styles from './TextField.module.css';

export interface TextFieldProps extends FieldTexts, Omit<ComponentProps<'input'>, 'children'> {
  /** A button inside the input's frame, at its end. */
  action?: ReactNode;
}

export function TextField({ label, hint, error, hideLabel, action, id, className, ...rest }: TextFieldProps) {
  return (
    <Field id={id} label={label} hint={hint} error={error} hideLabel={hideLabel}>
      {(control) => (
        <span className={clsx(styles.frame, error?.length && styles.invalid, rest.disabled && styles.disabled)}>
          <input type="text" {...rest} {...control} className={clsx(styles.input, className)} />
          <span className={styles.ring} />
          {action}
        </span>
      )}
    </Field>
  );
}
