import { Chip } from '@liaozhai/shared/ui';
import type { Filter } from '../api';
import { transactionKinds } from '../model';
import { texts } from '../texts';
import styles from './KindFilter.module.css';

interface KindFilterProps {
  value: Filter;
  onChange: (value: Filter) => void;
}

export function KindFilter({ value, onChange }: KindFilterProps) {
  const { all, filter, kinds } = texts.transactions;
  return (
    <fieldset className={styles.filter} aria-label={filter}>
      {([null, ...transactionKinds] as const).map((kind) => (
        <Chip key={kind} selected={kind === value} onClick={() => onChange(kind)}>
          {kind === null ? all : kinds[kind]}
        </Chip>
      ))}
    </fieldset>
  );
}
