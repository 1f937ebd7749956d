import type { BrowserContext } from '@playwright/test';

/** Errors and policy violations of a page, which must never occur. */
export interface Trouble {
  violations: string[];
  errors: string[];
}

/** Records trouble in every page of the context, including pages opened later. */
export async function recordTrouble(context: BrowserContext, trouble: Trouble) {
  await context.exposeFunction('__violated', (text: string) => trouble.violations.push(text));
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      (globalThis as unknown as { __violated(text: string): void }).__violated(
        `${event.effectiveDirective} ${event.blockedURI} ${event.sample}`,
      );
    });
  });
  context.on('console', (message) => {
    if (/Content[- ]Security[- ]Policy|Trusted ?(Type|HTML|Script)/i.test(message.text()))
      trouble.violations.push(message.text());
  });
  context.on('weberror', (error) => trouble.errors.push(error.error().message));
}
