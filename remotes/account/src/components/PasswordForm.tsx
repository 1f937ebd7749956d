import { failureText } from '@liaozhai/shared/format';
import { blockReload, isApiError, toast, type User } from '@liaozhai/shared/runtime';
import { Button, PasswordField } from '@liaozhai/shared/ui';
import { type FormEvent, useEffect, useState } from 'react';
import { useAccountChangePasswordMutation } from '../api';
import type { PasswordChange } from '../model';
import { texts } from '../texts';
import styles from './PasswordForm.module.css';

const blank: PasswordChange = { currentPassword: '', newPassword: '', confirmation: '' };

type FieldErrors = Partial<Record<keyof PasswordChange, string[]>>;

function problemsOf({ currentPassword, newPassword, confirmation }: PasswordChange): FieldErrors {
  return {
    ...(newPassword === currentPassword && { newPassword: [texts.password.unchanged] }),
    ...(newPassword !== confirmation && { confirmation: [texts.password.mismatch] }),
  };
}

const toFieldErrors = (fields: Record<string, string[]>): FieldErrors => ({
  currentPassword: fields.current_password,
  newPassword: fields.password,
  confirmation: fields.password_confirmation,
});

function usePasswordForm() {
  const [values, setValues] = useState(blank);
  const [errors, setErrors] = useState<FieldErrors>({});
  const [change, { isLoading: isSaving }] = useAccountChangePasswordMutation();
  const isComplete = Object.values(values).every((value) => value !== '');
  const isBegun = Object.values(values).some((value) => value !== '');
  useEffect(() => (isBegun ? blockReload('password') : undefined), [isBegun]);
  const edit = (field: keyof PasswordChange, value: string) => {
    setValues((current) => ({ ...current, [field]: value }));
    setErrors((current) => ({ ...current, [field]: undefined }));
  };
  const refused = (error: unknown) => {
    const fields = isApiError(error) && error.kind === 'invalid' ? toFieldErrors(error.fields) : {};
    setErrors(fields);
    // what stands at a field need not be said twice
    const problem = Object.values(fields).some(Boolean) ? undefined : failureText(error);
    if (problem) toast(problem, { kind: 'error' });
  };
  const save = async () => {
    const problems = problemsOf(values);
    setErrors(problems);
    if (Object.keys(problems).length > 0 || isSaving) return;
    const { error } = await change(values);
    if (error) return refused(error);
    setValues(blank);
    toast(texts.password.saved, { kind: 'success' });
  };
  return { values, errors, isComplete, isSaving, edit, save };
}

/** Changes the password; a wrong current one is told at its field. */
export function PasswordForm({ user }: { user: User }) {
  const { values, errors, isComplete, isSaving, edit, save } = usePasswordForm();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void save();
  };
  const field = (key: keyof PasswordChange, name: string, label: string) => (
    <PasswordField
      label={label}
      name={name}
      autoComplete={key === 'currentPassword' ? 'current-password' : 'new-password'}
      value={values[key]}
      error={errors[key]}
      onChange={(event) => edit(key, event.target.value)}
    />
  );
  return (
    <form className={styles.form} onSubmit={submit} aria-label={texts.password.title}>
      <h2 className={styles.title}>{texts.password.title}</h2>
      <p className={styles.hint}>{texts.password.hint}</p>
      {/* password managers need the name the password belongs to */}
      <input type="text" name="username" autoComplete="username" value={user.username} readOnly hidden />
      {field('currentPassword', 'current_password', texts.password.current)}
      {field('newPassword', 'password', texts.password.new)}
      {field('confirmation', 'password_confirmation', texts.password.confirmation)}
      <Button type="submit" variant="quiet" loading={isSaving} disabled={!isComplete}>
        {texts.password.save}
      </Button>
    </form>
  );
}
