import { CheckIcon, VisuallyHidden } from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { type CalendarDay, calendarDays, type Streak } from '../model/streak';
import { texts } from '../texts';
import styles from './StreakCalendar.module.css';

function describe(day: CalendarDay): string {
  const parts = [
    texts.checkIn.dayLabel(day.key),
    day.isToday && texts.checkIn.dayToday,
    day.isCheckedIn && texts.checkIn.dayDone,
    day.reward !== undefined && texts.checkIn.dayReward(day.reward),
  ];
  return parts.filter((part) => part !== false).join('，');
}

function DayCell({ day, first }: { day: CalendarDay; first: boolean }) {
  return (
    <li
      className={clsx(styles.day, day.isCheckedIn && styles.done, day.isToday && styles.today)}
      // an offset into the row of weekdays; only the first day of a month needs one
      data-column={first ? day.weekday + 1 : undefined}
      aria-current={day.isToday ? 'date' : undefined}
    >
      <VisuallyHidden>{describe(day)}</VisuallyHidden>
      <span className={styles.mark} aria-hidden="true">
        {day.isCheckedIn ? <CheckIcon size={18} /> : day.dayOfMonth}
      </span>
      <span className={styles.reward} aria-hidden="true">
        {day.reward !== undefined && texts.checkIn.reward(day.reward)}
      </span>
    </li>
  );
}

/** Days of the running streak marked, and what the coming ones bring. */
export function StreakCalendar({ streak, span }: { streak: Streak; span: 'week' | 'month' }) {
  return (
    <div className={styles.calendar}>
      <div className={styles.weekdays} aria-hidden="true">
        {texts.checkIn.weekdays.map((weekday) => (
          <span key={weekday}>{weekday}</span>
        ))}
      </div>
      <ol
        className={clsx(styles.days, span === 'week' && styles.week)}
        aria-label={span === 'week' ? texts.checkIn.week : texts.checkIn.month(streak.today)}
      >
        {calendarDays(streak, span).map((day, index) => (
          <DayCell key={day.key} day={day} first={index === 0} />
        ))}
      </ol>
    </div>
  );
}
