import type { PasswordChangeDto } from '@liaozhai/shared/contract';
import { meantPassword, missingText, PASSWORD_CHARACTERS, passwordProblem } from '@liaozhai/shared/format';
import { toast, type User } from '@liaozhai/shared/runtime';
import { Button, type FieldErrors, PasswordField } from '@liaozhai/shared/ui';
import type { FormEvent } from 'react';
import { useAccountChangePasswordMutation } from '../api';
import { texts } from '../texts';
import styles from './PasswordForm.module.css';
import { useServerForm } from './serverForm';

const emptyForm: PasswordChangeDto = { current_password: '', password: '', password_confirmation: '' };

/** Problems that can be found before sending; the server checks the rest. */
function problemsOf(form: PasswordChangeDto): FieldErrors<keyof PasswordChangeDto> {
  const { current_password, password, password_confirmation: confirmation } = form;
  const { current, new: newLabel, again, mismatch, unchanged } = texts.password;
  const newPasswordProblem = () => (password === current_password ? unchanged : passwordProblem(password));
  return {
    current_password: current_password === '' ? missingText(current) : undefined,
    password: password === '' ? missingText(newLabel) : newPasswordProblem(),
    password_confirmation: confirmation === '' ? again : password === confirmation ? undefined : mismatch,
  };
}

/** Form to change the password. A wrong current password shows at its field. */
export function PasswordForm({ user }: { user: User }) {
  const { formRef, values, field, showErrors, reset, handleFailure } = useServerForm(emptyForm, 'password');
  const [change, { isLoading: isSaving }] = useAccountChangePasswordMutation();
  const save = async (event: FormEvent) => {
    event.preventDefault();
    const form = {
      current_password: meantPassword(values.current_password),
      password: meantPassword(values.password),
      password_confirmation: meantPassword(values.password_confirmation),
    };
    if (isSaving || showErrors(problemsOf(form))) return;
    const { error } = await change(form);
    if (error) return handleFailure(error);
    reset();
    toast(texts.password.saved, { kind: 'success' });
  };
  return (
    <form
      ref={formRef}
      className={styles.form}
      onSubmit={(event) => void save(event)}
      aria-label={texts.password.title}
      noValidate
    >
      <h2 className={styles.title}>{texts.password.title}</h2>
      <p className={styles.hint}>{texts.password.hint}</p>
      {/* password managers need the user name that belongs to the password */}
      <input type="text" name="username" autoComplete="username" value={user.username} readOnly hidden />
      <PasswordField
        {...field('current_password')}
        label={texts.password.current}
        autoComplete="current-password"
        required
      />
      <PasswordField
        {...field('password')}
        label={texts.password.new}
        hint={texts.password.rule(PASSWORD_CHARACTERS)}
        autoComplete="new-password"
        required
      />
      <PasswordField
        {...field('password_confirmation')}
        label={texts.password.confirmation}
        autoComplete="new-password"
        required
      />
      <Button type="submit" variant="quiet" loading={isSaving}>
        {texts.password.save}
      </Button>
    </form>
  );
}
