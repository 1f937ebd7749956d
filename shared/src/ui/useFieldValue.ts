import { type ChangeEvent, type ComponentProps, useEffect, useEffectEvent, useLayoutEffect, useRef } from 'react';
import { flushSync } from 'react-dom';
import { listenTo } from '../format/browser';

type TextInput = HTMLInputElement | HTMLTextAreaElement;

interface FieldOwner<Input extends TextInput> {
  /** undefined leaves the value to the browser, which starts with `defaultValue`. */
  value: string | undefined;
  defaultValue?: ComponentProps<'input'>['defaultValue'];
  onChange: ((event: ChangeEvent<Input>) => void) | undefined;
}

/**
 * Controls a text field, but keeps a value that the browser filled in. Password managers send no event, and React would clear the
 * field with the next render. The owner receives the value before a button of the form acts.
 */
export function useFieldValue<Input extends TextInput>({ value, defaultValue, onChange }: FieldOwner<Input>) {
  const field = useRef<Input>(null);
  const initialValue = useRef(value ?? defaultValue);
  /** The last value that the owner received or set. */
  const lastValue = useRef(value);
  useLayoutEffect(() => {
    if (value === undefined || value === lastValue.current) return;
    lastValue.current = value;
    if (field.current && field.current.value !== value) field.current.value = value;
  });
  const report = useEffectEvent((input: Input) => {
    if (lastValue.current === undefined || lastValue.current === input.value) return;
    reportInput(input, lastValue.current);
  });
  useEffect(() => {
    const input = field.current;
    // the form's listener runs before React's
    const { form } = input ?? {};
    if (!input || !form) return;
    return listenTo(form, ['click', 'submit'], () => report(input));
  }, []);
  return {
    ref: field,
    defaultValue: initialValue.current,
    onChange(event: ChangeEvent<Input>) {
      if (lastValue.current !== undefined) lastValue.current = event.target.value;
      onChange?.(event);
    },
  };
}

/** React ignores an event if a script already set its value, so the former value is set first. */
function reportInput(input: TextInput, previousValue: string): void {
  const { value } = input;
  const setByBrowser = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(input), 'value')?.set;
  input.value = previousValue;
  setByBrowser?.call(input, value);
  flushSync(() => input.dispatchEvent(new Event('input', { bubbles: true })));
}
