import { join } from 'node:path';
import { defineConfig, mergeRsbuildConfig } from '@rsbuild/core';
import { readDeclaration } from './describeBuild.ts';
import { requireFreePort } from './devServer.ts';
import { packageFacts, repoRoot } from './facts.ts';
import { sharedModules } from './federation.ts';
import { hasPrerendered, pluginIcons, pluginPrerender, prerenderEnvironment } from './page.ts';
import { type RegisteredRemote, registeredRemotes } from './registry.ts';
import { type Exchange, requireExposed } from './remotePlugin.ts';
import { baseConfig, federatedEnvironment, INSIDE, insideConfig, standAloneConfig } from './rsbuildRemote.ts';
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
  defineConfig(async ({ command, envMode }) => {
    const root = process.cwd();
    const { label, devPort } = findRemote(name);
    requireExposed(root);
    const facts = packageFacts('remote', root);
    const isInside = envMode === INSIDE;
    if (command === 'dev') await requireFreePort(devPort, 'its devPort in remotes.json');
    if (command === 'dev' && !isInside) return standAloneConfig(facts, devPort, label);
    if (isStock) return stockRemoteConfig(facts, name);
    const web = federatedEnvironment({ name, label, ...exchange }, facts, await readDeclaration(root), sharedModules());
    const config = mergeRsbuildConfig(baseConfig(facts), { plugins: [pluginIcons] });
    if (isInside) return { ...mergeRsbuildConfig(config, insideConfig(devPort)), environments: { web } };
    const isPrerendered = hasPrerendered(root);
    return {
      ...mergeRsbuildConfig(config, isPrerendered ? { plugins: [pluginPrerender(root, join(root, 'dist'))] } : {}),
      environments: { web, ...(isPrerendered ? { first: prerenderEnvironment(root) } : {}) },
    };
  });
