import * as v from 'valibot';

const isOrigin = (text: string): boolean => URL.canParse(text) && /^(https?|wss?):$/.test(new URL(text).protocol);

/** The entries of a comma-separated setting. */
export const commaSeparated = v.pipe(
  v.string(),
  v.transform((text) =>
    text
      .split(',')
      .map((item) => item.trim())
      .filter(Boolean),
  ),
);

/** Origins, as `CONNECT_ORIGINS` and `IMG_ORIGINS` name them. */
export const originsSchema = v.pipe(
  commaSeparated,
  v.array(v.pipe(v.string(), v.check(isOrigin, 'every entry must be an origin like https://cdn.example'))),
);

/** Where a page may reach beside its own origin. */
export interface FurtherOrigins {
  /** of calls and sockets */
  connect: readonly string[];
  pictures: readonly string[];
}

/** What `CONNECT_ORIGINS` and `IMG_ORIGINS` allow. @throws Error that names the variable and the cure. */
export function furtherOrigins(environment: Record<string, string | undefined>): FurtherOrigins {
  const read = (name: string) => {
    const parsed = v.safeParse(originsSchema, environment[name] ?? '');
    if (parsed.success) return parsed.output;
    throw new Error(`${name}: ${parsed.issues[0].message}`);
  };
  return { connect: read('CONNECT_ORIGINS'), pictures: read('IMG_ORIGINS') };
}

/** What a page's policy lets in beside what every page of the product does. */
interface PolicySources {
  scripts: readonly string[];
  styles: readonly string[];
  /** of requests and sockets */
  connections: readonly string[];
  pictures: readonly string[];
  fonts: readonly string[];
  /** Names of further Trusted Types policies. */
  trusted?: readonly string[];
}

const directive = (name: string, ...sources: readonly string[]): string => [name, ...sources].join(' ');

/** The content security policy of a page that runs remotes: the product's, and that of a remote which is developed alone. */
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
