import { toastText } from '@liaozhai/shared/format';
import { hostConfig, newClientId, toast, type User } from '@liaozhai/shared/runtime';
import { Button, Card, CheckInIcon } from '@liaozhai/shared/ui';
import { useRef, useState } from 'react';
import { useAccountCheckInMutation } from '../api';
import { type CheckIn, nextReward, type Streak, toProductRules } from '../model';
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
    if (answer.data) setResult(answer.data);
    else toast(toastText(answer.error), { kind: 'error' });
  };
  return { run, isLoading, result };
}

function resultText({ awarded, streak }: CheckIn): string {
  return awarded > 0 ? texts.checkIn.awarded(awarded, streak) : texts.checkIn.alreadyDone;
}

/** Daily check-in: the days in a row, what today brings, and the one button of the day. */
export function CheckInCard({ user, today }: { user: User; today: string }) {
  const { run, isLoading, result } = useCheckIn(today);
  const streak: Streak = {
    today,
    isCheckedInToday: user.checkedInToday === true,
    length: user.checkInStreak ?? 0,
    rewards: toProductRules(hostConfig().rules).checkInRewards,
  };
  const reward = nextReward(streak);
  const done = reward === undefined ? texts.checkIn.done : texts.checkIn.doneTomorrow(reward);
  return (
    <Card aria-label={texts.checkIn.title}>
      <div className={styles.head}>
        <h2 className={styles.title}>{texts.checkIn.title}</h2>
        {user.checkInStreak !== undefined && <p className={styles.streak}>{texts.checkIn.streak(streak.length)}</p>}
      </div>
      {user.checkInStreak !== undefined && <StreakCalendar streak={streak} />}
      {streak.isCheckedInToday ? (
        <p className={styles.done}>
          <CheckInIcon size={20} />
          {done}
        </p>
      ) : (
        <Button block loading={isLoading} onClick={() => void run()}>
          {reward === undefined ? texts.checkIn.action : texts.checkIn.actionFor(reward)}
        </Button>
      )}
      <p className={styles.result} role="status">
        {result && streak.isCheckedInToday ? resultText(result) : ''}
      </p>
    </Card>
  );
}
