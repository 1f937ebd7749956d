import { join } from 'node:path';
import { defineConfig, mergeRsbuildConfig } from '@rsbuild/core';
import { packageFacts, repoRoot } from './facts.ts';
import { sharedModules } from './federation.ts';
import { hasPrerendered, pluginIcons, pluginPrerender, prerenderEnvironment } from './page.ts';
import { type RegisteredRemote, registeredRemotes } from './registry.ts';
import { type Exchange, requireExposed } from './remotePlugin.ts';
import { commandConfig } from './rsbuildRemote.ts';
import { isStock, stockRemoteConfig } from './stock.ts';

function findRemote(name: string): RegisteredRemote {
  const entry = registeredRemotes(repoRoot).find((remote) => remote.name === name);
  if (!entry)
    throw new Error(`remotes.json does not know "${name}": add it there, or run pnpm new-remote ${name} <label>`);
  return entry;
}

/**
 * Rsbuild configuration of a remote of this repository: `export default remoteConfig('stories')`. `rsbuild build` creates the
 * federated build. `rsbuild dev` runs the remote alone on its port in remotes.json. With `--env-mode inside` it serves the build
 * to a deployed host with an override link.
 */
export const remoteConfig = (name: string, exchange: Exchange = {}) =>
  defineConfig(async (params) => {
    const root = process.cwd();
    const { label, devPort: port } = findRemote(name);
    requireExposed(root);
    const facts = packageFacts('remote', root);
    if (isStock && params.command === 'build') return stockRemoteConfig(facts, name);
    const remote = { name, label, ...exchange };
    const setting = 'its devPort in remotes.json';
    const config = await commandConfig(params, remote, facts, sharedModules(), { port, setting });
    const prerender = {
      plugins: [pluginPrerender(root, join(root, 'dist'))],
      environments: { first: prerenderEnvironment(root) },
    };
    const isPrerendered = params.command === 'build' && hasPrerendered(root);
    return mergeRsbuildConfig(config, { plugins: [pluginIcons] }, isPrerendered ? prerender : {});
  });
