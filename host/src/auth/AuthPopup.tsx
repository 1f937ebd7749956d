import { paths } from '@liaozhai/shared/contract';
import { meantLogin, meantPassword, SESSION_EXPIRED } from '@liaozhai/shared/format';
import { type LoginMode, RemoteSlot, session, toast, useExpiredSession } from '@liaozhai/shared/runtime';
import { Button, Dialog, Sheet, Skeleton, TextArea, useModule } from '@liaozhai/shared/ui';
import { type FocusEvent, useEffect, useState } from 'react';
import { useNavigation } from '../navigation';
import { type LegalKind, LoginForm, RegisterForm } from './AuthForms';
import styles from './AuthPopup.module.css';
import { type AuthForm, type AuthMode, initialForm, loginForm, registerForm } from './authFormState';
import { useConfirmationElsewhere, useResend } from './confirmation';
import { InviteGreeting } from './invites';
import { useLogin, useRegistration } from './signIn';
import { texts } from './texts';

export { followInvites } from './invites';

interface AuthPopupProps {
  open: boolean;
  mode: LoginMode;
  onClose: (signedIn: boolean) => void;
}

const loadPasswordReset = () => import(/* webpackChunkName: "passwordReset" */ './passwordReset');

const titles: Record<AuthMode, string> = {
  invite: texts.invite.title,
  register: texts.register.title,
  login: texts.login.title,
  'confirm-email': texts.confirmEmail.title,
};

/** Login and registration over everything else. Mounted for each opening. */
export default function AuthPopup({ open, mode: initialMode, onClose }: AuthPopupProps) {
  const navigation = useNavigation();
  const expiredSession = useExpiredSession();
  const [form, setForm] = useState(() => initialForm(initialMode, expiredSession?.login));
  const change = (changes: Partial<AuthForm>) => setForm((last) => ({ ...last, ...changes }));
  // normalised values: they are sent, and the fields show them after a submit
  const normalisedForm = { ...form, login: meantLogin(form.login), password: meantPassword(form.password) };
  const showNormalisedForm = () => change({ login: normalisedForm.login, password: normalisedForm.password });
  const onConfirmationNeeded = () => change({ mode: 'confirm-email', password: '' });
  const registration = useRegistration(normalisedForm, {
    onConfirmationNeeded,
    onDone() {
      onClose(true);
      if (normalisedForm.password !== form.generatedPassword) return;
      const action = { label: texts.changePassword.action, run: () => navigation.push(paths.profile()) };
      toast(texts.changePassword.text, { action, durationMs: 8000, isPersonal: true });
    },
  });
  const login = useLogin(normalisedForm, { onConfirmationNeeded, onDone: () => onClose(true) });
  const [wantsReset, setWantsReset] = useState(false);
  const resetModule = useModule(loadPasswordReset, wantsReset, () => {
    setWantsReset(false);
    toast(texts.forgot.unreachable, { kind: 'error' });
  });
  // not if the user has switched to another form while the code was loading
  const reset = wantsReset && form.mode === 'login' ? resetModule : null;
  const isBusy = registration.busy || login.busy;
  useSignedInElsewhere(open && !isBusy && !registration.uncopiedText, () => onClose(true));

  const [legalKind, setLegalKind] = useState<LegalKind | null>(null);
  const toLogin = () => setForm(loginForm(form.gender, expiredSession?.login));
  const toRegister = () => {
    setWantsReset(false);
    setForm(registerForm(form.gender));
  };
  const leaveReset = () => {
    setWantsReset(false);
    change({ password: '' });
  };
  const props = { form, onChange: change };
  const submitProps = ({ onSubmit }: { onSubmit: () => unknown }) => ({
    onSubmit() {
      showNormalisedForm();
      onSubmit();
    },
  });
  return (
    <>
      <Sheet
        open={open}
        onClose={() => onClose(false)}
        title={reset ? texts.forgot.title : titles[form.mode]}
        uncloseable={isBusy}
      >
        {expiredSession && form.mode === 'register' && <ExpiredNotice onLogin={toLogin} />}
        {form.mode === 'invite' && (
          <InviteGreeting onAccept={() => change({ mode: 'register' })} onClose={() => onClose(false)} />
        )}
        {form.mode === 'register' && (
          <RegisterForm
            {...props}
            {...registration}
            {...submitProps(registration)}
            onSwitch={toLogin}
            onRead={setLegalKind}
          />
        )}
        {form.mode === 'login' && !reset && (
          <LoginForm
            {...props}
            {...login}
            {...submitProps(login)}
            onSwitch={toRegister}
            isResetLoading={wantsReset}
            onForgot={() => setWantsReset(true)}
          />
        )}
        {form.mode === 'confirm-email' && <ConfirmEmail email={form.login} onReturn={toLogin} />}
        {reset && <reset.ForgotPassword login={form.login} onReturn={leaveReset} />}
      </Sheet>
      <LegalSheet kind={legalKind} onClose={() => setLegalKind(null)} />
      <CredentialsDialog credentials={registration.uncopiedText} onCopied={registration.onCopied} />
    </>
  );
}

/** Detects a sign-in or confirmation in another tab, including one that happened while the popup was loading. */
function useSignedInElsewhere(isWaiting: boolean, onSignedIn: () => void) {
  useEffect(() => {
    if (!isWaiting) return undefined;
    if (session.current().status === 'member') return void onSignedIn();
    return session.onUserChanged((_, id) => id && onSignedIn());
  }, [isWaiting, onSignedIn]);
}

/** Offers the login above the registration: a user with an expired session needs no new account. */
function ExpiredNotice({ onLogin }: { onLogin: () => void }) {
  return (
    <div className={styles.expired}>
      <p>{SESSION_EXPIRED}</p>
      <Button small onClick={onLogin}>
        {texts.login.submit}
      </Button>
    </div>
  );
}

function LegalSheet({ kind, onClose }: { kind: LegalKind | null; onClose: () => void }) {
  // keeps the text while the sheet slides out
  const [lastKind, setLastKind] = useState(kind);
  if (kind && kind !== lastKind) setLastKind(kind);
  return (
    <Sheet
      open={kind !== null}
      onClose={onClose}
      title={lastKind ? texts.consent[lastKind] : ''}
      footer={
        <Button block onClick={onClose}>
          {texts.consent.close}
        </Button>
      }
    >
      {lastKind && <RemoteSlot name="legal" document={lastKind} waiting={<Skeleton shape="text" count={8} />} />}
    </Sheet>
  );
}

function ConfirmEmail({ email, onReturn }: { email: string; onReturn: () => void }) {
  const words = texts.confirmEmail;
  const { busy, secondsLeft, resend, label } = useResend();
  useConfirmationElsewhere();
  return (
    <div className={styles.form}>
      <p className={styles.text}>{email ? words.sentTo(email) : words.sent}</p>
      <p className={styles.note}>{words.anywhere}</p>
      <p className={styles.note}>{words.notFound}</p>
      <Button block loading={busy} disabled={secondsLeft > 0} onClick={resend}>
        {label}
      </Button>
      <Button variant="quiet" block onClick={onReturn}>
        {words.toLogin}
      </Button>
    </div>
  );
}

/** Shows credentials, as text, that the clipboard refused; null if none. Only its button closes it, so that they are not lost. */
export function CredentialsDialog(props: { credentials: string | null; onCopied: () => void }) {
  const { credentials, onCopied } = props;
  return (
    <Dialog
      open={credentials !== null}
      title={texts.credentials.copyFailed}
      confirmLabel={texts.credentials.copiedByHand}
      onConfirm={onCopied}
      uncloseable
    >
      <TextArea
        label={texts.credentials.copyByHand}
        value={credentials ?? ''}
        readOnly
        rows={2}
        onFocus={selectOnceOpen}
      />
    </Dialog>
  );
}

/** Selects a frame later: the dialog focuses the box while opening, and WebKit 2.44 (Safari 17) would then draw it empty. */
function selectOnceOpen({ target }: FocusEvent<HTMLTextAreaElement>) {
  requestAnimationFrame(() => target.select());
}
