import { onTestEnd } from './reset';

/** Until the end of the test, rendering a text with these words throws. */
export function refuseToDraw(words: string) {
  const { createTextNode } = document;
  const refuse = (text: unknown) => {
    if (String(text).includes(words)) throw new RangeError('Invalid time value');
  };
  for (const prototype of [Node.prototype, Element.prototype]) {
    const descriptor = Object.getOwnPropertyDescriptor(prototype, 'textContent');
    if (!descriptor) continue;
    Object.defineProperty(prototype, 'textContent', {
      ...descriptor,
      set(text) {
        refuse(text);
        descriptor.set?.call(this, text);
      },
    });
    onTestEnd(() => Object.defineProperty(prototype, 'textContent', descriptor));
  }
  document.createTextNode = (text) => {
    refuse(text);
    return createTextNode.call(document, text);
  };
  onTestEnd(() => {
    document.createTextNode = createTextNode;
  });
}
