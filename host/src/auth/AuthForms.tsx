import { paths } from '@liaozhai/shared/contract';
import { copiedCredentials, signUpGiftText } from '@liaozhai/shared/format';
import { hostConfig } from '@liaozhai/shared/runtime';
import {
  Button,
  GENDERS,
  IconButton,
  PasswordField,
  RadioGroup,
  RefreshIcon,
  Spinner,
  TextField,
} from '@liaozhai/shared/ui';
import { Fragment, type MouseEvent } from 'react';
import { usePage } from '../page';
import styles from './AuthPopup.module.css';
import type { AuthForm } from './authFormState';
import { rewardsText, useInvitation } from './invites';
import { type Gender, makeNickname } from './nickname';
import type { Submission } from './submission';
import { texts } from './texts';

interface AuthFormProps extends Omit<Submission, 'submit'> {
  form: AuthForm;
  onChange: (change: Partial<AuthForm>) => void;
  onSubmit: () => void;
  onSwitch: () => void;
}

interface RegisterFormProps extends AuthFormProps {
  inviteCode: string | null;
  onRead: (kind: LegalKind) => void;
}

export function RegisterForm(props: RegisterFormProps) {
  const { form, formProps, busy, errors, clearErrors, onChange, onSubmit, onSwitch, inviteCode, onRead } = props;
  const invitation = useInvitation(inviteCode);
  const gift = signUpGiftText(hostConfig().rules);
  const renewName = (gender: Gender) => {
    clearErrors('name');
    onChange({ gender, name: makeNickname(gender) });
  };
  return (
    <form className={styles.form} {...formProps(onSubmit)}>
      <RadioGroup
        legend={texts.register.gender}
        name="gender"
        options={GENDERS}
        value={form.gender}
        onChange={renewName}
      />
      <TextField
        label={texts.fields.name}
        name="name"
        value={form.name}
        error={errors.name}
        autoComplete="nickname"
        maxLength={40}
        required
        onChange={(event) => onChange({ name: event.target.value })}
        action={
          <IconButton
            label={texts.register.refresh}
            icon={<RefreshIcon size={20} />}
            onClick={() => renewName(form.gender)}
          />
        }
      />
      <AuthFields {...props} passwordKind="new-password" />
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
    </form>
  );
}

const legalKinds = ['terms', 'privacy'] as const;
export type LegalKind = (typeof legalKinds)[number];

/** Links to terms and privacy policy. Ours open over the form, which keeps its input; a customer's own open in a new tab. */
function Consent({ onRead }: { onRead: (kind: LegalKind) => void }) {
  const { components } = usePage();
  const { legal } = hostConfig();
  const { consent } = texts;
  const openLegal = (event: MouseEvent, kind: LegalKind) => {
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
            onClick={(event) => openLegal(event, kind)}
          >{`《${consent[kind]}》`}</a>
        </Fragment>
      ))}
    </p>
  );
}

/** `isResetLoading`: the form of 忘记密码 is on its way. */
export function LoginForm(props: AuthFormProps & { isResetLoading: boolean; onForgot: () => void }) {
  const { formProps, busy, onSubmit, onSwitch, isResetLoading, onForgot } = props;
  return (
    <form className={styles.form} {...formProps(onSubmit)}>
      <AuthFields {...props} passwordKind="current-password" />
      <Button type="submit" block loading={busy}>
        {texts.login.submit}
      </Button>
      <button
        type="button"
        className={styles.forgot}
        disabled={busy}
        aria-busy={isResetLoading || undefined}
        onClick={onForgot}
      >
        {isResetLoading && <Spinner />}
        <span>{texts.login.forgot}</span>
      </button>
      <Button variant="quiet" block disabled={busy} onClick={onSwitch}>
        {texts.login.toRegister}
      </Button>
    </form>
  );
}

/** Whether text was typed: characters deleted, or one added, at the end. Other input may be pasted with a blank, so it is trimmed. */
const isTypedOn = (before: string, after: string) =>
  before.startsWith(after) || (after.startsWith(before) && after.length === before.length + 1);

/** `passwordKind`: which password a password manager should offer. */
function AuthFields(props: AuthFormProps & { passwordKind: 'new-password' | 'current-password' }) {
  const { form, errors, passwordKind, onChange, clearErrors } = props;
  const handleInput = (field: 'login' | 'password', value: string) => {
    const credentials = copiedCredentials(value);
    if (credentials) clearErrors('login', 'password');
    onChange(credentials ?? { [field]: isTypedOn(form[field], value) ? value : value.trim() });
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
        onChange={(event) => handleInput('login', event.target.value)}
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
        onChange={(event) => handleInput('password', event.target.value)}
      />
    </>
  );
}
