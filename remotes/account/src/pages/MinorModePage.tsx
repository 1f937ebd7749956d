import { formatMoment, MINUTE_MS, meantPassword, SECOND_MS, serverNow } from '@liaozhai/shared/format';
import {
  hostConfig,
  type MinorDto,
  onMinorModeRefusal,
  paths,
  retryPolicy,
  session,
  toast,
  type User,
  useGoBack,
  useUser,
} from '@liaozhai/shared/runtime';
import {
  Button,
  Card,
  Dialog,
  InkDrawing,
  listenTo,
  PasswordField,
  QueryView,
  stopAll,
  TopBar,
  useCountdown,
  useModalDialog,
} from '@liaozhai/shared/ui';
import { type ComponentProps, type FormEvent, useEffect, useEffectEvent, useRef, useState } from 'react';
import { useAccountChangeMinorMutation, useAccountGetMinorQuery } from '../api';
import { minorTexts } from '../components/minorTexts';
import { toastFailure } from '../components/refusal';
import { useServerForm } from '../components/serverForm';
import { countdown, type MinorChange } from '../model';
import { texts } from '../texts';
import styles from './MinorModePage.module.css';

type Status = NonNullable<User['minor']>;

/** Turns the mode on and off with the guardian's PIN. */
export default function MinorModePage() {
  const goBack = useGoBack(paths.my());
  const query = useAccountGetMinorQuery();
  const status = useUser()?.minor;
  return (
    <>
      <TopBar title={minorTexts.title} onBack={goBack} />
      <div className={styles.page}>
        <QueryView query={query}>
          {(minor) => (status ? <TurnOff minor={minor} status={status} /> : <TurnOn minor={minor} />)}
        </QueryView>
      </div>
    </>
  );
}

function RuleList({ rules }: Pick<MinorDto, 'rules'>) {
  if (!rules) return null;
  return (
    <ul className={styles.rules}>
      {minorTexts.rules(rules.from, rules.to, rules.minutes_a_day).map((rule) => (
        <li key={rule}>{rule}</li>
      ))}
    </ul>
  );
}

const pinProblem = (pin: string) => (/^\d{4}$/.test(pin) ? undefined : minorTexts.pinWrong);

/** Sends one change at a time. A refusal shows at its field, otherwise in a toast. */
function useChange(handleFailure: (error: unknown) => void) {
  const [change, { isLoading }] = useAccountChangeMinorMutation();
  const run = async (requestedChange: MinorChange): Promise<Partial<MinorDto> | undefined> => {
    if (isLoading) return undefined;
    const { data, error } = await change(requestedChange);
    if (error) handleFailure(error);
    return data;
  };
  return [run, isLoading] as const;
}

const digitsOf = (typed: string) => typed.normalize('NFKC').replace(/\D/g, '');

/** Field for four digits, with a numeric keyboard. */
const PinField = (props: ComponentProps<typeof PasswordField>) => (
  <PasswordField {...props} inputMode="numeric" autoComplete="off" maxLength={4} />
);

function TurnOn({ minor }: { minor: MinorDto }) {
  const { formRef, values, field, showErrors, handleFailure } = useServerForm({ pin: '', again: '' });
  const [run, isBusy] = useChange(handleFailure);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const { pin, again } = values;
    const mismatch = pin === again ? undefined : minorTexts.mismatch;
    if (showErrors({ pin: pinProblem(pin), again: mismatch })) return;
    if (await run({ kind: 'on', pin })) toast(minorTexts.turnedOn, { kind: 'success' });
  };
  return (
    <form ref={formRef} className={styles.form} onSubmit={submit} aria-label={minorTexts.title} noValidate>
      <p>{minorTexts.about}</p>
      <RuleList rules={minor.rules} />
      <PinField {...field('pin', digitsOf)} label={minorTexts.newPin} hint={minorTexts.pinRule} />
      <PinField {...field('again', digitsOf)} label={minorTexts.pinAgain} />
      <Button type="submit" block loading={isBusy}>
        {minorTexts.turnOn}
      </Button>
    </form>
  );
}

function TurnOff({ minor, status }: { minor: MinorDto; status: Status }) {
  const { rules } = minor;
  const remainingSeconds = useRemainingSeconds(status);
  return (
    <>
      <Card>
        <p className={styles.label}>{minorTexts.left}</p>
        <p className={styles.clock} role="timer">
          {status.seconds_left == null ? '—' : countdown(remainingSeconds)}
        </p>
        {rules && <p className={styles.label}>{minorTexts.hours(rules.from, rules.to, rules.minutes_a_day)}</p>}
      </Card>
      <UnlockForm label={minorTexts.turnOff} change={{ kind: 'off', done: minorTexts.turnedOff }} />
      <Reset status={status} />
    </>
  );
}

interface UnlockFormProps {
  /** Text of the submit button. */
  label: string;
  change: { kind: 'off' | 'extend'; done?: string };
}

/** A change that requires the guardian's PIN. */
function UnlockForm({ label, change }: UnlockFormProps) {
  const { formRef, values, field, showErrors, reset, handleFailure } = useServerForm({ pin: '' });
  const [run, isBusy] = useChange(handleFailure);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (showErrors({ pin: pinProblem(values.pin) })) return;
    const result = await run({ kind: change.kind, pin: values.pin });
    reset();
    if (result && change.done) toast(change.done, { kind: 'success' });
  };
  return (
    <form ref={formRef} className={styles.form} onSubmit={submit} aria-label={label} noValidate>
      <PinField {...field('pin', digitsOf)} label={minorTexts.guardian} />
      <Button type="submit" block loading={isBusy}>
        {label}
      </Button>
    </form>
  );
}

/** Turns the mode off with the account's password if the PIN is forgotten, a day after the request. */
function Reset({ status }: { status: Status }) {
  const { formRef, values, field, reset, handleFailure } = useServerForm({ password: '' });
  const { password } = values;
  const [run, isBusy] = useChange(handleFailure);
  const resetAt = status.reset_at ? Date.parse(status.reset_at) : null;
  const isReady = resetAt !== null && resetAt <= serverNow();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const result = await run({ kind: 'reset', password: meantPassword(password) });
    if (!result) return;
    reset();
    if (result.on === false) toast(minorTexts.turnedOff, { kind: 'success' });
  };
  const resetNote =
    status.reset_at &&
    (isReady ? minorTexts.resetReady : minorTexts.resetAsked(formatMoment(status.reset_at, serverNow())));
  return (
    <details className={styles.reset}>
      <summary className={styles.forgotten}>{minorTexts.forgotten}</summary>
      <form ref={formRef} className={styles.form} onSubmit={submit} aria-label={minorTexts.forgotten} noValidate>
        <p className={styles.about}>{resetNote || minorTexts.resetAbout}</p>
        {(isReady || resetAt === null) && (
          <>
            <PasswordField {...field('password')} label={minorTexts.password} autoComplete="current-password" />
            <Button type="submit" variant="quiet" block loading={isBusy} disabled={password === ''}>
              {isReady ? minorTexts.resetNow : minorTexts.ask}
            </Button>
          </>
        )}
        <p className={styles.about}>{minorTexts.support(hostConfig().support.email)}</p>
      </form>
    </details>
  );
}

const REPORT_INTERVAL_MS = MINUTE_MS;
const WARN_SECONDS = 300;

/** Counts down from the last value of the server. */
function useRemainingSeconds(status: Status): number {
  const serverSeconds = status.seconds_left ?? 0;
  const [remainingSeconds, start] = useCountdown(() => serverSeconds);
  const [lastStatus, setLastStatus] = useState(status);
  if (lastStatus !== status) {
    setLastStatus(status);
    start(serverSeconds);
  }
  return remainingSeconds;
}

/** Reports every minute that the page is visible, and fetches the state whenever it may have changed. */
function useUsageReports(status: Status, remainingSeconds: number) {
  const [reportUse] = useAccountChangeMinorMutation();
  const report = useEffectEvent(() => {
    if (document.visibilityState === 'visible') void reportUse({ kind: 'use' });
  });
  useEffect(() => {
    report();
    const reportNow = () => report();
    const timer = setInterval(reportNow, REPORT_INTERVAL_MS);
    return stopAll(
      () => clearInterval(timer),
      listenTo(document, ['visibilitychange'], reportNow),
      // after a refusal the page's state may be outdated: another device may have used up the time
      onMinorModeRefusal(reportNow),
    );
  }, []);
  const isOver = remainingSeconds === 0 && !status.blocked;
  useEffect(() => {
    if (isOver) report();
  }, [isOver]);
  const resumesAt = status.resumes_at ? Date.parse(status.resumes_at) : null;
  useEffect(() => {
    if (resumesAt === null) return undefined;
    return retryPolicy.after(Math.max(0, resumesAt - serverNow()) + SECOND_MS, () => report());
  }, [resumesAt]);
}

function useWarning(remainingSeconds: number) {
  const hasWarned = useRef(false);
  const isNearlyOver = remainingSeconds > 0 && remainingSeconds <= WARN_SECONDS;
  useEffect(() => {
    if (isNearlyOver && !hasWarned.current) toast(minorTexts.fewLeft(WARN_SECONDS / 60));
    hasWarned.current = isNearlyOver;
  }, [isNearlyOver]);
}

/** Shown above all screens while the mode is on: blocks the app outside the allowed time, and the page to buy points always. */
export function MinorGuard({ pathname }: { pathname: string }) {
  const status = useUser()?.minor;
  return status ? <Guard status={status} pathname={pathname} /> : null;
}

function Guard({ status, pathname }: { status: Status; pathname: string }) {
  const remainingSeconds = useRemainingSeconds(status);
  useUsageReports(status, remainingSeconds);
  useWarning(remainingSeconds);
  const goBack = useGoBack(paths.my());
  return (
    <>
      <Blocked status={status} />
      <Dialog
        open={!status.blocked && pathname === paths.recharge()}
        title={minorTexts.noRecharge}
        confirmLabel={minorTexts.understood}
        onConfirm={goBack}
      >
        {minorTexts.noRechargeAbout}
      </Dialog>
    </>
  );
}

/** Blocks the whole app; the guardian's PIN extends the time, and another user can sign in. */
function Blocked({ status }: { status: Status }) {
  const reason = status.blocked === 'night' ? 'night' : 'limit';
  const isOpen = Boolean(status.blocked);
  const dialog = useModalDialog({ open: isOpen, uncloseable: true });
  const { rules } = status;
  return (
    <dialog {...dialog} className={styles.blocked} aria-labelledby="minor-blocked">
      {isOpen && (
        <div className={styles.panel}>
          <InkDrawing name="moon" />
          <h1 id="minor-blocked" className={styles.title}>
            {minorTexts.blocked[reason]}
          </h1>
          {rules && (
            <p>
              {reason === 'night'
                ? minorTexts.blockedFor.night(rules.from, rules.to)
                : minorTexts.blockedFor.limit(rules.minutes_a_day)}
            </p>
          )}
          {status.resumes_at && <p>{minorTexts.resumes(formatMoment(status.resumes_at, serverNow()))}</p>}
          <UnlockForm label={minorTexts.extend(rules?.extension_minutes)} change={{ kind: 'extend' }} />
          <Reset status={status} />
          <Button variant="quiet" block onClick={() => void signOut()}>
            {texts.signOut.action}
          </Button>
        </div>
      )}
    </dialog>
  );
}

async function signOut() {
  try {
    await session.signOut();
  } catch (cause) {
    toastFailure(cause, texts.signOut.failed);
  }
}
