import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { siteBrand } from '@liaozhai/releases';
import { afterAll, expect, test } from '@rstest/core';
import { openTestProduct } from './testing/testProduct.ts';

const root = join(import.meta.dirname, '../..');
const brand = {
  name: '夜航"船',
  seal: '船',
  slogan: '半盏灯，一程水',
  icp: '京ICP备00000000号',
  colors: { light: { accent: '#1f6f8b', paper: '#f0f6f8' }, dark: { accent: '#7fc4da', paper: '#0e1416' } },
};

/** Serves the page, manifest and icons of the host's sources. */
const product = await openTestProduct((folder) => {
  const read = (path: string) => readFileSync(join(root, 'host', path));
  const page = read('src/page.html').toString().replace('/*lz:css*/', ':root{--accent:#b3392f}');
  writeFileSync(join(folder, 'host/page.html'), page);
  for (const file of readdirSync(join(root, 'host/public')))
    writeFileSync(join(folder, 'host', file), read(`public/${file}`));
});
afterAll(() => product.close());
const shipped = await product.serve();
const own = await product.serve({}, { config: { brand } });

const text = async (address: string) => (await fetch(address)).text();
const sideOf = async (address: string) => Buffer.from(await (await fetch(address)).arrayBuffer()).readUInt32BE(16);

test('a site’s brand changes its pages', async () => {
  for (const path of ['/explore', '/story/nie-xiaoqian', '/no/such/page']) {
    const html = await text(own + path);
    expect(html, path).not.toContain('聊斋');
    expect(html, path).not.toContain('lz-brand');
    expect(html, path).toMatch(/<title>(?:[^<]* · )?夜航&quot;船<\/title>/);
    expect(html).toContain('<meta property="og:site_name" content="夜航&quot;船">');
    expect(html).toContain('夜航&quot;船没能打开');
    expect(html).toContain('<meta name="theme-color" content="#f0f6f8"');
    expect(html).toContain(
      ':root,[data-theme=light]{--weak:#dbe9ed;--paper:#f0f6f8;--accent:#1f6f8b;--veil:#f0f6f8db}',
    );
    expect(decodeURIComponent(/<link rel="icon"[^>]* href="([^"]*)"/.exec(html)?.[1] ?? '')).toMatch(/#1f6f8b.*船/);
    const { colors: _, ...words } = brand;
    expect(JSON.parse(/id="liaozhai-config">([^<]*)</.exec(html)?.[1] ?? '{}')).toMatchObject({ brand: words });
  }
  expect(await text(`${own}/explore`)).toMatch(/<meta name="description" content="半盏灯，一程水。在夜航&quot;船里/);
});

test('the page’s policy allows its style', async () => {
  const [plain, coloured] = await Promise.all([shipped, own].map((site) => fetch(`${site}/explore`)));
  const hashes = (answer?: Response) =>
    answer?.headers
      .get('content-security-policy')
      ?.match(/style-src [^;]*/)?.[0]
      .match(/sha256-/g)?.length ?? 0;
  expect(hashes(coloured)).toBe(hashes(plain) + 1);
});

test('it has its own manifest and icons of the same sizes', async () => {
  const manifest = JSON.parse(await text(`${own}/manifest.webmanifest`));
  const { name, short_name, description, background_color, theme_color } = manifest;
  expect([name, short_name, description]).toEqual([brand.name, brand.name, brand.slogan]);
  expect([background_color, theme_color]).toEqual(['#f0f6f8', '#f0f6f8']);
  expect(await text(`${own}/favicon.svg`)).toMatch(/#1f6f8b.*>船</);
  for (const file of ['icon-192.png', 'icon-512.png', 'icon-maskable.png', 'apple-touch-icon.png']) {
    const [ours, theirs] = [`${own}/${file}`, `${shipped}/${file}`];
    expect(await text(ours), file).not.toBe(await text(theirs));
    expect(await sideOf(ours), file).toBe(await sideOf(theirs));
  }
});

test('the default brand does not change the built page', async () => {
  const html = await text(`${shipped}/explore`);
  expect(html).toContain('<title>发现 · 聊斋</title>');
  expect(html).toContain('聊斋没能打开');
  expect(html).not.toContain('brand');
  expect(await text(`${shipped}/manifest.webmanifest`)).toBe(
    readFileSync(join(root, 'host/public/manifest.webmanifest'), 'utf8'),
  );
});

test.each<[string, unknown]>([
  ['name', { name: '' }],
  ['name', { name: ' ' }],
  ['name', { name: 'a\nb' }],
  ['name', { name: '很'.repeat(21) }],
  ['seal', { seal: '三个字' }],
  ['colors.light.accent', { colors: { light: { accent: 'red;}' } } }],
  ['colors.dark.acent', { colors: { dark: { acent: '#000000' } } }],
  ['logo', { logo: 'x' }],
])('an invalid %s is refused by name', (field, wrong) => {
  expect(() => siteBrand(wrong)).toThrow(expect.objectContaining({ details: [expect.stringContaining(field)] }));
});

test('one file of the page’s code contains the name', () => {
  const folders = [
    'host/src',
    'host/server',
    'releases/src/serve',
    'shared/src/runtime',
    'shared/src/ui',
    'shared/src/format',
    'backend/src/auth',
    'backend/src/users',
  ];
  const remotes = readdirSync(join(root, 'remotes')).map((name) => `remotes/${name}/src`);
  const named = [...folders, ...remotes].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .map((file) => `${folder}/${file}`)
      .filter((file) => /\.(tsx?|html|css|json)$/.test(file) && !/\.test\.|\/testing\//.test(file))
      .filter((file) => readFileSync(join(root, file), 'utf8').includes('聊斋')),
  );
  // the line that the start prints for scripts
  expect(named).toEqual(['host/server/main.ts']);
});
