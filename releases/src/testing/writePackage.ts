import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { HostDescription, RemoteDescription } from '../model/build.ts';
import { sha256Hex } from '../model/hashing.ts';

/** A folder of its own below the system's temporary folder, and the way to remove it. */
export async function temporaryFolder(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'releases-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

export interface PackageParts<Description> {
  description?: Partial<Description>;
  /** Added to or, with null, taken from the package's files. */
  files?: Record<string, string | null>;
}

const sharedVersions = { react: '19.3.1', 'react-dom': '19.3.1', '@liaozhai/shared/runtime': '1.0.0' };
const sharedRanges = { react: '^19.3.0', 'react-dom': '^19.3.0', '@liaozhai/shared/runtime': '^1.0.0' };

async function write(folder: string, files: Record<string, string | null>): Promise<string> {
  for (const [path, body] of Object.entries(files)) {
    if (body === null) continue;
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), body);
  }
  return folder;
}

/** Writes a remote's build output the way a real build leaves it: entry, module, one page chunk and its stylesheet. */
export function writeRemote(folder: string, name: string, source: string, parts: PackageParts<RemoteDescription> = {}) {
  const sourceHash = sha256Hex(`${name} ${source}`).slice(0, 12);
  const description: RemoteDescription = {
    kind: 'remote',
    name,
    label: name,
    version: '1.0.0',
    sourceHash,
    federation: '2.9.2',
    contract: '^1.0.0',
    shared: { provides: {}, requires: sharedRanges },
    entry: 'remoteEntry.js',
    css: [],
    global: `${name.replaceAll('-', '_')}_${sourceHash}`,
    chunkGlobal: `chunks_${name.replaceAll('-', '_')}_${sourceHash}`,
    exposes: ['./remote'],
    module: { js: ['static/js/async/remote.js'], css: [] },
    routes: [
      {
        name,
        path: `/${name}`,
        title: name,
        requiresAuth: false,
        keepAlive: false,
        outsideShell: false,
        js: ['static/js/async/page.js'],
        css: ['static/css/page.css'],
      },
    ],
    slots: [],
    ...parts.description,
  };
  return write(folder, {
    'liaozhai.json': JSON.stringify(description),
    'remoteEntry.js': `globalThis.__door;var ${description.global}={};self["${description.chunkGlobal}"]=[];`,
    'static/js/async/remote.js': `/* ${source} */ void "${name}";`,
    'static/js/async/page.js': `/* ${source} */ document.title="${name} ${source}";`,
    'static/css/page.css': `.${name}{color:red} /* ${source} */`,
    ...parts.files,
  });
}

export const PAGE_TEMPLATE = `<!doctype html><html lang="zh-CN"><head><meta charset="utf-8"><!--lz:title--><!--lz:meta-->
<style>body{margin:0}</style><!--lz:preloads--></head><body><div id="root"><!--lz:first--></div><!--lz:set-->
<script>globalThis.__door = {};</script></body></html>`;

/** Writes a host's build output: entry, template and service worker. */
export function writeHost(folder: string, source: string, parts: PackageParts<HostDescription> = {}) {
  const description: HostDescription = {
    kind: 'host',
    name: 'host',
    label: '聊斋',
    version: '1.0.0',
    sourceHash: sha256Hex(`host ${source}`).slice(0, 12),
    federation: '2.9.2',
    contract: '1.0.0',
    shared: { provides: sharedVersions, requires: {} },
    entry: 'static/js/host.js',
    css: [],
    template: 'page.html',
    serviceWorker: 'sw.js',
    ...parts.description,
  };
  return write(folder, {
    'liaozhai.json': JSON.stringify(description),
    'page.html': PAGE_TEMPLATE,
    'static/js/host.js': `/* ${source} */ globalThis.hostRuns = true;`,
    'sw.js': 'self.addEventListener("fetch", () => undefined);',
    ...parts.files,
  });
}
