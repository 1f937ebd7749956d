import { fileURLToPath } from 'node:url';
import { type RsbuildConfig, rspack } from '@rsbuild/core';
import { pluginReact } from '@rsbuild/plugin-react';
import type { PackageFacts } from './facts.ts';
import { browserslist } from './floor.ts';

const createIcon = fileURLToPath(new URL('./createIcon.js', import.meta.url));

/** What host and remotes have in common. Class names carry the source hash, so two builds of one package never share a style. */
export function baseConfig({ sourceHash: hash }: PackageFacts): RsbuildConfig {
  return {
    plugins: [pluginReact()],
    output: {
      cleanDistPath: true,
      // chunks are asked of the build's own folder, not of the page
      assetPrefix: 'auto',
      filename: { js: '[name].[contenthash:8].js', css: '[name].[contenthash:8].css' },
      distPath: { js: 'static/js', css: 'static/css', jsAsync: 'static/js', cssAsync: 'static/css' },
      cssModules: { localIdentName: `[local]_[hash:base64:5]_${hash.slice(0, 4)}` },
      legalComments: 'none',
      overrideBrowserslist: browserslist,
      sourceMap: false,
    },
    // libraries too: what they publish may be newer than the floor
    source: { include: [/[\\/]node_modules[\\/]/] },
    performance: { printFileSize: false },
    tools: {
      rspack: (config) => {
        config.plugins?.push(new rspack.NormalModuleReplacementPlugin(/[\\/]createLucideIcon\.mjs$/, createIcon));
        if (config.mode !== 'production') return;
        config.optimization = {
          ...config.optimization,
          // the default ids are hashed from paths, of which federation's own modules have absolute ones:
          // the same sources would give other bytes in another folder
          moduleIds: 'natural',
          // the default names of exports last from build to build, which nothing needs: 0.6 KiB br of the host
          mangleExports: 'size',
        };
      },
    },
  };
}
