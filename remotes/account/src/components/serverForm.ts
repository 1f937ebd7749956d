import { blockReload } from '@liaozhai/shared/runtime';
import { useFieldErrors } from '@liaozhai/shared/ui';
import { useEffect, useState } from 'react';
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
    errors,
    showErrors,
    edit(name: Name, value: string) {
      setValues((current) => ({ ...current, [name]: value }));
      clearErrors(name);
    },
    /** Empties the fields; shown errors stay. */
    reset: () => setValues(initialValues),
    handleFailure: (error: unknown) => showRefusal(error, showErrors),
  };
}
