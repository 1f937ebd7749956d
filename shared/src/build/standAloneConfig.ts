import { join } from 'node:path';
import { mergeRsbuildConfig, type RsbuildConfig } from '@rsbuild/core';
import { baseConfig } from './base.ts';
import { packageFacts } from './facts.ts';

/** Paths that belong to the backend wherever the page comes from. */
export const backendPaths = ['/api', '/sanctum', '/broadcasting', '/app'];

/** Hands the backend's paths (the socket too) to the running product, under this page's own host, or changes would be refused as another site's. */
export const backendProxy = (target = process.env.BACKEND_URL ?? 'http://localhost:3000') =>
  Object.fromEntries(
    backendPaths.map((path) => [path, { target, changeOrigin: false, ws: path === '/app', xfwd: true }]),
  );

/** One remote by itself with hot reload: no federation, everything in one bundle. */
export const standAloneConfig = (root: string, port: number, label: string): RsbuildConfig =>
  mergeRsbuildConfig(baseConfig(packageFacts('remote', root)), {
    source: { entry: { index: './src/index.ts' } },
    output: { assetPrefix: '/' },
    html: {
      title: `${label} · 聊斋`,
      meta: { viewport: 'width=device-width, initial-scale=1, viewport-fit=cover' },
      mountId: 'root',
    },
    server: { port, historyApiFallback: true, proxy: backendProxy() },
    dev: { assetPrefix: '/' },
    root: join(root),
  });
