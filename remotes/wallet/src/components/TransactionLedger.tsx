import { groupByDay } from '@liaozhai/shared/format';
import { useShanghaiDay } from '@liaozhai/shared/ui';
import type { Transaction } from '../model';
import styles from './TransactionLedger.module.css';
import { TransactionRow } from './TransactionRow';

/** Bookings by Shanghai day; the day's name stays in sight while its rows pass. */
export function TransactionLedger({ transactions }: { transactions: Transaction[] }) {
  // the key of a day, read as an instant, lies within that day
  const today = useShanghaiDay();
  const days = groupByDay(transactions, (transaction) => transaction.createdAt, today);
  return days.map((day) => (
    <section key={day.key} aria-label={day.title} className={styles.day}>
      <h2 className={styles.heading}>{day.title}</h2>
      <ul className={styles.rows}>
        {day.items.map((transaction) => (
          <TransactionRow key={transaction.id} transaction={transaction} />
        ))}
      </ul>
    </section>
  ));
}
