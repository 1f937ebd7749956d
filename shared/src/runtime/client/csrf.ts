const COOKIE = 'XSRF-TOKEN';

/** Every value of the cookie: another path or a parent domain may have left one of its own. */
const tokens = (): string[] => [
  ...new Set(
    cookies()
      .split('; ')
      .filter((cookie) => cookie.startsWith(`${COOKIE}=`))
      .map((cookie) => decoded(cookie.slice(COOKIE.length + 1))),
  ),
];

/** A sandboxed frame may not read its own. */
function cookies(): string {
  try {
    return document.cookie;
  } catch {
    return '';
  }
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** Scripts may read it, and it lives as long as the session's cookie. */
export const hasToken = (): boolean => tokens().length > 0;

/** Two cookies of one name, and the token that was fetched. A server may set a new one with each refusal. */
const MOST_ATTEMPTS = 3;

/** The cookie with which the server knows that a change comes from this site. `fetchToken` has the server set it and never rejects. */
export function createCsrfToken(fetchToken: () => Promise<void>) {
  let underWay: Promise<void> | null = null;
  /** Requested once in vain: this server sets none, or it cannot be reached and the next answer says so. */
  let isTokenless = false;
  /** Tokens that the server has refused in this page. */
  const refused = new Set<string>();

  function refresh(): Promise<void> {
    underWay ??= fetchToken().finally(() => {
      underWay = null;
    });
    return underWay;
  }

  const current = () => tokens().find((token) => !refused.has(token)) ?? tokens()[0];

  return {
    current,
    /** Fetches the token where the page has none, which saves the first change a refusal and a replay. Never rejects. */
    async prepare(): Promise<void> {
      if (current() !== undefined || isTokenless) return;
      await refresh();
      isTokenless = current() === undefined;
    },
    /** The server refused `token` for the `attempt`-th time: whether another one is worth an attempt. Never rejects. */
    async renew(token: string | undefined, attempt: number): Promise<boolean> {
      if (token !== undefined) refused.add(token);
      if (attempt === 1) {
        await refresh();
        // a server may hand out the same one again
        if (tokens().length < 2) refused.clear();
        return true;
      }
      return token !== undefined && attempt < MOST_ATTEMPTS && tokens().some((other) => !refused.has(other));
    },
  };
}
