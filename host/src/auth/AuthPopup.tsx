import { paths } from '@liaozhai/shared/contract';
import { copiedCredentials, meantLogin, meantPassword, signUpGiftText } from '@liaozhai/shared/format';
import { hostConfig, type LoginMode, RemoteSlot, session, toast, useExpiredSession } from '@liaozhai/shared/runtime';
import {
  Button,
  Dialog,
  type FieldErrors,
  IconButton,
  PasswordField,
  RadioGroup,
  RefreshIcon,
  Sheet,
  Skeleton,
  TextArea,
  TextField,
} from '@liaozhai/shared/ui';
import {
  type ComponentType,
  type FocusEvent,
  Fragment,
  type MouseEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useState,
} from 'react';
import { useNavigation } from '../navigation';
import { usePage } from '../page';
import styles from './AuthPopup.module.css';
import { useConfirmationElsewhere, useResend } from './confirmation';
import { InviteGreeting, rewardsText, useInvitation } from './invites';
import type { Gender } from './nickname';
import { makeNickname, randomDigits } from './nickname';
import { useLogin, useRegistration } from './signIn';
import { texts } from './texts';

export { followInvites } from './invites';

export interface AuthPopupProps {
  open: boolean;
  mode: LoginMode;
  onClose: (signedIn: boolean) => void;
}

const titles: Record<AuthMode, string> = {
  invite: texts.invite.title,
  register: texts.register.title,
  login: texts.login.title,
  'confirm-email': texts.confirmEmail.title,
  forgot: texts.forgot.title,
};

/** Login and registration over everything else. Mounted for each opening. */
export default function AuthPopup({ open, mode: openedIn, onClose }: AuthPopupProps) {
  const navigation = useNavigation();
  const expired = useExpiredSession();
  const [form, setForm] = useState(() => openedForm(openedIn, expired?.login));
  const change = (changed: Partial<AuthForm>) => setForm((last) => ({ ...last, ...changed }));
  // what is sent is what the fields show from then on
  const meant = { ...form, login: meantLogin(form.login), password: meantPassword(form.password) };
  const showMeant = () => change({ login: meant.login, password: meant.password });
  const onConfirmationNeeded = () => change({ mode: 'confirm-email', password: '' });
  const registration = useRegistration(meant, {
    onConfirmationNeeded,
    onDone() {
      onClose(true);
      if (meant.password === form.generatedPassword) suggestNewPassword(() => navigation.push(paths.profile()));
    },
  });
  const login = useLogin(meant, { onConfirmationNeeded, onDone: () => onClose(true) });
  const [ForgotPassword, openForgotPassword] = useForgotPassword(() => change({ mode: 'forgot', password: '' }));
  const isBusy = registration.busy || login.busy;
  useSignedInElsewhere(open && !isBusy && !registration.uncopied, () => onClose(true));

  const [reading, setReading] = useState<LegalKind | null>(null);
  const toLogin = () => setForm(loginForm(form.gender, expired?.login));
  const toRegister = () => setForm(registerForm(form.gender));
  const common = { form, onChange: change };
  const submits = ({ onSubmit }: { onSubmit: () => unknown }) => ({
    onSubmit() {
      showMeant();
      onSubmit();
    },
  });
  return (
    <>
      <Sheet open={open} onClose={() => onClose(false)} title={titles[form.mode]} uncloseable={isBusy}>
        {expired && form.mode === 'register' && <ExpiredNotice onLogin={toLogin} />}
        {form.mode === 'invite' && (
          <InviteGreeting onAccept={() => change({ mode: 'register' })} onClose={() => onClose(false)} />
        )}
        {form.mode === 'register' && (
          <RegisterForm
            {...common}
            {...registration}
            {...submits(registration)}
            onSwitch={toLogin}
            onRead={setReading}
          />
        )}
        {form.mode === 'login' && (
          <LoginForm {...common} {...login} {...submits(login)} onSwitch={toRegister} onForgot={openForgotPassword} />
        )}
        {form.mode === 'confirm-email' && <ConfirmEmail email={form.login} onReturn={toLogin} />}
        {form.mode === 'forgot' && ForgotPassword && (
          <ForgotPassword login={form.login} onReturn={() => change({ mode: 'login' })} />
        )}
      </Sheet>
      <LegalSheet kind={reading} onClose={() => setReading(null)} />
      <CredentialsDialog credentials={registration.uncopied} onCopied={registration.onCopied} />
    </>
  );
}

function suggestNewPassword(goToProfile: () => void) {
  const { text, action } = texts.changePassword;
  toast(text, { action: { label: action, run: goToProfile }, durationMs: 8000, isPersonal: true });
}

type ForgotPasswordComponent = ComponentType<{ login: string; onReturn: () => void }>;

/** Code of its own, fetched by who asks for it; `onOpen` is called once it is there. */
function useForgotPassword(onOpen: () => void): [ForgotPasswordComponent | null, open: () => void] {
  const [loaded, setLoaded] = useState<{ ForgotPassword: ForgotPasswordComponent } | null>(null);
  const open = () =>
    void import(/* webpackChunkName: "passwordReset" */ './passwordReset').then(
      (module) => {
        setLoaded(module);
        onOpen();
      },
      () => toast(texts.forgot.unreachable, { kind: 'error' }),
    );
  return [loaded?.ForgotPassword ?? null, open];
}

/** The same visitor may sign in, or confirm the address, in another tab, also while this popup is still being fetched. */
function useSignedInElsewhere(waiting: boolean, onSignedIn: () => void) {
  useEffect(() => {
    if (!waiting) return undefined;
    if (session.current().status === 'member') return void onSignedIn();
    return session.onUserChanged((_, id) => id && onSignedIn());
  }, [waiting, onSignedIn]);
}

type AuthMode = 'invite' | 'register' | 'login' | 'confirm-email' | 'forgot';

export interface AuthForm {
  mode: AuthMode;
  gender: Gender;
  name: string;
  login: string;
  password: string;
  passwordVisible: boolean;
  /** The password we made up for this form; the visitor may have typed their own over it. */
  generatedPassword: string | null;
}

const usernameDigits = 8;
const passwordDigits = 6;

/** Prefilled with generated values; the password shows, since the visitor is asked to take a screenshot. */
function registerForm(gender: Gender): AuthForm {
  const password = randomDigits(passwordDigits);
  return {
    mode: 'register',
    gender,
    name: makeNickname(gender),
    login: `a${randomDigits(usernameDigits)}`,
    password,
    passwordVisible: true,
    generatedPassword: password,
  };
}

const loginForm = (gender: Gender, login = ''): AuthForm => ({
  mode: 'login',
  gender,
  name: '',
  login,
  password: '',
  passwordVisible: false,
  generatedPassword: null,
});

function openedForm(mode: LoginMode, login?: string): AuthForm {
  if (mode === 'login') return loginForm('male', login);
  return { ...registerForm('male'), mode };
}

/** Above the registration that a 401 opens: whose session has run out needs no new account. */
function ExpiredNotice({ onLogin }: { onLogin: () => void }) {
  return (
    <div className={styles.expired}>
      <p>{texts.expired}</p>
      <Button small onClick={onLogin}>
        {texts.login.submit}
      </Button>
    </div>
  );
}

interface AuthFormProps {
  form: AuthForm;
  busy: boolean;
  formRef: RefObject<HTMLFormElement | null>;
  errors: FieldErrors;
  onChange: (change: Partial<AuthForm>) => void;
  clearErrors: (...fields: string[]) => void;
  onSubmit: () => void;
  onSwitch: () => void;
}

function Form({ formRef, onSubmit, children }: Pick<AuthFormProps, 'formRef' | 'onSubmit'> & { children: ReactNode }) {
  return (
    <form
      ref={formRef}
      className={styles.form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}

interface RegisterFormProps extends AuthFormProps {
  inviteCode: string | null;
  onRead: (kind: LegalKind) => void;
}

function RegisterForm(props: RegisterFormProps) {
  const { form, formRef, busy, errors, clearErrors, onChange, onSubmit, onSwitch, inviteCode, onRead } = props;
  const invitation = useInvitation(inviteCode);
  const gift = signUpGiftText(hostConfig().rules);
  const renew = (gender: Gender) => {
    clearErrors('name');
    onChange({ gender, name: makeNickname(gender) });
  };
  return (
    <Form formRef={formRef} onSubmit={onSubmit}>
      <RadioGroup
        legend={texts.register.gender}
        name="gender"
        options={texts.register.genders}
        value={form.gender}
        onChange={renew}
      />
      <TextField
        label={texts.fields.name}
        name="name"
        value={form.name}
        error={errors.name}
        autoComplete="nickname"
        maxLength={40}
        required
        onChange={(event) => {
          clearErrors('name');
          onChange({ name: event.target.value });
        }}
        action={
          <IconButton
            label={texts.register.refresh}
            icon={<RefreshIcon size={20} />}
            onClick={() => renew(form.gender)}
          />
        }
      />
      <AuthFields
        form={form}
        errors={errors}
        passwordKind="new-password"
        onChange={onChange}
        clearErrors={clearErrors}
      />
      {gift && <p className={styles.note}>{gift}</p>}
      {inviteCode && (
        <p className={styles.note}>
          {texts.register.invited(inviteCode) +
            (invitation ? `（「${invitation.name}」）。${rewardsText(invitation)}` : '')}
        </p>
      )}
      <Button type="submit" block loading={busy}>
        {texts.register.submit}
      </Button>
      <Consent onRead={onRead} />
      <Button variant="quiet" block disabled={busy} onClick={onSwitch}>
        {texts.register.toLogin}
      </Button>
    </Form>
  );
}

const legalKinds = ['terms', 'privacy'] as const;
type LegalKind = (typeof legalKinds)[number];

/** What a registration agrees to. Each opens over the form, which keeps what was typed; a site's own opens beside it. */
function Consent({ onRead }: { onRead: (kind: LegalKind) => void }) {
  const { components } = usePage();
  const { legal } = hostConfig();
  const { consent } = texts;
  const read = (event: MouseEvent, kind: LegalKind) => {
    if (legal[kind] || components.ofSlot('legal').length === 0) return;
    event.preventDefault();
    onRead(kind);
  };
  return (
    <p className={styles.consent}>
      <span>{consent.before}</span>
      {legalKinds.map((kind, index) => (
        <Fragment key={kind}>
          {index > 0 && <span>{consent.and}</span>}
          <a
            className={styles.legal}
            href={legal[kind] ?? paths[kind]()}
            target="_blank"
            rel="noopener"
            onClick={(event) => read(event, kind)}
          >{`《${consent[kind]}》`}</a>
        </Fragment>
      ))}
    </p>
  );
}

function LegalSheet({ kind, onClose }: { kind: LegalKind | null; onClose: () => void }) {
  // its words stay while it slides away
  const [last, setLast] = useState(kind);
  if (kind && kind !== last) setLast(kind);
  return (
    <Sheet
      open={kind !== null}
      onClose={onClose}
      title={last ? texts.consent[last] : ''}
      footer={
        <Button block onClick={onClose}>
          {texts.consent.close}
        </Button>
      }
    >
      {last && <RemoteSlot name="legal" document={last} waiting={<Skeleton shape="text" count={8} />} />}
    </Sheet>
  );
}

function LoginForm(props: AuthFormProps & { onForgot: () => void }) {
  const { form, formRef, busy, errors, clearErrors, onChange, onSubmit, onSwitch, onForgot } = props;
  return (
    <Form formRef={formRef} onSubmit={onSubmit}>
      <AuthFields
        form={form}
        errors={errors}
        passwordKind="current-password"
        onChange={onChange}
        clearErrors={clearErrors}
      />
      <Button type="submit" block loading={busy}>
        {texts.login.submit}
      </Button>
      <button type="button" className={styles.forgot} disabled={busy} onClick={onForgot}>
        {texts.login.forgot}
      </button>
      <Button variant="quiet" block disabled={busy} onClick={onSwitch}>
        {texts.login.toRegister}
      </Button>
    </Form>
  );
}

interface FieldsProps {
  form: AuthForm;
  errors: FieldErrors;
  /** Which password a password manager is to offer. */
  passwordKind: 'new-password' | 'current-password';
  onChange: (change: Partial<AuthForm>) => void;
  clearErrors: (...fields: string[]) => void;
}

/** One character more, or less, at the end; all else may have been pasted, with a blank copied along. */
const isTypedOn = (before: string, after: string) =>
  before.startsWith(after) || (after.startsWith(before) && after.length === before.length + 1);

/** Username and password, alike in both forms. */
function AuthFields({ form, errors, passwordKind, onChange, clearErrors }: FieldsProps) {
  const type = (field: 'login' | 'password', value: string) => {
    const copied = copiedCredentials(value);
    if (copied) clearErrors('login', 'password');
    else clearErrors(field);
    onChange(copied ?? { [field]: isTypedOn(form[field], value) ? value : value.trim() });
  };
  return (
    <>
      <TextField
        label={texts.fields.login}
        name="login"
        value={form.login}
        error={errors.login}
        autoComplete="username"
        autoCapitalize="none"
        autoCorrect="off"
        spellCheck={false}
        maxLength={120}
        required
        onChange={(event) => type('login', event.target.value)}
      />
      <PasswordField
        label={texts.fields.password}
        name="password"
        value={form.password}
        error={errors.password}
        autoComplete={passwordKind}
        required
        visible={form.passwordVisible}
        onVisibleChange={(passwordVisible) => onChange({ passwordVisible })}
        onChange={(event) => type('password', event.target.value)}
      />
    </>
  );
}

interface ConfirmEmailProps {
  email: string;
  onReturn: () => void;
}

function ConfirmEmail({ email, onReturn }: ConfirmEmailProps) {
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

interface CredentialsDialogProps {
  /** Login and password as text; null keeps the dialog closed. */
  credentials: string | null;
  onCopied: () => void;
}

/** The last chance to keep credentials that the clipboard refused: only its button closes it. */
export function CredentialsDialog({ credentials, onCopied }: CredentialsDialogProps) {
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

/** A frame later, because the dialog focuses the box while it opens, and WebKit 2.44 (Safari 17) then draws it empty. */
function selectOnceOpen({ target }: FocusEvent<HTMLTextAreaElement>) {
  requestAnimationFrame(() => target.select());
}
