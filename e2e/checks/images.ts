// Checks that the output of the Dockerfile's build stage starts: built JavaScript with its packages, outside of the repository,
// as a production process that answers /healthz. Also checks the Kubernetes manifests against the Dockerfile.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { load, loadAll } from 'js-yaml';
import { buildServer } from '../../docs/deploying/images/build.ts';
import { freePort } from '../product.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'liaozhai-images-'));
const problems: string[] = [];
const dockerfile = readFileSync(join(root, 'docs/deploying/images/Dockerfile'), 'utf8');
const targets = [...dockerfile.matchAll(/^FROM server AS (\w+)$/gm)].map(([, name = '']) => name);

/** Runs a built server as its image does. */
function start(name: string, words: string[], env: Record<string, string>): ChildProcess {
  return spawn(process.execPath, ['js/server/main.mjs', ...words], {
    cwd: join(folder, name),
    env: { PATH: process.env.PATH, NODE_ENV: 'production', DATA_DIR: join(folder, 'data', name), ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

/** Status of /healthz within half a minute after the start; 0 if the process ended. */
async function healthOf(child: ChildProcess, port: number): Promise<number> {
  for (let tries = 0; tries < 150 && child.exitCode === null; tries += 1) {
    const answer = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => null);
    if (answer) return answer.status;
    await wait(200);
  }
  return 0;
}

async function tryServer(name: string): Promise<void> {
  await buildServer(name, join(folder, name));
  const names = readdirSync(join(folder, name), { recursive: true }) as string[];
  const sources = names.filter((path) => /(?<!\.d)\.[cm]?tsx?$/.test(path) && !path.startsWith('node_modules'));
  for (const path of sources) problems.push(`${name}: ${path} is TypeScript`);
  const port = await freePort();
  const store = { RELEASES_STORE: `file:${join(folder, 'store')}` };
  const variables: Record<string, Record<string, string>> = {
    backend: { PORT: `${port}`, BACKEND_HOST: '127.0.0.1' },
    console: { CONSOLE_PORT: `${port}`, RELEASES_SMOKE: 'off', ...store },
    front: { PORT: `${port}`, BACKEND_URL: 'http://127.0.0.1:9', ...store },
  };
  if (name === 'console') {
    const init = spawn(process.execPath, ['js/server/release.mjs', 'init'], {
      cwd: join(folder, name),
      env: { PATH: process.env.PATH, ...store },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const [status] = await once(init, 'exit');
    if (status !== 0) problems.push('console: release.mjs init failed');
  }
  const child = start(name, name === 'front' ? ['--serve'] : [], variables[name] ?? {});
  const health = await healthOf(child, port);
  if (health !== 200) problems.push(`${name}: /healthz answers ${health || 'nothing'}`);
  child.kill('SIGTERM');
  if (child.exitCode === null) await once(child, 'exit');
}

interface Container {
  image: string;
  securityContext?: { runAsNonRoot?: boolean };
  livenessProbe?: object;
}
interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels?: Record<string, string> };
  spec?: {
    selector?: { matchLabels?: Record<string, string> } & Record<string, unknown>;
    template?: { metadata: { labels: Record<string, string> }; spec: { containers: Container[] } };
  };
}

/** Catches the likeliest mistakes in the manifests. `kubeconform -strict` would check their schemas, but is not available from npm. */
function checkManifests(): void {
  const text = readFileSync(join(root, 'docs/deploying/images/kubernetes.yaml'), 'utf8');
  const manifests = loadAll(text) as Manifest[];
  for (const { apiVersion, kind, metadata } of manifests)
    if (!apiVersion || !kind || !metadata?.name) problems.push(`kubernetes: ${kind} ${metadata?.name} is not whole`);
  for (const { metadata, spec } of manifests.filter((each) => each.spec?.template)) {
    const labels = spec?.template?.metadata.labels ?? {};
    for (const [name, value] of Object.entries(spec?.selector?.matchLabels ?? { none: '' }))
      if (labels[name] !== value) problems.push(`kubernetes: ${metadata.name} selects ${name}=${value}, not its pods`);
    for (const { image, securityContext, livenessProbe } of spec?.template?.spec.containers ?? []) {
      const target = /liaozhai-(\w+)/.exec(image)?.[1] ?? '';
      if (!targets.includes(target)) problems.push(`kubernetes: the Dockerfile makes no ${image}`);
      if (!securityContext?.runAsNonRoot || !livenessProbe) problems.push(`kubernetes: ${image} without probe or user`);
    }
  }
  const { services } = load(readFileSync(join(root, 'docs/deploying/images/compose.yaml'), 'utf8')) as {
    services: Record<string, { image: string; build?: { target: string } }>;
  };
  for (const [name, { build }] of Object.entries(services))
    if (build && !targets.includes(build.target)) problems.push(`compose: ${name} builds ${build.target}`);
}

try {
  checkManifests();
  // in this order, because the console creates the store that the front reads
  for (const name of ['console', 'backend', 'front']) await tryServer(name);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
