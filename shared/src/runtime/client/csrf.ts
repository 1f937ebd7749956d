import { attempt } from '../../format/browser';

/** All values of the cookie: another path or a parent domain may have set a second one. */
function readTokens(): string[] {
  // a sandboxed frame must not read its cookies, and throws
  const cookies = (attempt(() => document.cookie) ?? '').matchAll(/(?:^|; )XSRF-TOKEN=([^;]*)/g);
  return [...new Set(Array.from(cookies, ([, value = '']) => attempt(() => decodeURIComponent(value)) ?? value))];
}

/** Whether a script can read the cookie. It lives as long as the session's cookie. */
export const hasToken = (): boolean => readTokens().length > 0;

/** Two cookies of one name and one fetched token. A server may set a new token with each refusal. */
const MAX_ATTEMPTS = 3;

/** The CSRF token that the server requires for every change. `fetchToken` makes the server set it and never rejects. */
export function createCsrfToken(fetchToken: () => Promise<void>) {
  let pendingRefresh: Promise<void> | null = null;
  /** One request set no cookie: the server uses none, or it is unreachable and the next response shows that. */
  let isTokenless = false;
  const refusedTokens = new Set<string>();

  function refresh(): Promise<void> {
    pendingRefresh ??= fetchToken().finally(() => {
      pendingRefresh = null;
    });
    return pendingRefresh;
  }

  const current = () => readTokens().find((token) => !refusedTokens.has(token)) ?? readTokens()[0];

  return {
    current,
    /** Fetches the token if the page has none, which spares the first change a refusal and a retry. Never rejects. */
    async prepare(): Promise<void> {
      if (current() !== undefined || isTokenless) return;
      await refresh();
      isTokenless = current() === undefined;
    },
    /** Records that the server refused `token`, for the `attempt`-th time. Resolves to whether a retry makes sense. Never rejects. */
    async renew(token: string | undefined, attempt: number): Promise<boolean> {
      if (token !== undefined) refusedTokens.add(token);
      if (attempt === 1) {
        await refresh();
        // the server may set the same token again
        if (readTokens().length < 2) refusedTokens.clear();
        return true;
      }
      return token !== undefined && attempt < MAX_ATTEMPTS && readTokens().some((other) => !refusedTokens.has(other));
    },
  };
}
