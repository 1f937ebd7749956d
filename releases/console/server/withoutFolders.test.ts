import { tmpdir } from 'node:os';
import { expect, test } from '@rstest/core';
import { withoutFolders } from './withoutFolders.ts';

const label = 'file:/srv/releases';
test.each([
  ['chat@1.4.0+aaaaaaaaaaaa is not in file:/srv/releases', 'chat@1.4.0+aaaaaaaaaaaa is not in the store'],
  [
    "ENOENT: no such file or directory, open '/srv/releases/builds/chat/build.json'",
    "ENOENT: no such file or directory, open 'the store'",
  ],
  [`ENOSPC: no space left, write ${tmpdir()}/liaozhai-x`, 'ENOSPC: no space left, write the store'],
  [`the browser of ${process.cwd()}/node_modules did not start`, 'the browser of the store did not start'],
  ['routes: /explore and /story/:id are claimed twice', 'routes: /explore and /story/:id are claimed twice'],
  [
    '/builds/chat/1.4.0-aaaaaaaaaaaa/remoteEntry.js answers 404',
    '/builds/chat/1.4.0-aaaaaaaaaaaa/remoteEntry.js answers 404',
  ],
  ['/srv/releases-of-others is not ours to hide', '/srv/releases-of-others is not ours to hide'],
])('a refusal keeps its words, and loses the folders of the server: %s', (text, shown) => {
  expect(withoutFolders(text, { label })).toBe(shown);
});

test('a bucket goes by no name either', () => {
  expect(withoutFolders('s3://team/app: 503 slow down', { label: 's3://team/app' })).toBe('the store: 503 slow down');
});
