import { blockReload, type User, useUser } from '@liaozhai/shared/runtime';
import { type FieldErrors, PasswordField, useFieldErrors } from '@liaozhai/shared/ui';
import { type ChangeEvent, type ComponentProps, type FormEvent, useEffect, useState } from 'react';
import { showRefusal } from './actions';

interface ServerForm<Name extends string, Data> {
  /** Fields with the API's names. */
  initialValues: Record<Name, string>;
  /** Blocks a reload while the form has input. */
  reason?: string;
  /** Problems that can be found before sending; the server checks the rest. */
  problemsOf?: (values: Record<Name, string>) => FieldErrors<Name>;
  send: (values: Record<Name, string>) => Promise<{ data?: Data; error?: unknown }>;
  onSent?: (data: Data | undefined) => void;
  /** A refusal empties the fields too; its errors stay. */
  emptiedByRefusal?: boolean;
}

/** A form that sends once at a time and is empty afterwards. Validation errors show at their fields, other failures in a toast. */
export function useServerForm<Name extends string, Data>({ initialValues, reason, ...form }: ServerForm<Name, Data>) {
  const [values, setValues] = useState(initialValues);
  const [isSending, setSending] = useState(false);
  const { formRef, errors, showErrors, clearErrors } = useFieldErrors(...(Object.keys(initialValues) as Name[]));
  const isBlocking = reason !== undefined && Object.values(values).some((value) => value !== '');
  useEffect(() => (isBlocking ? blockReload(reason) : undefined), [isBlocking, reason]);
  const submit = async () => {
    if (isSending || showErrors(form.problemsOf?.(values) ?? {})) return;
    setSending(true);
    const { data, error } = await form.send(values);
    setSending(false);
    if (!error || form.emptiedByRefusal) setValues(initialValues);
    if (error) showRefusal(error, showErrors);
    else form.onSent?.(data);
  };
  return {
    values,
    isSending,
    /** Props of the form. */
    form: {
      ref: formRef,
      noValidate: true,
      onSubmit(event: FormEvent) {
        event.preventDefault();
        void submit();
      },
    },
    /** Props of a text field. `normalise` changes what is typed. */
    field: (name: Name, normalise = (typed: string) => typed) => ({
      name,
      value: values[name],
      error: errors[name],
      onChange({ target }: ChangeEvent<HTMLInputElement>) {
        setValues((current) => ({ ...current, [name]: normalise(target.value) }));
        clearErrors(name);
      },
    }),
  };
}

/** The last value while `value` is missing, so that forms that depend on it keep their input while the session is expired. */
export function useLast<Value>(value: Value | null | undefined): Value | null | undefined {
  const [last, setLast] = useState(value);
  if (value && value !== last) setLast(value);
  return value ?? last;
}

/** The last user while the session is expired. A key of the user's id renews the forms for another user. */
export const useLastUser = (): User | null => useLast(useUser()) ?? null;

type CurrentPasswordProps = { user: User } & ComponentProps<typeof PasswordField>;

/** Field of a form that changes something by the user's password. */
export const CurrentPassword = ({ user, ...field }: CurrentPasswordProps) => (
  <>
    {/* password managers need the user name that belongs to the password */}
    <input type="text" name="username" autoComplete="username" value={user.username} readOnly hidden />
    <PasswordField {...field} autoComplete="current-password" required />
  </>
);
