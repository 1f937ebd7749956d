import { formatMoment, MINUTE_MS, meantPassword, SECOND_MS, serverNow } from '@liaozhai/shared/format';
import {
  hostConfig,
  type MinorDto,
  onMinorModeRefusal,
  paths,
  retryPolicy,
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
import { type ComponentProps, useEffect, useEffectEvent, useRef, useState, useTransition } from 'react';
import { useAccountChangeMinorMutation, useAccountGetMinorQuery } from '../api';
import { signOut, toastFailure } from '../components/actions';
import { minorTexts } from '../components/minorTexts';
import { useLastUser, useServerForm } from '../components/serverForm';
import { countdown } from '../model';
import { texts } from '../texts';
import styles from './MinorModePage.module.css';

type Status = NonNullable<User['minor']>;

/** Turns the mode on and off with the guardian's PIN. */
export default function MinorModePage() {
  const goBack = useGoBack(paths.my());
  const query = useAccountGetMinorQuery();
  const status = useLastUser()?.minor;
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

const pinProblem = (pin: string) => (/^\d{4}$/.test(pin) ? undefined : minorTexts.pinWrong);

const digitsOf = (typed: string) => typed.normalize('NFKC').replace(/\D/g, '');

/** Field for four digits, with a numeric keyboard. */
const PinField = (props: ComponentProps<typeof PasswordField>) => (
  <PasswordField {...props} inputMode="numeric" autoComplete="off" maxLength={4} />
);

/** Says that the mode is now on or off. An answer that says the opposite is a failure; one without a state confirms. */
function sayWhetherOn(wanted: boolean, { on }: Partial<MinorDto> = {}) {
  if ((on ?? wanted) !== wanted) toastFailure({ kind: 'server', status: 200 });
  else toast(wanted ? minorTexts.turnedOn : minorTexts.turnedOff, { kind: 'success' });
}

function TurnOn({ minor: { rules } }: { minor: MinorDto }) {
  const [change] = useAccountChangeMinorMutation();
  const { form, field, isSending } = useServerForm({
    initialValues: { pin: '', again: '' },
    problemsOf: ({ pin, again }) => ({
      pin: pinProblem(pin),
      again: pin === again ? undefined : minorTexts.mismatch,
    }),
    send: ({ pin }) => change({ kind: 'on', pin }),
    onSent: (minor) => sayWhetherOn(true, minor),
  });
  return (
    <form {...form} className={styles.form} aria-label={minorTexts.title}>
      <p>{minorTexts.about}</p>
      {rules && (
        <ul className={styles.rules}>
          {minorTexts.rules(rules.from, rules.to, rules.minutes_a_day).map((rule) => (
            <li key={rule}>{rule}</li>
          ))}
        </ul>
      )}
      <PinField {...field('pin', digitsOf)} label={minorTexts.newPin} hint={minorTexts.pinRule} />
      <PinField {...field('again', digitsOf)} label={minorTexts.pinAgain} />
      <Button type="submit" block loading={isSending}>
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
      <UnlockForm label={minorTexts.turnOff} kind="off" />
      <Reset status={status} />
    </>
  );
}

/** A change that requires the guardian's PIN. `label` is the text of the submit button. */
function UnlockForm({ label, kind }: { label: string; kind: 'off' | 'extend' }) {
  const [change] = useAccountChangeMinorMutation();
  const { form, field, isSending } = useServerForm({
    initialValues: { pin: '' },
    problemsOf: ({ pin }) => ({ pin: pinProblem(pin) }),
    send: ({ pin }) => change({ kind, pin }),
    onSent: (minor) => kind === 'off' && sayWhetherOn(false, minor),
    emptiedByRefusal: true,
  });
  return (
    <form {...form} className={styles.form} aria-label={label}>
      <PinField {...field('pin', digitsOf)} label={minorTexts.guardian} />
      <Button type="submit" block loading={isSending}>
        {label}
      </Button>
    </form>
  );
}

/** Turns the mode off with the account's password if the PIN is forgotten, a day after the request. */
function Reset({ status }: { status: Status }) {
  const [change] = useAccountChangeMinorMutation();
  const { form, values, field, isSending } = useServerForm({
    initialValues: { password: '' },
    send: ({ password }) => change({ kind: 'reset', password: meantPassword(password) }),
    onSent: (minor) => minor?.on === false && sayWhetherOn(false, minor),
  });
  const resetAt = status.reset_at ? Date.parse(status.reset_at) : null;
  const isReady = resetAt !== null && resetAt <= serverNow();
  const resetNote =
    status.reset_at &&
    (isReady ? minorTexts.resetReady : minorTexts.resetAsked(formatMoment(status.reset_at, serverNow())));
  return (
    <details className={styles.reset}>
      <summary className={styles.forgotten}>{minorTexts.forgotten}</summary>
      <form {...form} className={styles.form} aria-label={minorTexts.forgotten}>
        <p className={styles.about}>{resetNote || minorTexts.resetAbout}</p>
        {(isReady || resetAt === null) && (
          <>
            <PasswordField {...field('password')} label={minorTexts.password} autoComplete="current-password" />
            <Button type="submit" variant="quiet" block loading={isSending} disabled={values.password === ''}>
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
  const [isSigningOut, start] = useTransition();
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
          <UnlockForm label={minorTexts.extend(rules?.extension_minutes)} kind="extend" />
          <Reset status={status} />
          <Button variant="quiet" block loading={isSigningOut} onClick={() => start(signOut)}>
            {texts.signOut.action}
          </Button>
        </div>
      )}
    </dialog>
  );
}
