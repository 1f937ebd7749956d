import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repoRoot } from '@liaozhai/shared/build/facts';
import { afterAll, beforeAll, expect, test } from '@rstest/core';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'install-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(['c#', '100%', 'why?'])(
  'a folder that Rsbuild cannot read (%s) is refused before the installation',
  (name) => {
    const root = join(folder, name);
    cpSync(join(repoRoot, 'package.json'), join(root, 'package.json'), { recursive: true });
    for (const file of readdirSync(join(repoRoot, 'host/server')).filter((each) => each.endsWith('.mjs')))
      cpSync(join(repoRoot, 'host/server', file), join(root, 'host/server', file), { recursive: true });
    const { status, stderr } = spawnSync(process.execPath, [join(root, 'host/server/start.mjs')], {
      encoding: 'utf8',
      env: { ...process.env, PORT: '0', CONSOLE_PORT: '0' },
    });
    expect(stderr).toBe(
      `${root}/ has #, % or ? in its path, which Rsbuild cannot read: move the repository, then run the command again.\n`,
    );
    expect(status).toBe(1);
  },
);

// nobody can create files in these, not even root
test.each(['/proc/data', '/sys/data', '/dev/full', '/dev/null/data'])(
  'DATA_DIR=%s is refused before the installation',
  (dataDir) => {
    const { status, stderr } = spawnSync(process.execPath, [join(repoRoot, 'host/server/start.mjs')], {
      encoding: 'utf8',
      env: { ...process.env, DATA_DIR: dataDir },
      timeout: 60_000,
    });
    expect(stderr).toMatch(new RegExp(`^DATA_DIR ${dataDir} cannot be written \\(E\\w+\\): choose another .*\n$`));
    expect(status).toBe(1);
  },
);
