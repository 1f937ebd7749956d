// `pnpm bench <name>`: measures and prints, each figure next to its baseline from the same run.
export {};

const benches: Record<string, { about: string; run: () => Promise<{ run: () => Promise<void> }> }> = {
  releases: {
    about: 'the release system under load and at scale; in a browser compared with stock Module Federation',
    run: () => import('./releases.ts'),
  },
  experience: { about: 'what a reader finds on a phone, against the goals', run: () => import('./experience.ts') },
  server: {
    about: 'the front server compared with bare Hono, and over a long run',
    run: () => import('./server.ts'),
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
