import type { PasswordChangeDto } from '@liaozhai/shared/contract';
import { meantPassword, missingText, PASSWORD_CHARACTERS, passwordProblem } from '@liaozhai/shared/format';
import { isApiError, toast, type User } from '@liaozhai/shared/runtime';
import { Button, type FieldErrors, PasswordField } from '@liaozhai/shared/ui';
import { useRef } from 'react';
import { useAccountChangePasswordMutation } from '../api';
import { texts } from '../texts';
import styles from './PasswordForm.module.css';
import { CurrentPassword, useServerForm } from './serverForm';

const emptyForm: PasswordChangeDto = { current_password: '', password: '', password_confirmation: '' };

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

const meant = ({ current_password, password, password_confirmation }: PasswordChangeDto): PasswordChangeDto => ({
  current_password: meantPassword(current_password),
  password: meantPassword(password),
  password_confirmation: meantPassword(password_confirmation),
});

const isUnanswered = (error: unknown) =>
  isApiError(error) && (error.kind === 'offline' || error.kind === 'timeout' || error.kind === 'server');

const refusedFields = (error: unknown) => (isApiError(error) && error.kind === 'invalid' ? error.fields : undefined);

/**
 * Sends the change. An attempt without an answer may have succeeded. If the current password is then refused, the new one is sent
 * as the current one: if that is not refused, the change has succeeded.
 */
function useChange() {
  const [change] = useAccountChangePasswordMutation();
  const unansweredPassword = useRef('');
  return async (form: PasswordChangeDto): Promise<{ error?: unknown }> => {
    const { error } = await change(form);
    const isRepeated = unansweredPassword.current === form.password;
    if (isUnanswered(error)) unansweredPassword.current = form.password;
    if (!isRepeated || !refusedFields(error)?.current_password) return { error };
    const { error: secondError } = await change({ ...form, current_password: form.password });
    const secondFields = refusedFields(secondError);
    return !secondError || (secondFields && !secondFields.current_password) ? {} : { error };
  };
}

/** Form to change the password. A wrong current password shows at its field. */
export function PasswordForm({ user }: { user: User }) {
  const change = useChange();
  const { form, field, isSending } = useServerForm({
    initialValues: emptyForm,
    reason: 'password',
    problemsOf: (values) => problemsOf(meant(values)),
    send: (values) => change(meant(values)),
    onSent: () => toast(texts.password.saved, { kind: 'success' }),
  });
  return (
    <form {...form} className={styles.form} aria-label={texts.password.title}>
      <h2 className={styles.title}>{texts.password.title}</h2>
      <p className={styles.hint}>{texts.password.hint}</p>
      <CurrentPassword {...field('current_password')} label={texts.password.current} user={user} />
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
      <Button type="submit" variant="quiet" loading={isSending}>
        {texts.password.save}
      </Button>
    </form>
  );
}
