import { failureText } from '@liaozhai/shared/format';
import { hostConfig, newClientId, toast, type User } from '@liaozhai/shared/runtime';
import { Button, Card, CheckInIcon, ChevronDownIcon, VisuallyHidden } from '@liaozhai/shared/ui';
import { useRef, useState } from 'react';
import { useAccountCheckInMutation } from '../api';
import type { CheckIn } from '../model';
import { toProductRules } from '../model/productRules';
import { nextReward, type Streak } from '../model/streak';
import { texts } from '../texts';
import styles from './CheckInCard.module.css';
import { StreakCalendar } from './StreakCalendar';

/** Checks in once however often it is called at a time; a repeated attempt carries the same key, so its award is not lost. */
function useCheckIn(today: string) {
  const [checkIn, { isLoading }] = useAccountCheckInMutation();
  const [result, setResult] = useState<CheckIn | null>(null);
  const running = useRef(false);
  const attempt = useRef({ day: '', key: '' });
  const run = async () => {
    if (running.current) return;
    running.current = true;
    if (attempt.current.day !== today) attempt.current = { day: today, key: newClientId() };
    const answer = await checkIn(attempt.current.key);
    running.current = false;
    if (answer.data) return setResult(answer.data);
    const problem = failureText(answer.error);
    if (problem) toast(problem, { kind: 'error' });
  };
  return { run, isLoading, result };
}

function resultText({ awarded, streak }: CheckIn): string {
  return awarded > 0 ? texts.checkIn.awarded(awarded, streak) : texts.checkIn.alreadyDone;
}

/** Title, days in a row, and the way from this week to the whole month. */
function StreakHead({ streak, isMonth, onToggle }: { streak: Streak; isMonth: boolean; onToggle: () => void }) {
  return (
    <div className={styles.head}>
      <h2 className={styles.title}>{texts.checkIn.title}</h2>
      <button type="button" className={styles.streak} aria-expanded={isMonth} onClick={onToggle}>
        {texts.checkIn.streak(streak.length)}
        <VisuallyHidden>{texts.checkIn.wholeMonth}</VisuallyHidden>
        <ChevronDownIcon className={styles.chevron} size={18} />
      </button>
    </div>
  );
}

/** Daily check-in: the days in a row, what today brings, and the one button of the day. */
export function CheckInCard({ user, today }: { user: User; today: string }) {
  const { run, isLoading, result } = useCheckIn(today);
  const [isMonth, setMonth] = useState(false);
  const streak: Streak = {
    today,
    isCheckedInToday: user.checkedInToday === true,
    length: user.checkInStreak ?? 0,
    rewards: toProductRules(hostConfig().rules).checkInRewards,
  };
  const reward = nextReward(streak);
  const done = reward === undefined ? texts.checkIn.done : texts.checkIn.doneTomorrow(reward);
  const knowsStreak = user.checkInStreak !== undefined;
  // the week keeps its place meanwhile, so that nothing moves under a finger
  const awaitsStreak = !knowsStreak && user.isWhole === false;
  return (
    <Card aria-label={texts.checkIn.title}>
      {knowsStreak ? (
        <StreakHead streak={streak} isMonth={isMonth} onToggle={() => setMonth(!isMonth)} />
      ) : (
        <div className={awaitsStreak ? styles.head : undefined}>
          <h2 className={styles.title}>{texts.checkIn.title}</h2>
        </div>
      )}
      {knowsStreak && <StreakCalendar streak={streak} span={isMonth ? 'month' : 'week'} />}
      {awaitsStreak && <StreakCalendar streak={{ ...streak, rewards: [] }} span="week" />}
      {streak.isCheckedInToday ? (
        <p className={styles.done}>
          <CheckInIcon size={20} />
          {done}
        </p>
      ) : (
        <Button block className={styles.button} loading={isLoading} onClick={() => void run()}>
          {reward === undefined || !knowsStreak ? texts.checkIn.action : texts.checkIn.actionFor(reward)}
        </Button>
      )}
      <p className={styles.result} role="status">
        {result?.date === today && streak.isCheckedInToday ? resultText(result) : ''}
      </p>
    </Card>
  );
}
