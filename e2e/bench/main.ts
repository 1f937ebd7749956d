// `pnpm bench <name>`: measures and prints, each figure beside its baseline from the same run.
export {};

const benches: Record<string, { about: string; run: () => Promise<{ run: () => Promise<void> }> }> = {
  releases: {
    about: 'the release system under load, at scale and, beside stock Module Federation, in a browser',
    run: () => import('./releases.ts'),
  },
  experience: { about: 'what a reader finds on a phone, against the goals', run: () => import('./experience.ts') },
  backend: {
    about: 'the reference backend: start, 500 sockets, 50 readers at once',
    run: () => import('./backend.ts'),
  },
  server: {
    about:
      'the front server beside nginx, bare Hono and Node alone, over a long run, and as two processes on one store',
    run: () => import('./server.ts'),
  },
  data: { about: 'every call on a large database beside an empty one', run: () => import('./data.ts') },
  lighthouse: { about: 'Lighthouse’s audits of every page', run: () => import('./lighthouse.ts') },
  telemetry: {
    about: 'what metrics and traces cost the front server',
    run: () => import('./telemetry.ts'),
  },
  story: { about: 'how every story listens to a scripted reader of thirty turns', run: () => import('./story.ts') },
  load: { about: 'the first screen against a monolith and stock federation', run: () => import('./load.ts') },
};

const [name = '', ...rest] = process.argv.slice(2);
const bench = benches[name];
if (!bench || rest.includes('--help')) {
  console.log('pnpm bench <name>\n');
  for (const [key, { about }] of Object.entries(benches)) console.log(`  ${key.padEnd(12)}${about}`);
  process.exit(name === '' || bench ? 0 : 2);
}
await (await bench.run()).run();
