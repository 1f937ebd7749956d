import { Button, IconButton, RadioGroup, RefreshIcon, TextField } from '@liaozhai/shared/ui';
import { AuthFields } from './AuthFields';
import styles from './AuthPopup.module.css';
import type { AuthForm } from './authForm';
import { type Gender, makeNickname } from './nickname';
import { texts } from './texts';

export interface AuthFormProps {
  form: AuthForm;
  busy: boolean;
  errors: Record<string, string[]>;
  onChange: (change: Partial<AuthForm>) => void;
  clearError: (field: string) => void;
  onSubmit: () => void;
  onSwitch: () => void;
}

export function RegisterForm(props: AuthFormProps & { inviteCode: string | null }) {
  const { form, busy, errors, clearError, onChange, onSubmit, onSwitch, inviteCode } = props;
  const renew = (gender: Gender) => onChange({ gender, name: makeNickname(gender) });
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <RadioGroup
        legend={texts.register.gender}
        name="gender"
        options={texts.register.genders}
        value={form.gender}
        onChange={renew}
      />
      <TextField
        label={texts.register.name}
        name="name"
        value={form.name}
        error={errors.name}
        autoComplete="nickname"
        maxLength={40}
        required
        onChange={(event) => {
          clearError('name');
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
        label={texts.fields.username}
        passwordKind="new-password"
        onChange={onChange}
        clearError={clearError}
      />
      {inviteCode && <p className={styles.note}>{texts.register.invited(inviteCode)}</p>}
      <Button type="submit" block loading={busy}>
        {texts.register.submit}
      </Button>
      <Button variant="quiet" block disabled={busy} onClick={onSwitch}>
        {texts.register.toLogin}
      </Button>
    </form>
  );
}
