import * as v from 'valibot';

const isOrigin = (text: string): boolean => URL.canParse(text) && /^(https?|wss?):$/.test(new URL(text).protocol);

/** Entries of a comma-separated setting. */
export const commaSeparated = v.pipe(
  v.string(),
  v.transform((text) =>
    text
      .split(',')
      .map((item) => item.trim())
      .filter(Boolean),
  ),
);

/** Origins in `CONNECT_ORIGINS` and `IMG_ORIGINS`. */
export const originsSchema = v.pipe(
  commaSeparated,
  v.array(v.pipe(v.string(), v.check(isOrigin, 'every entry must be an origin like https://cdn.example'))),
);

/** Origins that a page may contact besides its own. */
export interface FurtherOrigins {
  /** for requests and sockets */
  connect: readonly string[];
  pictures: readonly string[];
}

/** Parses `CONNECT_ORIGINS` and `IMG_ORIGINS`. Throws an `Error` that names the variable and the expected value. */
export function furtherOrigins(environment: Record<string, string | undefined>): FurtherOrigins {
  const readOrigins = (name: string) => {
    const parsed = v.safeParse(originsSchema, environment[name] ?? '');
    if (parsed.success) return parsed.output;
    throw new Error(`${name}: ${parsed.issues[0].message}`);
  };
  return { connect: readOrigins('CONNECT_ORIGINS'), pictures: readOrigins('IMG_ORIGINS') };
}

/** Sources that differ between the product's pages and a remote developed alone. */
interface PolicySources {
  scripts: readonly string[];
  styles: readonly string[];
  /** for requests and sockets */
  connections: readonly string[];
  pictures: readonly string[];
  fonts: readonly string[];
  /** Names of further Trusted Types policies. */
  trusted?: readonly string[];
}

const directive = (name: string, ...sources: readonly string[]): string => [name, ...sources].join(' ');

/** Returns the content security policy of a page that runs remotes: the product's, or that of a remote developed alone. */
export const contentSecurityPolicy = (sources: PolicySources): string =>
  [
    "default-src 'none'",
    directive('script-src', ...sources.scripts),
    directive('connect-src', "'self'", ...sources.connections),
    directive('style-src', "'self'", ...sources.styles),
    directive('img-src', "'self'", 'data:', ...sources.pictures),
    directive('font-src', "'self'", 'data:', ...sources.fonts),
    "manifest-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "object-src 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    directive('trusted-types', 'liaozhai', 'liaozhai-sw', ...(sources.trusted ?? [])),
  ].join('; ');
