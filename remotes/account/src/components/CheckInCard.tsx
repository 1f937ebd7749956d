import { toProductRules } from '@liaozhai/shared/format';
import { hostConfig, isApiError, newClientId, requestLogin, session, type User } from '@liaozhai/shared/runtime';
import { Button, Card, CheckIcon, CheckInIcon, ChevronDownIcon, VisuallyHidden } from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { useRef, useState } from 'react';
import { useAccountCheckInMutation } from '../api';
import { type CalendarDay, type CheckIn, calendarDays, nextReward, type Streak } from '../model';
import { texts } from '../texts';
import { toastFailure } from './actions';
import styles from './CheckInCard.module.css';

/** Whether it has been done despite the error, now or before. Without a connection the reader does not wait for the answer. */
async function isDoneDespite(error: unknown): Promise<boolean> {
  const kind = isApiError(error) ? error.kind : 'unauthenticated';
  const refreshed = kind === 'unauthenticated' ? undefined : session.refresh();
  if (kind !== 'offline' && kind !== 'timeout') await refreshed;
  const current = session.current();
  return current.status === 'member' && current.user.checkedInToday === true;
}

/** Whether the user signs in again at the popup that the expired session has opened. */
async function signsInAgain(userId: string): Promise<boolean> {
  if (session.isUnkept() || !(await requestLogin())) return false;
  const current = session.current();
  return current.status === 'member' && current.user.id === userId;
}

/** Sends one request at a time. A repeated attempt has the same idempotency key, so that its award is not lost. */
function useCheckIn(today: string, userId: string) {
  const [checkIn] = useAccountCheckInMutation();
  const [isLoading, setLoading] = useState(false);
  const [result, setResult] = useState<CheckIn | null>(null);
  const isRunning = useRef(false);
  const attempt = useRef({ day: '', key: '' });
  const run = async () => {
    if (isRunning.current) return;
    isRunning.current = true;
    setLoading(true);
    if (attempt.current.day !== today) attempt.current = { day: today, key: newClientId() };
    const { key } = attempt.current;
    let { data, error } = await checkIn(key);
    // a tap that finds the session expired counts once the same user has signed in again
    if (isApiError(error) && error.kind === 'unauthenticated' && (await signsInAgain(userId)))
      ({ data, error } = await checkIn(key));
    if (data) setResult(data);
    else if (!(await isDoneDespite(error))) toastFailure(error);
    isRunning.current = false;
    setLoading(false);
  };
  return { run, isLoading, result };
}

function resultText({ awarded, streak }: CheckIn): string {
  if (awarded === 0) return texts.checkIn.alreadyDone;
  return awarded === undefined || streak === undefined ? '' : texts.checkIn.awarded(awarded, streak);
}

export function CheckInCard({ user, today }: { user: User; today: string }) {
  const { run, isLoading, result } = useCheckIn(today, user.id);
  const [isMonth, setMonth] = useState(false);
  const streak: Streak = {
    today,
    isCheckedInToday: user.checkedInToday === true,
    length: user.checkInStreak ?? 0,
    rewards: toProductRules(hostConfig().rules).checkInRewards,
  };
  const reward = nextReward(streak);
  const doneText = reward === undefined ? texts.checkIn.done : texts.checkIn.doneTomorrow(reward);
  const hasStreak = user.checkInStreak !== undefined;
  // reserves the space of the week while the streak loads, so that nothing moves
  const isStreakLoading = !hasStreak && user.isWhole === false;
  return (
    <Card aria-label={texts.checkIn.title}>
      {hasStreak ? (
        <div className={styles.head}>
          <h2 className={styles.title}>{texts.checkIn.title}</h2>
          <button type="button" className={styles.streak} aria-expanded={isMonth} onClick={() => setMonth(!isMonth)}>
            <span>{texts.checkIn.streak(streak.length)}</span>
            <VisuallyHidden>{texts.checkIn.wholeMonth}</VisuallyHidden>
            <ChevronDownIcon className={styles.chevron} size={18} />
          </button>
        </div>
      ) : (
        <div className={isStreakLoading ? styles.head : undefined}>
          <h2 className={styles.title}>{texts.checkIn.title}</h2>
        </div>
      )}
      {hasStreak && <StreakCalendar streak={streak} span={isMonth ? 'month' : 'week'} />}
      {isStreakLoading && <StreakCalendar streak={{ ...streak, rewards: [] }} span="week" />}
      {streak.isCheckedInToday ? (
        <p className={styles.done}>
          <CheckInIcon size={20} />
          <span>{doneText}</span>
        </p>
      ) : (
        <Button
          block
          className={styles.button}
          loading={isLoading}
          // the device does not store whether today's check-in is done
          disabled={user.checkedInToday === undefined && user.isWhole === false}
          onClick={() => void run()}
        >
          {reward === undefined || !hasStreak ? texts.checkIn.action : texts.checkIn.actionFor(reward)}
        </Button>
      )}
      <p className={styles.result} role="status">
        {result?.date === today && streak.isCheckedInToday ? resultText(result) : ''}
      </p>
    </Card>
  );
}

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
      className={clsx(styles.day, day.isCheckedIn && styles.streakCalendarDone, day.isToday && styles.today)}
      // column of the first day, which offsets the row of weekdays
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

function StreakCalendar({ streak, span }: { streak: Streak; span: 'week' | 'month' }) {
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
