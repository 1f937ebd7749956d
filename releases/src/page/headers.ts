export interface PolicyInput {
  /** `sha256-…` of the template's inline scripts. */
  inlineScripts: readonly string[];
  /** `sha256-…` of the template's inline styles. */
  inlineStyles: readonly string[];
  /** `sha384-…` of every preloaded script. */
  preloadedScripts: readonly string[];
  connectSrc: readonly string[];
  imgOrigins: readonly string[];
  /** Adds HSTS. */
  https: boolean;
}

const quoted = (sources: readonly string[]): string[] => [...new Set(sources)].map((source) => `'${source}'`);
const directive = (name: string, ...sources: readonly string[]): string => [name, ...sources].join(' ');

function contentSecurityPolicy(input: PolicyInput): string {
  return [
    "default-src 'none'",
    directive('script-src', ...quoted(input.inlineScripts), ...quoted(input.preloadedScripts), "'strict-dynamic'"),
    directive('connect-src', "'self'", ...input.connectSrc),
    directive('style-src', "'self'", ...quoted(input.inlineStyles)),
    directive('img-src', "'self'", 'data:', ...input.imgOrigins),
    "font-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "object-src 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types liaozhai liaozhai-sw',
  ].join('; ');
}

/** Every header of the page's answer; names in lower case. */
export const pageHeaders = (input: PolicyInput): Record<string, string> => ({
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'private, no-cache',
  'content-security-policy': contentSecurityPolicy(input),
  'integrity-policy': 'blocked-destinations=(script)',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'strict-origin-when-cross-origin',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=(), browsing-topics=()',
  ...(input.https ? { 'strict-transport-security': 'max-age=31536000; includeSubDomains' } : {}),
});
