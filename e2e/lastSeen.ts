import type { BrowserContext, Page, Request } from '@playwright/test';

/** Runs in the page. */
async function describeDocument(): Promise<string> {
  const frame = new Promise<string>((resolve) => {
    requestAnimationFrame(() => resolve('frames come'));
    setTimeout(() => resolve('no frame within a second'), 1000);
  });
  return [document.readyState, document.visibilityState, await frame].join(', ');
}

/** Unfinished requests, with the time of their start. */
type Pending = Map<Request, number>;

async function stateOf(page: Page, pending: Pending): Promise<string> {
  const timeout = new Promise<string>((resolve) => setTimeout(() => resolve('the page does not answer'), 3000));
  const state = await Promise.race([page.evaluate(describeDocument), timeout]).catch(({ message }: Error) => message);
  const now = Date.now();
  const pendingLines = [...pending]
    .filter(([request]) => request.frame().page() === page)
    .map(([request, at]) => `  waits ${Math.round((now - at) / 1000)} s for ${request.method()} ${request.url()}`);
  return [`${page.url()}: ${state}`, ...pendingLines].join('\n');
}

/** Follows the pages of a context. Returns a function that describes their state, for failures on a remote machine. */
export function followPages(context: BrowserContext): () => Promise<string> {
  const pending: Pending = new Map();
  context.on('request', (request) => {
    // requests of a worker belong to no page
    if (!request.serviceWorker()) pending.set(request, Date.now());
  });
  context.on('requestfinished', (request) => pending.delete(request));
  context.on('requestfailed', (request) => pending.delete(request));
  return async () => (await Promise.all(context.pages().map((page) => stateOf(page, pending)))).join('\n');
}
