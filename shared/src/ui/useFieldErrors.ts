import { useEffect, useRef, useState } from 'react';

/** What is wrong in a form, in words, by field. */
export type FieldErrors<Name extends string = string> = Partial<Record<Name, readonly string[]>>;

const isWrong = (texts: readonly string[] | undefined) => texts !== undefined && texts.length > 0;

/**
 * The errors of one form, found here or told by the server's 422. The form carries `formRef`, and `noValidate` so that
 * the browser keeps its own words to itself; its fields take their `errors`. Showing them leads to the first wrong field.
 */
export function useFieldErrors<Name extends string = string>() {
  const formRef = useRef<HTMLFormElement>(null);
  const [errors, setErrors] = useState<FieldErrors<Name>>({});
  const [shown, setShown] = useState(0);
  useEffect(() => {
    if (shown > 0) formRef.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [shown]);
  return {
    formRef,
    errors,
    /** Replaces what was shown before. Returns whether any field is wrong. */
    showErrors(found: FieldErrors<Name>): boolean {
      const isAnyWrong = Object.values<readonly string[] | undefined>(found).some(isWrong);
      setErrors(found);
      if (isAnyWrong) setShown((count) => count + 1);
      return isAnyWrong;
    },
    /** For a field that is being typed into. */
    clearErrors: (...names: Name[]) =>
      setErrors((current) => {
        const rest = { ...current };
        for (const name of names) delete rest[name];
        return rest;
      }),
  };
}
