import clsx from 'clsx';
import ChevronRightIcon from 'lucide-react/icons/chevron-right';
import { type ComponentProps, cloneElement, type ReactElement, type ReactNode } from 'react';
import styles from './Card.module.css';

/** A raised surface; `flush` removes the padding, for rows that have their own. */
export function Card({ flush, className, ...rest }: ComponentProps<'section'> & { flush?: boolean }) {
  return <section {...rest} className={clsx(styles.card, flush && styles.flush, className)} />;
}

export interface ListRowProps extends Omit<ComponentProps<'button'>, 'title' | 'value'> {
  title: ReactNode;
  icon?: ReactNode;
  detail?: ReactNode;
  /** Content at the end of the row: a value, a switch, a badge. */
  value?: ReactNode;
  asLink?: ReactElement<{ className?: string; children?: ReactNode }>;
}

/** A row that is a link (`asLink`, with an arrow), a button (`onClick`) or plain text. */
export function ListRow({ title, icon, detail, value, asLink, className, ...rest }: ListRowProps) {
  const classes = clsx(styles.row, (asLink || rest.onClick) && styles.pressable, className);
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
  if (asLink) return cloneElement(asLink, { className: classes, children: content });
  if (!rest.onClick) return <div className={classes}>{content}</div>;
  return (
    <button type="button" {...rest} className={classes}>
      {content}
    </button>
  );
}

/** A hairline; `text` puts a date or a heading in its middle. */
export function Divider({ text }: { text?: string }) {
  if (!text) return <hr className={styles.line} />;
  return (
    <div className={styles.titled}>
      <span className={styles.dividerText}>{text}</span>
    </div>
  );
}
