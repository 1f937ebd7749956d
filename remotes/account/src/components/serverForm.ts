import { blockReload } from '@liaozhai/shared/runtime';
import { useFieldErrors } from '@liaozhai/shared/ui';
import { type ChangeEvent, useEffect, useState } from 'react';
import { showRefusal } from './refusal';

/**
 * Form state with the API's field names: validation errors show at their fields, other failures in a toast. `reason` blocks a
 * reload while the form has input.
 */
export function useServerForm<Name extends string>(initialValues: Record<Name, string>, reason?: string) {
  const [values, setValues] = useState(initialValues);
  const { formRef, errors, showErrors, clearErrors } = useFieldErrors(...(Object.keys(initialValues) as Name[]));
  const isBlocking = reason !== undefined && Object.values(values).some((value) => value !== '');
  useEffect(() => (isBlocking ? blockReload(reason) : undefined), [isBlocking, reason]);
  return {
    formRef,
    values,
    showErrors,
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
    /** Empties the fields; shown errors stay. */
    reset: () => setValues(initialValues),
    handleFailure: (error: unknown) => showRefusal(error, showErrors),
  };
}
