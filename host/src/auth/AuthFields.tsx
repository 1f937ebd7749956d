import { PasswordField, TextField } from '@liaozhai/shared/ui';
import type { AuthForm } from './authForm';
import { texts } from './texts';

interface FieldsProps {
  form: AuthForm;
  errors: Record<string, string[]>;
  label: string;
  /** Which password a password manager is to offer. */
  passwordKind: 'new-password' | 'current-password';
  onChange: (change: Partial<AuthForm>) => void;
  clearError: (field: string) => void;
}

/** Username and password, alike in both forms. */
export function AuthFields({ form, errors, label, passwordKind, onChange, clearError }: FieldsProps) {
  const type = (field: 'login' | 'password', value: string) => {
    clearError(field);
    onChange({ [field]: value });
  };
  return (
    <>
      <TextField
        label={label}
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
