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
