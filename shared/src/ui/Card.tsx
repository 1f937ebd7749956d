import clsx from 'clsx';
import ChevronRightIcon from 'lucide-react/icons/chevron-right';
import { type ComponentProps, cloneElement, type ReactElement, type ReactNode } from 'react';
import styles from './Card.module.css';

/** A sheet of lighter paper; `flush` for rows that bring their own padding. */
export function Card({ flush, className, ...rest }: ComponentProps<'section'> & { flush?: boolean }) {
  return <section {...rest} className={clsx(styles.card, flush && styles.flush, className)} />;
}

export interface ListRowProps extends Omit<ComponentProps<'button'>, 'title' | 'value'> {
  title: ReactNode;
  icon?: ReactNode;
  detail?: ReactNode;
  /** What stands at the end of the line: a value, a switch, a badge. */
  value?: ReactNode;
  asLink?: ReactElement<{ className?: string; children?: ReactNode }>;
}

/** A row that leads somewhere (`asLink`, with an arrow), does something (`onClick`) or just tells. */
export function ListRow({ title, icon, detail, value, asLink, className, ...rest }: ListRowProps) {
  const face = clsx(styles.row, (asLink || rest.onClick) && styles.pressable, className);
  const content = (
    <>
      {icon && <span className={styles.icon}>{icon}</span>}
      <span className={styles.text}>
        <span>{title}</span>
        {detail && <span className={styles.detail}>{detail}</span>}
      </span>
      {value && <span className={styles.value}>{value}</span>}
      {asLink && <ChevronRightIcon className={styles.chevron} size={18} />}
    </>
  );
  if (asLink) return cloneElement(asLink, { className: face, children: content });
  if (!rest.onClick) return <div className={face}>{content}</div>;
  return (
    <button type="button" {...rest} className={face}>
      {content}
    </button>
  );
}

/** A hairline; with `text` it is the line that carries a date or a heading. */
export function Divider({ text }: { text?: string }) {
  if (!text) return <hr className={styles.line} />;
  return (
    <div className={styles.titled}>
      <span className={styles.dividerText}>{text}</span>
    </div>
  );
}
