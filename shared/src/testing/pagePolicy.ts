import { onTestEnd } from './reset';

/** Sinks that create markup from text, which the product's page forbids, even for `''`. */
const sinks = (): [prototype: object, name: string][] => [
  [Element.prototype, 'innerHTML'],
  [Element.prototype, 'outerHTML'],
  [ShadowRoot.prototype, 'innerHTML'],
  [Element.prototype, 'insertAdjacentHTML'],
  [Object.getPrototypeOf(document), 'write'],
  [Range.prototype, 'createContextualFragment'],
  [DOMParser.prototype, 'parseFromString'],
];

const findDescriptor = (object: object | null, name: string): PropertyDescriptor | undefined =>
  object
    ? (Object.getOwnPropertyDescriptor(object, name) ?? findDescriptor(Object.getPrototypeOf(object), name))
    : undefined;

/** Applies that policy until the end of the test: markup from text throws. */
export function enforcePagePolicy() {
  for (const [prototype, name] of sinks()) {
    const ownDescriptor = Object.getOwnPropertyDescriptor(prototype, name);
    const refuse = () => {
      throw new TypeError(`${name}: the policy of the product's page refuses markup made of text`);
    };
    const { get } = findDescriptor(prototype, name) ?? {};
    Object.defineProperty(prototype, name, { configurable: true, ...(get ? { get, set: refuse } : { value: refuse }) });
    onTestEnd(() => {
      if (ownDescriptor) Object.defineProperty(prototype, name, ownDescriptor);
      else Reflect.deleteProperty(prototype, name);
    });
  }
}
