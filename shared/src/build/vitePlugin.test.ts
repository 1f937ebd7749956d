import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, expect, test } from '@rstest/core';
import * as v from 'valibot';
import { buildDescriptionSchema, type RemoteDescription } from '../contract/releases.ts';
import { remotePlugin } from './vitePlugin.ts';

let root = '';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'vite-plugin-'));
  mkdirSync(join(root, 'src'));
  writeFileSync(join(root, 'package.json'), JSON.stringify({ name: 'gifts', version: '1.2.0' }));
  writeFileSync(join(root, 'src/remote.js'), '');
  writeFileSync(
    join(root, 'src/routes.js'),
    `export const routes = [{ name: 'gifts', path: '/gifts', title: '礼物', page: () => import('./GiftsPage.js') }];`,
  );
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

/** The entry around Vite's output for a remote that reports its shared libraries. */
async function built(mode = 'production') {
  const code = `var remoteModule=(function(e,t,n){e.default={react:t,runtime:n};return e})({},shared["react"],shared["@liaozhai/runtime"]);`;
  const bundle = {
    'remoteEntry.js': { type: 'chunk', fileName: 'remoteEntry.js', code },
    'style.css': { type: 'asset', fileName: 'style.css' },
  };
  const emitted: { source: string }[] = [];
  const plugin = remotePlugin({ name: 'gifts', label: '礼物', devPort: 0 });
  await plugin.config({ root }, { command: 'build', mode });
  await plugin.generateBundle.call({ emitFile: (file) => emitted.push(file as never) }, {}, bundle);
  const description = v.parse(buildDescriptionSchema, JSON.parse(emitted[0]?.source ?? '')) as RemoteDescription;
  return { script: bundle['remoteEntry.js'].code, description };
}

interface Container {
  init(scope: object): void;
  get(name: string): Promise<() => { default: object }>;
}

const offered = (module: string) => ({ '1.0.0': { lib: () => module } });
const scope = {
  react: offered("the host's react"),
  'react/jsx-runtime': offered('jsx'),
  'react-dom': offered('dom'),
  '@liaozhai/shared/runtime': { '2.0.0': { get: async () => () => "the host's runtime" } },
};

test('the one script is a container that runs with what the host shares, its stylesheet loaded by the host', async () => {
  const { script, description } = await built();
  const loaded: string[] = [];
  const page = {
    URL,
    document: { currentScript: { src: 'https://app.example/builds/gifts/1/remoteEntry.js' } },
    __loadAsset: async (kind: string, url: string) => void loaded.push(`${kind} ${url}`),
  };
  const container = runInNewContext(`${script};${description.global}`, page) as Container;
  container.init(scope);
  const remote = (await container.get('./remote'))();
  expect(remote.default).toEqual({ react: "the host's react", runtime: "the host's runtime" });
  expect(loaded).toEqual(['style https://app.example/builds/gifts/1/style.css']);
});

test('a failed file is loaded again on the next request', async () => {
  const { script, description } = await built();
  let works = false;
  const page = {
    URL,
    document: { currentScript: { src: 'https://app.example/remoteEntry.js' } },
    __loadAsset: async () => {
      if (!works) throw new Error('offline');
    },
  };
  const container = runInNewContext(`${script};${description.global}`, page) as Container;
  container.init(scope);
  await expect(container.get('./remote')).rejects.toThrow('offline');
  works = true;
  expect((await container.get('./remote'))()).toBeTruthy();
});

test('a dev server inside a host serves another global than the published build of the same sources', async () => {
  const [published, inside] = [await built(), await built('inside')];
  expect(inside.script).toContain(`var ${inside.description.global} =`);
  expect(inside.description.global).not.toBe(published.description.global);
});

test('its description names the page and the files that it takes', async () => {
  const { description } = await built();
  expect(description).toMatchObject({ name: 'gifts', version: '1.2.0', entry: 'remoteEntry.js' });
  expect(description.routes).toMatchObject([{ path: '/gifts', js: ['remoteEntry.js'], css: ['style.css'] }]);
});
