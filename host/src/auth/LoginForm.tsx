import { Button } from '@liaozhai/shared/ui';
import { AuthFields } from './AuthFields';
import styles from './AuthPopup.module.css';
import type { AuthFormProps } from './RegisterForm';
import { texts } from './texts';

export function LoginForm({ form, busy, errors, clearError, onChange, onSubmit, onSwitch }: AuthFormProps) {
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <AuthFields
        form={form}
        errors={errors}
        label={texts.fields.account}
        passwordKind="current-password"
        onChange={onChange}
        clearError={clearError}
      />
      <Button type="submit" block loading={busy}>
        {texts.login.submit}
      </Button>
      <Button variant="quiet" block disabled={busy} onClick={onSwitch}>
        {texts.login.toRegister}
      </Button>
    </form>
  );
}
