import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const template = `<!doctype html><html lang="zh-CN"><head><!--lz:title--><!--lz:meta--><style>body{margin:0}</style><!--lz:preloads--></head>
<body><div id="root"><!--lz:first--></div><!--lz:set--><script>window.started = true</script></body></html>`;

function writePackage(folder: string, name: string, description: object, files: Record<string, string>) {
  const all = { ...files, 'liaozhai.json': JSON.stringify(description) };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, name, path)), { recursive: true });
    writeFileSync(join(folder, name, path), text);
  }
  return join(folder, name);
}

const common = { version: '1.0.0', sourceHash: '0123456789ab', federation: '2.9.2' };
const route = {
  name: 'explore',
  path: '/explore',
  title: '发现',
  requiresAuth: false,
  keepAlive: true,
  outsideShell: false,
};

/** Writes the builds of a host and of one remote into the folder. Returns their folders. */
export const testPackages = (folder: string): string[] => [
  writePackage(
    folder,
    'host',
    {
      ...common,
      kind: 'host',
      name: 'host',
      label: '聊斋',
      contract: '1.0.0',
      shared: { provides: {}, requires: {} },
      entry: 'host.js',
      css: [],
      template: 'page.html',
    },
    {
      'host.js': 'console.info("host")',
      'page.html': template,
      'first/explore.json': JSON.stringify({ html: '<main>lz-screen-lz</main>' }),
      'first/guide.json': JSON.stringify({ html: '<main>lz-screen-lz</main>' }),
      'favicon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
    },
  ),
  writePackage(
    folder,
    'stories',
    {
      ...common,
      kind: 'remote',
      name: 'stories',
      label: '故事',
      contract: '^1.0.0',
      shared: { provides: {}, requires: {} },
      entry: 'remoteEntry.js',
      css: [],
      global: 'stories_0123456789ab',
      chunkGlobal: 'chunks_stories_0123456789ab',
      exposes: ['./remote'],
      module: { js: ['remote.js'], css: [] },
      routes: [
        { ...route, js: ['explore.js'], css: ['explore.css'] },
        { ...route, name: 'guide', path: '/guide', title: '指南', js: [], css: ['explore.css'] },
        { ...route, name: 'tasks', path: '/tasks', title: '任务', requiresAuth: true, js: [], css: [] },
        { ...route, name: 'story', path: '/story/:id', title: '故事', outsideShell: true, js: [], css: [] },
      ],
      slots: [],
    },
    {
      'remoteEntry.js': 'var stories_0123456789ab = "chunks_stories_0123456789ab";',
      'remote.js': '1',
      'explore.js': '2',
      'explore.css': '.card{color:red}',
      'first/explore.json': JSON.stringify({ source: '/v1/stories', html: '<p class="card">lz-url-lz</p>' }),
      'first/guide.json': JSON.stringify({ html: '<p class="card">read me</p>' }),
      'first/story.json': JSON.stringify({
        source: '/v1/stories/:id',
        html: '',
        card: {
          title: '"lz-url-lz"',
          description: 'lz-headers.accept-lz',
          image: ['lz-share_image_url-lz', '/covers/1.png'],
        },
      }),
    },
  ),
];
