import clsx from 'clsx';
import type { ReactNode } from 'react';
import styles from './RadioGroup.module.css';

/** Options that several pages offer. */
export const GENDERS = [
  { value: 'male', label: '男' },
  { value: 'female', label: '女' },
] as const;

export const FONT_SIZES = [
  { value: '1', label: '小' },
  { value: '2', label: '标准' },
  { value: '3', label: '大' },
  { value: '4', label: '特大' },
] as const;

export interface RadioGroupProps<Value extends string> {
  legend: string;
  /** `name` of the radios in their form. */
  name: string;
  options: readonly { value: Value; label: ReactNode }[];
  value: Value;
  onChange: (value: Value) => void;
  hideLegend?: boolean;
  disabled?: boolean;
}

/** Radios drawn as one segmented strip. */
export function RadioGroup<Value extends string>({
  legend,
  name,
  options,
  value,
  onChange,
  hideLegend,
  disabled,
}: RadioGroupProps<Value>) {
  return (
    <fieldset className={styles.group} disabled={disabled}>
      <legend className={clsx(styles.legend, hideLegend && styles.hidden)}>{legend}</legend>
      <div className={styles.strip}>
        {options.map((option) => (
          <label key={option.value} className={styles.option}>
            <input
              className={styles.input}
              type="radio"
              name={name}
              value={option.value}
              checked={option.value === value}
              onChange={() => onChange(option.value)}
            />
            <span className={styles.face}>{option.label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

export interface SwitchProps {
  label: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
  name?: string;
}

/** A switch with its label; the whole row is the touch target. */
export function Switch({ label, checked, onChange, disabled, name }: SwitchProps) {
  return (
    <label className={styles.row}>
      <span className={styles.label}>{label}</span>
      <input
        className={styles.switch}
        type="checkbox"
        role="switch"
        name={name}
        checked={checked}
        aria-checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.target.checked)}
      />
    </label>
  );
}
