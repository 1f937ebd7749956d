import type { Releases } from '@liaozhai/releases';
import { Hono } from 'hono';

const answerTimeoutMs = 2_000;

interface HealthOptions {
  releases: Releases;
  backendUrl: () => string;
  awaySeconds: () => number | null;
  isDraining: () => boolean;
}

/** A backend of another make has no `/readyz`; whatever it answers there it is reached. */
async function isReached(url: string): Promise<boolean> {
  const signal = AbortSignal.timeout(answerTimeoutMs);
  const answer = await fetch(`${url}/readyz`, { signal, redirect: 'manual' }).catch(() => null);
  await answer?.body?.cancel();
  return answer !== null && answer.status < 500;
}

/** `/healthz`: the process answers. `/readyz`: visitors can be sent here; if not, what is missing. */
export function healthRoutes({ releases, backendUrl, awaySeconds, isDraining }: HealthOptions): Hono {
  return new Hono()
    .use(async (context, next) => {
      context.header('cache-control', 'no-store');
      await next();
    })
    .get('/healthz', (context) => context.json({ status: 'ok' }))
    .get('/readyz', async (context) => {
      if (isDraining()) return context.json({ status: 'draining' }, 503);
      const pages = await releases.pageFor({ id: '' }).then(
        () => true,
        () => false,
      );
      const backend = awaySeconds() === null && (await isReached(backendUrl()));
      const isReady = pages && backend;
      return context.json({ status: isReady ? 'ready' : 'unavailable', pages, backend }, isReady ? 200 : 503);
    });
}
