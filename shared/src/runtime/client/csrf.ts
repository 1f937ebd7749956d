/** Scripts may read it, and it lives as long as the session's cookie. */
export const hasToken = () => /(?:^|; )XSRF-TOKEN=/.test(document.cookie);

/** The cookie with which the server knows that a change comes from this site. `fetchToken` has the server set it and never rejects. */
export function createCsrfToken(fetchToken: () => Promise<void>) {
  let underWay: Promise<void> | null = null;
  /** Requested once in vain: this server sets none, or it cannot be reached and the next answer says so. */
  let isTokenless = false;

  function refresh(): Promise<void> {
    underWay ??= fetchToken().finally(() => {
      underWay = null;
    });
    return underWay;
  }

  return {
    refresh,
    /** Fetches the token where the page has none, which saves the first change a refusal and a replay. Never rejects. */
    async prepare(): Promise<void> {
      if (hasToken() || isTokenless) return;
      await refresh();
      isTokenless = !hasToken();
    },
  };
}
