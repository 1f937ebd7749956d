import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@rstest/core';
import { temporaryFolder, writeHost, writeRemote } from '../src/testing/openTestStore.ts';
import { runCommand } from '../src/testing/runCommand.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder.remove());

const variables = () => ({
  RELEASES_TOKEN: undefined,
  RELEASES_STORE: `file:${folder.path}/store`,
  RELEASES_SMOKE: 'off',
  RELEASES_WHO: 'tester',
});

const release = (...words: string[]) => releaseWith({}, ...words);

const releaseWith = (more: Record<string, string | undefined>, ...words: string[]) =>
  runCommand(words, { ...variables(), ...more });

const json = async (...words: string[]) => {
  const { code, out } = await release(...words, '--json');
  return { code, value: JSON.parse(out) };
};

describe('the command line', () => {
  test('takes a package from its build to visitors and back, as the guide tells it', async () => {
    expect((await release('init')).out).toContain('refuses conflicting writes');
    const host = (await release('publish', await writeHost(`${folder.path}/host`, 'a'))).out.trim();
    const first = (await json('publish', await writeRemote(`${folder.path}/stories`, 'stories', 'a'))).value.id;
    expect((await release('activate', host, first, '--why', 'first')).out).toContain('state 2');
    await release('publish', await writeRemote(`${folder.path}/stories`, 'stories', 'b'), '--version', '1.1.0');
    expect((await json('check', 'stories@1.1.0')).value.passed).toBe(true);
    expect((await json('canary', 'stories@1.1.0', '--percent', '5')).value.candidate.percent).toBe(5);
    expect((await release('compare', 'stable', 'candidate')).out).toContain('stories 1.0.0 → 1.1.0');
    expect((await release('compare', 'stories@1.1.0', 'stories@1.0.0')).out).toContain('takes back 1 published build');
    expect((await json('promote')).value.changed).toBe(true);
    expect((await release('rollback', 'stories')).out).toContain(first);
    const status = (await json('status')).value;
    expect(status.stable.builds).toEqual([host, first].sort());
    expect((await json('log')).value.map(({ verb }: { verb: string }) => verb)).toEqual([
      'rollback',
      'promote',
      'canary',
      'activate',
      'init',
    ]);
    expect((await json('builds', 'stories')).value).toHaveLength(2);
  });

  test.each([
    ['by the address of the store', () => ({ RELEASES_STORE: `file:${folder.path}/own/releases` })],
    ['by the folder of the product', () => ({ RELEASES_STORE: undefined, DATA_DIR: `${folder.path}/own` })],
  ])('finds the store %s', async (_, settings) => {
    await releaseWith(settings(), 'init');
    expect((await releaseWith(settings(), 'whoami')).out).toContain(`file:${folder.path}/own/releases`);
    expect((await releaseWith(settings(), 'status')).code).toBe(0);
  });

  test.each([
    [['compare'], "missing required argument 'from'", 'compare [options] <from> <to>'],
    [['compare', 'stable'], "missing required argument 'to'", 'compare --help'],
    [['compare', 'stories@1.0.0', 'cards@1.0.0'], 'stories@1.0.0 and cards@1.0.0 are builds of two names', '`stable`'],
    [['rolback'], "unknown command 'rolback' (Did you mean rollback?)", 'pnpm release --help'],
    [['log', '--watch'], "unknown option '--watch'", 'pnpm release log --help'],
    [['freeze', 'add', 'now'], "too many arguments for 'add'", 'pnpm release freeze add --help'],
    [['status', '--watch'], '--watch has no --json', 'Leave one of them out.'],
  ])('%j is wrong usage, and prints the right one', async (words, message, cure) => {
    const { code, out } = await release(...words, '--json');
    expect(code).toBe(2);
    expect(JSON.parse(out).error).toMatchObject({
      kind: 'usage',
      message: expect.stringContaining(message),
      cure: expect.stringContaining(cure),
    });
  });

  test.each(['lz_…', '令牌', 'Bearer lz_a_b', '"lz_a_b"', 'lz_a_b lz_c_d'])(
    'a malformed token (%s) is named as such, and not as a console that is away',
    async (token) => {
      const away = { RELEASES_STORE: 'http://127.0.0.1:9' };
      const { code, err } = await releaseWith({ ...away, RELEASES_TOKEN: token }, 'status');
      expect([code, err]).toEqual([2, expect.stringContaining('RELEASES_TOKEN is no token')]);
      const pasted = await releaseWith({ ...away, RELEASES_TOKEN: ' lz_a_b\n' }, 'status');
      expect([pasted.code, pasted.err]).toEqual([3, expect.stringContaining('does not answer')]);
    },
  );

  test('says its version as JSON, too', async () => {
    const { version } = (await json('--version')).value;
    expect((await release('--version')).out).toBe(`${version}\n`);
  });

  test('what a pipeline says of a build is shown in the list, the log and the difference', async () => {
    const pipeline = {
      GITLAB_CI: 'true',
      CI_COMMIT_SHA: '0123456789abcdef0123456789abcdef01234567',
      CI_COMMIT_AUTHOR: 'Li Hua <li@example.org>',
      CI_PROJECT_URL: 'https://gitlab.example/team/cards',
      CI_JOB_URL: 'https://gitlab.example/team/cards/-/jobs/9',
    };
    const dist = await writeRemote(`${folder.path}/cards`, 'cards', 'a');
    await releaseWith(pipeline, 'publish', dist);
    expect((await release('compare', 'stable', 'cards@1.0.0')).out).toContain('by Li Hua');
    await release('activate', 'cards@1.0.0');
    for (const verb of [['builds', 'cards'], ['log']]) {
      const { out } = await release(...verb);
      for (const part of ['0123456789ab', 'by Li Hua', '/-/commit/0123456789abcdef', '/-/jobs/9'])
        expect(out).toContain(part);
    }
  });

  test('what others wrote moves no cursor and turns no line round', async () => {
    const dist = await writeRemote(`${folder.path}/dice`, 'dice', 'a');
    const author = (text: string) => ({ GITLAB_CI: 'true', CI_COMMIT_AUTHOR: text });
    await releaseWith(author('Li \u001b[2J\u202e\u200fHua'), 'publish', dist);
    const { out } = await release('builds', 'dice');
    const { err } = await release('compare', '\u001b[2J\r\n\u2028dice', 'stable');
    expect([out, err]).toEqual([expect.stringContaining('by Li [2JHua'), expect.stringContaining('"[2J dice"')]);
    expect(out + err).not.toMatch(/(?!\n)[\p{Cc}\u200f\u202e\u2028]/u);
  });

  test('a reason of several lines is one line of the log and the status', async () => {
    await release('activate', 'dice@1.0.0', '--why', 'new dice\n   99  2026-01-01 00:00 UTC  li  kill stories');
    for (const verb of ['log', 'status']) expect((await release(verb)).out).toMatch(/"new dice {4}99 .*kill stories"/);
  });

  test('killing under another name than the one of the build is refused', async () => {
    const { code, err } = await release('kill', 'stories@1.1.0', '--confirm', 'chat');
    expect([code, err]).toEqual([1, expect.stringContaining('Type stories to kill it.')]);
    expect((await json('builds', 'stories')).value).toHaveLength(2);
  });

  test('killing the only build of a name says what that takes away, and waits for the name', async () => {
    const gifts = (await json('publish', await writeRemote(`${folder.path}/gifts`, 'gifts', 'a'))).value.id;
    await release('activate', gifts);
    const { code, err } = await release('kill', gifts);
    expect(code).toBe(1);
    for (const part of ['never runs again', '- /gifts', '`withdraw gifts`', '--confirm gifts'])
      expect(err).toContain(part);
    const asked = await release('withdraw', 'gifts');
    expect([asked.code, asked.err]).toEqual([1, expect.stringMatching(/- \/gifts\n.*--confirm gifts/)]);
    for (const said of [err, asked.err]) expect(said.split('/gifts')).toHaveLength(2);
    const withdrawn = await release('withdraw', 'gifts', '--yes');
    expect([withdrawn.err, withdrawn.out]).toEqual([
      expect.stringContaining('Everybody loses /gifts.'),
      expect.stringContaining(`withdraw ${gifts}`),
    ]);
    expect((await release('activate', gifts)).code).toBe(0);
    expect((await release('kill', gifts, '--confirm', 'gifts')).out).toContain(`kill ${gifts}`);
  });

  test('an override is a whole link to a page of the remote where the site is known; a preview is opened, listed and ended', async () => {
    const site = { RELEASES_SITE: 'https://app.example' };
    const link = await releaseWith(site, 'override', 'stories@1.1.0', '--json');
    expect(JSON.parse(link.out).address).toMatch(/^https:\/\/app\.example\/stories\?override=[\w-]{22}$/);
    expect((await releaseWith(site, 'override', 'stories@1.1.0')).out).toMatch(
      /^https:\/\/app\.example\/stories\?override=/,
    );
    const browser = 'c'.repeat(32);
    const request = `stories@http://localhost:3101 ${browser}`;
    expect((await release('preview', 'open', request)).code).toBe(2);
    const opened = await release('preview', 'open', request, '--person', 'Li Hua', '--for', '30m', '--why', 'new list');
    expect(opened.out).toContain('stories@http://localhost:3101 for Li Hua');
    expect((await release('preview', 'list')).out).toMatch(
      /Li Hua\s+stories@http:\/\/localhost:3101\s+until .* by tester/,
    );
    expect((await release('preview', 'end', browser)).code).toBe(0);
    expect((await release('preview', 'list')).out).toContain('No preview is open');
    expect((await release('log')).out).toContain('Li Hua');
  });

  test('a preview begins with production, and what was tried there is promoted', async () => {
    const made = await release('channel', 'create', 'preview', '--from', 'production');
    expect(made.out).toContain('runs what production runs');
    expect(made.out).toContain('CHANNEL=preview npm start -- --serve');
    expect((await release('channel', 'list')).out.trim().split('\n')).toEqual(['preview', 'production']);
    await release('publish', await writeRemote(`${folder.path}/stories`, 'stories', 'c'), '--version', '1.2.0');
    await release('activate', 'stories@1.2.0', '--channel', 'preview');
    expect((await release('compare', 'stable', 'preview:stable')).out).toContain('1.2.0');
    const { out } = await release('promote', '--from', 'preview', '--why', 'tried');
    expect(out).toMatch(/promote stories@1\.2\.0\+\w+ from preview, state 3/);
    expect((await release('log', '--channel', 'preview')).out).toContain('to production, state');
    const elsewhere = ['--store', `file:${folder.path}/other`];
    await release('init', ...elsewhere);
    const across = await release(
      'promote',
      '--from',
      'production',
      '--from-store',
      `file:${folder.path}/store`,
      ...elsewhere,
    );
    expect(across.out).toContain(`of file:${folder.path}/store`);
    expect((await json('status', ...elsewhere)).value.stable.set).toBe((await json('status')).value.stable.set);
    expect((await release('promote', '--from-store', 'file:x')).code).toBe(2);
    expect((await release('promote', 'gifts', '--from', 'preview')).err).toContain('status --channel preview');
    const from = ['--from', 'production', '--from-store', `file:${folder.path}/store`];
    for (const verb of [['promote'], ['channel', 'create', 'other']]) {
      const { code, err } = await release(...verb, ...from, '--from-key', 'MFkw', ...elsewhere);
      expect([code, err]).toEqual([2, expect.stringContaining('usage: --from-key is no public key')]);
    }
    await writeFile(`${folder.path}/other/store.json`, '{"publicKey":"MFkw"}');
    expect(
      (await release('promote', '--from', 'production', '--from-store', `file:${folder.path}/other`)).err,
    ).toContain('refused: store.json of file:');
  });

  test('a schedule and a freeze window are made, shown and taken away', async () => {
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
    await release('publish', await writeRemote(`${folder.path}/stories-d`, 'stories', 'd'), '--version', '1.4.0');
    const { out } = await release('canary', 'stories@1.4.0', '--schedule', '5@now,25@1h,100@4h', '--why', 'overnight');
    expect(out).toContain('set: 5@now,25@1h,100@4h, 1 taken');
    const status = (await release('status')).out;
    for (const part of ['Scheduled:', '1 of 3 taken (tester, "overnight")', '25 % at ', 'No console runs'])
      expect(status).toContain(part);
    await release('schedule', 'pause', 'stories');
    expect((await release('schedule', 'list')).out).toContain('paused by tester');
    const { value } = await json('freeze', 'add', '--to', tomorrow, '--why', 'spring fair');
    const { code, err } = await release('promote');
    expect(code).toBe(1);
    for (const part of ['spring fair', '--despite-freeze']) expect(err).toContain(part);
    // every time for people is local
    for (const said of [err, (await release('log')).out]) {
      expect(said).toMatch(
        /\d{4}-\d\d-\d\d \d\d:\d\d UTC\S*: spring fair|UTC\S* to [\d-]+ [\d:]+ UTC\S*, "spring fair"/,
      );
      expect(said).not.toMatch(/\d{4}-\d\d-\d\dT/);
    }
    expect((await release('freeze', 'list')).out).toMatch(
      /^\w+ {2}[\d-]+ [\d:]+ UTC\S* to [\d-]+ [\d:]+ UTC\S* +OPEN +spring fair/m,
    );
    expect((await release('promote', '--despite-freeze', 'login is broken')).out).toContain(
      'although frozen ("spring fair"): login is broken',
    );
    await release('rollback', 'stories');
    await release('freeze', 'remove', value.id);
    expect((await json('status')).value.agenda).toMatchObject({ schedules: [], freezes: [], frozen: null });
  });

  test.each([
    [['activate', 'stories@1.4.0', '--despite-freeze'], 200],
    [['canary', 'stories@1.4.0', '--schedule', '5@now,25@1h', '--why'], 500],
    [['freeze', 'add', '--weekly', 'Fri 18:00-Mon 08:00', '--why'], 200],
    [['preview', 'open', `stories@http://localhost:3101 ${'c'.repeat(32)}`, '--person'], 60],
    [['webhook', 'add'], 2000],
  ])('%j with a text of more than %i characters is refused before anything changes', async (words, most) => {
    const { seq } = (await json('status')).value;
    const { code, err } = await release(...words, 'https://a.example/'.padEnd(most + 1, 'x'));
    expect([code, err]).toEqual([2, expect.stringContaining(`${most} characters`)]);
    expect((await json('status')).value).toMatchObject({ seq, candidate: null, agenda: { freezes: [], webhooks: [] } });
  });

  test('says of each build whether it is live, on trial, the last good one or killed', async () => {
    const versions = ['1.0.0', '1.1.0', '1.2.0', '1.3.0', '1.4.0'];
    for (const version of versions) {
      const dist = await writeRemote(`${folder.path}/badges-${version}`, 'badges', version);
      await release('publish', dist, '--version', version);
    }
    await release('activate', 'badges@1.0.0');
    await release('activate', 'badges@1.1.0');
    await release('canary', 'badges@1.2.0', '--percent', '5');
    await release('kill', 'badges@1.4.0');
    const { out } = await release('builds', 'badges');
    const states = out.matchAll(/^badges@([\d.]+)\S+ +(live|last good|killed|candidate 5 %)?/gm);
    expect(Object.fromEntries([...states].map(([, version, state]) => [version, state]))).toEqual({
      '1.0.0': 'last good',
      '1.1.0': 'live',
      '1.2.0': 'candidate 5 %',
      '1.3.0': undefined,
      '1.4.0': 'killed',
    });
    await release('abort', 'badges');
    const unfit = await writeHost(`${folder.path}/host-9`, 'other contract', { description: { contract: '9.0.0' } });
    await release('publish', unfit, '--version', '9.0.0');
    await release('activate', 'host@9.0.0', '--force', '--why', 'all contracts change');
    expect((await release('builds', 'badges')).out).not.toContain('last good');
    expect((await release('status', '--all')).out).not.toMatch(/Last good[^:]*:(\n {2}\S+)*\n {2}badges@/);
    await release('rollback', 'host');
    expect((await release('status', '--all')).out).toMatch(/Last good[^:]*:(\n {2}\S+)*\n {2}badges@1\.0\.0/);
  });

  test('a candidate for nobody is said to be one', async () => {
    const begun = await release('canary', 'stories@1.4.0', '--percent', '0');
    expect([begun.code, begun.err]).toEqual([0, expect.stringContaining('Nobody gets it until its share is raised')]);
    const [head = '', ...lines] = (await release('status')).out.split('\n');
    expect(head).toContain('canary stories@1.4.0');
    expect(head).not.toMatch(/\+[\da-f]{12}/);
    expect(lines.join('\n')).toMatch(/For nobody yet \(0 %\), begun .*: stories 1\.4\.0/);
    await release('abort');
  });

  test('a webhook is added with its secret, listed without it, and removed', async () => {
    expect((await release('webhook', 'add', 'http://chat.example/hook')).err).toContain('over https');
    const { value } = await json('webhook', 'add', 'https://chat.example/hook');
    expect(value.secret).toMatch(/^whsec_/);
    const { out } = await release('webhook', 'list');
    expect(out).toContain(`${value.id}  https://chat.example/…`);
    expect(out).not.toContain('whsec_');
    expect((await release('webhook', 'remove', value.id)).out).toContain('removed: https://chat.example/…');
  });

  test('a refusal names the reason and the cure, on standard error, with exit code 1', async () => {
    const { code, out, err } = await release('publish', folder.path);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/holds no liaozhai\.json[\s\S]*remotes\/<name>\/dist/);
    expect((await json('activate', 'stories@8.0.0')).value.error).toMatchObject({
      kind: 'refused',
      cure: expect.any(String),
    });
  });

  test('wrong usage ends with 2, an unreachable or forbidden store with 3', async () => {
    const codes = await Promise.all([
      release('canary', 'stories@1.0.0'),
      release('canary', 'x@1.0.0', '--percent', 'many'),
      release('token', 'create', 'manager', '--days', '400000000'),
      release('freeze', 'add', '--weekly', 'weekend', '--why', 'x'),
      release('no-such-verb'),
      release('status', '--store', 'https://console.invalid'),
      release('gc', '--store', 'https://console.invalid'),
      release('init', '--store', 'file:/dev/null/x'),
    ]);
    expect(codes.map(({ code }) => code)).toEqual([2, 2, 2, 2, 2, 2, 2, 3]);
  });

  test('as a process it answers on standard output, refuses on standard error, and ends with the exit code', () => {
    const { RELEASES_TOKEN: _, ...environment } = { ...process.env, ...variables() };
    const start = (...words: string[]) => {
      const env = environment as NodeJS.ProcessEnv;
      return spawnSync(process.execPath, ['host/server/run.mjs', 'releases/cli/main.ts', ...words], {
        env,
        encoding: 'utf8',
      });
    };
    expect(start('channel', 'list')).toMatchObject({
      status: 0,
      stderr: '',
      stdout: expect.stringContaining('production'),
    });
    expect(start('publish', folder.path)).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining('liaozhai.json'),
    });
    Object.assign(environment, { AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:9', AWS_ACCESS_KEY_ID: 'a' });
    const away = start('status', '--store', 's3://bucket/none');
    expect([away.status, away.stderr.trim().split('\n').length]).toEqual([3, 2]);
  });

  test('a console has its own browser check: asking for one here is refused, not ignored', async () => {
    const { code, err } = await release('check', '--store', 'https://console.invalid', '--smoke', 'required');
    expect(code).toBe(2);
    expect(err).toContain('a console has its own browser check');
  });

  test('where two persons decide, going forward waits with an exit code of its own until another one approves', async () => {
    const as = (who: string, ...words: string[]) => releaseWith({ RELEASES_WHO: who }, ...words);
    const published = await writeRemote(`${folder.path}/stories`, 'stories', 'two');
    const build = (await release('publish', published, '--version', '2.2.0')).out.trim();
    expect((await as('li', 'approval', 'on', '--expires', '8h')).out).toContain('two persons decide');
    const asked = await as('li', 'activate', build, '--why', 'new feed');
    expect(asked.code).toBe(4);
    const [, id = ''] = /pnpm release approve ([0-9a-f]{8})/.exec(asked.out) ?? [];
    expect((await as('wang', 'proposals')).out).toMatch(new RegExp(`Proposal ${id} of li.*let it through`));
    expect((await as('wang', 'status')).out).toContain(`Proposal ${id} of li`);
    const own = await as('li', 'approve', id);
    expect([own.code, own.err]).toEqual([3, expect.stringContaining('Ask another manager')]);
    const approved = await as('wang', 'approve', id);
    expect([approved.code, approved.out]).toEqual([0, expect.stringContaining('proposed by li, approved as')]);
    const off = JSON.parse((await as('li', 'approval', 'off', '--json')).out);
    expect((await as('li', 'retract', off.proposal.id)).code).toBe(0);
    expect((await as('li', 'rollback', 'stories')).code).toBe(0);
    const again = JSON.parse((await as('li', 'approval', 'off', '--json')).out);
    expect((await as('wang', 'approve', again.proposal.id)).out).toContain('one person decides');
  });

  test('help shows every verb, and each verb an example', async () => {
    const { out, code } = await release('--help');
    expect(code).toBe(0);
    for (const verb of [
      'init',
      'channel',
      'publish',
      'builds',
      'status',
      'health',
      'log',
      'compare',
      'check',
      'activate',
      'canary',
      'schedule',
      'freeze',
      'approval',
      'proposals',
      'approve',
      'reject',
      'retract',
      'webhook',
      'promote',
      'abort',
      'rollback',
      'withdraw',
      'kill',
      'override',
      'preview',
      'token',
      'export',
      'gc',
    ])
      expect(out).toContain(verb);
    expect((await release('canary', '--help')).out).toContain('pnpm release canary stories@');
  });
});
