import { originOf } from '@liaozhai/http/source';
import { Hono } from 'hono';
import type { ServerEnv } from './env.ts';
import type { FrontEnv } from './front.ts';

type SecurityEnv = Pick<ServerEnv, 'SECURITY_CONTACT' | 'SECURITY_EXPIRES' | 'SECURITY_POLICY'>;

// Crawlers that render pages need the API and the builds, so neither is disallowed; private screens have `noindex`.
const robots = 'User-agent: *\nDisallow: /sanctum/\nDisallow: /broadcasting/\nDisallow: /test/\n';

/** security.txt (RFC 9116); '' without a contact or once it has expired, since it must not be trusted then. */
function securityText(env: SecurityEnv, origin: string): string {
  const { SECURITY_CONTACT: contacts, SECURITY_EXPIRES: expires, SECURITY_POLICY: policy } = env;
  if (contacts.length === 0 || !expires || Date.parse(expires) <= Date.now()) return '';
  const fields = [
    ...contacts.map((contact) => `Contact: ${contact}`),
    `Expires: ${expires}`,
    'Preferred-Languages: zh, en',
    `Canonical: ${origin}/.well-known/security.txt`,
    ...(policy ? [`Policy: ${policy}`] : []),
  ];
  return `${fields.join('\n')}\n`;
}

/** Serves `robots.txt` and `security.txt`. */
export function wellKnownRoutes(env: SecurityEnv): Hono<FrontEnv> {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'public, max-age=3600' };
  return new Hono<FrontEnv>()
    .get('/robots.txt', (context) => context.body(robots, 200, headers))
    .get('/.well-known/security.txt', (context) => {
      const text = securityText(env, originOf(context.get('source')));
      return text ? context.body(text, 200, headers) : context.notFound();
    });
}
