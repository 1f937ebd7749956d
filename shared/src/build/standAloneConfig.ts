import { join } from 'node:path';
import { mergeRsbuildConfig, type RsbuildConfig } from '@rsbuild/core';
import { backendSegments } from '../contract/addresses.ts';
import { baseConfig } from './base.ts';
import { packageFacts, sharedRoot } from './facts.ts';

/** Where the backend is called, wherever the page comes from; the socket has rules of its own. */
const backendPaths = backendSegments.filter((segment) => segment !== 'app').map((segment) => `/${segment}`);

/**
 * Hands the backend's paths to the running product, under this page's own host, or changes would be refused as another
 * site's; the socket to the Reverb that REVERB_URL names, if it does.
 */
export function backendProxy(target = process.env.BACKEND_URL ?? 'http://localhost:3000') {
  const reverb = process.env.REVERB_URL;
  const socket = { '/app/': { target: reverb ?? target, changeOrigin: reverb !== undefined, ws: true, xfwd: true } };
  const calls = backendPaths.map((path) => [path, { target, changeOrigin: false, xfwd: true }] as const);
  return { ...Object.fromEntries(calls), ...socket };
}

/** One remote by itself with hot reload: no federation, everything in one bundle. */
export const standAloneConfig = (root: string, port: number, label: string): RsbuildConfig =>
  mergeRsbuildConfig(baseConfig(packageFacts('remote', root)), {
    source: { entry: { index: join(sharedRoot, 'src/standAlone/openStandAlone.tsx') } },
    resolve: { alias: { 'liaozhai-remote$': join(root, 'src/remote.ts') } },
    output: { assetPrefix: '/' },
    html: {
      title: `${label} · 聊斋`,
      meta: { viewport: 'width=device-width, initial-scale=1, viewport-fit=cover' },
      mountId: 'root',
    },
    server: { port, historyApiFallback: true, proxy: backendProxy() },
    dev: { assetPrefix: '/' },
    root,
  });
