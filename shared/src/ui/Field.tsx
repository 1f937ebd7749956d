import clsx from 'clsx';
import { type ReactNode, useId } from 'react';
import styles from './Field.module.css';

export interface FieldTexts {
  label: string;
  hint?: ReactNode;
  /** What is wrong, as the server's 422 tells it (one text or several). */
  error?: string | readonly string[] | undefined;
  /** The label is for ears only: a search box, a composer. */
  hideLabel?: boolean;
}

/** What the input itself must carry so that label, hint and error belong to it. */
export interface FieldControl {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': true | undefined;
}

interface FieldProps extends FieldTexts {
  id?: string | undefined;
  /** Stands at the end of the foot line: a counter. */
  aside?: ReactNode;
  children: (control: FieldControl) => ReactNode;
}

/** Label above, input, then the error or the hint; the frame of every text input. */
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
