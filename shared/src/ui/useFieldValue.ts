import { type ChangeEvent, type ComponentProps, useEffect, useEffectEvent, useLayoutEffect, useRef } from 'react';
import { flushSync } from 'react-dom';

type TextInput = HTMLInputElement | HTMLTextAreaElement;

interface Owner<Input extends TextInput> {
  /** undefined leaves the field to the browser, which begins with `defaultValue`. */
  value: string | undefined;
  defaultValue?: ComponentProps<'input'>['defaultValue'];
  onChange: ((event: ChangeEvent<Input>) => void) | undefined;
}

/**
 * A text field as its owner wants it, except for what the browser has put there: password managers fill fields without an event.
 * React would empty such a field with the next render; here it stays, and the owner learns of it before a button of the form acts.
 */
export function useFieldValue<Input extends TextInput>({ value, defaultValue, onChange }: Owner<Input>) {
  const field = useRef<Input>(null);
  const first = useRef(value ?? defaultValue);
  /** What the owner knows to be in the field. */
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
    // the form hears it before React does
    const { form } = input ?? {};
    if (!input || !form) return;
    const onAct = () => report(input);
    for (const type of ['click', 'submit']) form.addEventListener(type, onAct);
    return () => {
      for (const type of ['click', 'submit']) form.removeEventListener(type, onAct);
    };
  }, []);
  return {
    ref: field,
    defaultValue: first.current,
    onChange(event: ChangeEvent<Input>) {
      if (lastValue.current !== undefined) lastValue.current = event.target.value;
      onChange?.(event);
    },
  };
}

/** React takes no notice of an event whose value a script has set before: it is shown the former value first. */
function reportInput(input: TextInput, former: string): void {
  const { value } = input;
  const setByBrowser = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(input), 'value')?.set;
  input.value = former;
  setByBrowser?.call(input, value);
  flushSync(() => input.dispatchEvent(new Event('input', { bubbles: true })));
}
