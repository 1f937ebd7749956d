import { Hono } from 'hono';
import type { FrontContext, FrontEnv } from './front.ts';
import type { ProductOptions } from './product.ts';

const ANSWER_TIMEOUT_MS = 2_000;

type HealthOptions = Pick<Required<ProductOptions>, 'releases' | 'backendUrl' | 'secondsUntilRestart' | 'isDraining'>;

/** Whether the backend is reachable. Other backends have no `/readyz`, so any status below 500 counts. */
async function isReachable(url: string): Promise<boolean> {
  const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
  const response = await fetch(`${url}/readyz`, { signal, redirect: 'manual' }).catch(() => null);
  await response?.body?.cancel();
  return response !== null && response.status < 500;
}

/** `/healthz`: 200 while the process runs. `/readyz`: 200 if visitors can be sent here, else 503 with the reason. */
export function healthRoutes({ releases, backendUrl, secondsUntilRestart, isDraining }: HealthOptions): Hono<FrontEnv> {
  const readiness = async (context: FrontContext) => {
    context.header('cache-control', 'no-store');
    if (isDraining()) return context.json({ status: 'draining' }, 503);
    const pages = (await releases.pageFor({ id: '' }).catch(() => null)) !== null;
    const backend = secondsUntilRestart() === null && (await isReachable(backendUrl()));
    if (pages && backend) return context.json({ status: 'ready', pages, backend });
    // no addresses or paths, since the response is public
    const why = [
      ...(pages ? [] : ['the release store gives no set that can be served']),
      ...(backend ? [] : ['the backend does not answer, or is not ready itself']),
    ].join('; ');
    return context.json({ status: 'unavailable', pages, backend, why }, 503);
  };
  const liveness = (context: FrontContext) => context.json({ status: 'ok' }, 200, { 'cache-control': 'no-store' });
  // HAProxy's check uses OPTIONS unless a method is configured
  return new Hono<FrontEnv>()
    .on(['GET', 'OPTIONS'], '/healthz', liveness)
    .on(['GET', 'OPTIONS'], '/readyz', readiness)
    .options('/', liveness);
}
