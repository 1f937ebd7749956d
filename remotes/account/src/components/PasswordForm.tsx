import { meantPassword, missingText, PASSWORD_CHARACTERS, passwordProblem } from '@liaozhai/shared/format';
import { blockReload, toast, type User } from '@liaozhai/shared/runtime';
import { Button, type FieldErrors, PasswordField, useFieldErrors } from '@liaozhai/shared/ui';
import { type FormEvent, useEffect, useState } from 'react';
import { useAccountChangePasswordMutation } from '../api';
import type { PasswordChange } from '../model';
import { texts } from '../texts';
import styles from './PasswordForm.module.css';
import { showRefusal } from './refusal';

const initialValues: PasswordChange = { currentPassword: '', newPassword: '', confirmation: '' };

type PasswordErrors = FieldErrors<keyof PasswordChange>;

/** Problems that can be found before sending; the server checks the rest. */
function problemsOf({ currentPassword, newPassword, confirmation }: PasswordChange): PasswordErrors {
  const { current, new: newLabel, again, mismatch, unchanged } = texts.password;
  const newPasswordProblem = () => (newPassword === currentPassword ? unchanged : passwordProblem(newPassword));
  const problems = {
    currentPassword: currentPassword === '' ? missingText(current) : undefined,
    newPassword: newPassword === '' ? missingText(newLabel) : newPasswordProblem(),
    confirmation: confirmation === '' ? again : newPassword === confirmation ? undefined : mismatch,
  };
  return Object.fromEntries(Object.entries(problems).flatMap(([field, text]) => (text ? [[field, [text]]] : [])));
}

const toFieldErrors = (fields: FieldErrors): PasswordErrors => ({
  currentPassword: fields.current_password ?? [],
  newPassword: fields.password ?? [],
  confirmation: fields.password_confirmation ?? [],
});

function usePasswordForm() {
  const [values, setValues] = useState(initialValues);
  const { formRef, errors, showErrors, clearErrors } = useFieldErrors<keyof PasswordChange>();
  const [change, { isLoading: isSaving }] = useAccountChangePasswordMutation();
  const isDirty = Object.values(values).some((value) => value !== '');
  useEffect(() => (isDirty ? blockReload('password') : undefined), [isDirty]);
  const edit = (field: keyof PasswordChange, value: string) => {
    setValues((current) => ({ ...current, [field]: value }));
    clearErrors(field);
  };
  const save = async () => {
    const passwordChange = {
      currentPassword: meantPassword(values.currentPassword),
      newPassword: meantPassword(values.newPassword),
      confirmation: meantPassword(values.confirmation),
    };
    if (isSaving || showErrors(problemsOf(passwordChange))) return;
    const { error } = await change(passwordChange);
    if (error) return showRefusal(error, (fields) => showErrors(toFieldErrors(fields)));
    setValues(initialValues);
    toast(texts.password.saved, { kind: 'success' });
  };
  return { formRef, values, errors, isSaving, edit, save };
}

/** Form to change the password. A wrong current password shows at its field. */
export function PasswordForm({ user }: { user: User }) {
  const { formRef, values, errors, isSaving, edit, save } = usePasswordForm();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void save();
  };
  const field = (key: keyof PasswordChange, name: string, label: string, hint?: string) => (
    <PasswordField
      label={label}
      name={name}
      autoComplete={key === 'currentPassword' ? 'current-password' : 'new-password'}
      value={values[key]}
      error={errors[key]}
      hint={hint}
      required
      onChange={(event) => edit(key, event.target.value)}
    />
  );
  return (
    <form ref={formRef} className={styles.form} onSubmit={submit} aria-label={texts.password.title} noValidate>
      <h2 className={styles.title}>{texts.password.title}</h2>
      <p className={styles.hint}>{texts.password.hint}</p>
      {/* password managers need the user name that belongs to the password */}
      <input type="text" name="username" autoComplete="username" value={user.username} readOnly hidden />
      {field('currentPassword', 'current_password', texts.password.current)}
      {field('newPassword', 'password', texts.password.new, texts.password.rule(PASSWORD_CHARACTERS))}
      {field('confirmation', 'password_confirmation', texts.password.confirmation)}
      <Button type="submit" variant="quiet" loading={isSaving}>
        {texts.password.save}
      </Button>
    </form>
  );
}
