import { join } from 'node:path';
import { buildGuest } from '../federation/site/guest.ts';
import { runRelease } from '../federation/site/site.ts';
import { startProduct } from '../product.ts';

const page = `
  import { createElement, useState } from 'react';
  export default function Page() {
    const [text, setText] = useState('fetch');
    const fetchMore = () => import('./late.js').then((late) => setText(late.default), (cause) => setText(cause.message));
    return createElement('button', { onClick: fetchMore }, text);
  }`;

/** Publishes a remote of ES modules. Returns the query that activates it in one browser. */
async function publishModules(store: string): Promise<string> {
  const files = { 'src/late.js': `export default 'late module';` };
  const guest = await buildGuest({ name: 'modules', version: '1.0.0', page, files, kit: 'vite, ES modules' });
  const { id } = await runRelease(store, ['publish', guest.dist]);
  guest.remove();
  return (await runRelease(store, ['override', id])).query;
}

/** Starts one product for all engines, which ends with the run. */
export default async function startSharedProduct() {
  const running = process.env.ENGINES_ORIGIN;
  if (running) return;
  const { origin, data, stop } = await startProduct({
    RATE_LIMIT_REGISTER: '1000',
    RATE_LIMIT_LOGIN: '1000',
    // slow enough to observe a reply growing
    STORYTELLER_PIECE_DELAY_MS: '120',
  });
  process.env.ENGINES_ORIGIN = origin;
  process.env.ENGINES_MODULES = await publishModules(join(data, 'releases'));
  return stop;
}
