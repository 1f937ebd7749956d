import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@rstest/core';
import { temporaryFolder } from '../src/testing/openTestStore.ts';
import { originInPipeline, originOf, pageOf } from './context.ts';

const sha = '0123456789abcdef0123456789abcdef01234567';

describe('what a pipeline says of a build', () => {
  test('on GitHub, of a push and of a pull request', () => {
    const push = {
      GITHUB_ACTIONS: 'true',
      GITHUB_SHA: sha,
      GITHUB_ACTOR: 'wang',
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_REPOSITORY: 'team/gifts',
      GITHUB_RUN_ID: '77',
      GITHUB_REF: 'refs/heads/main',
    };
    expect(originInPipeline(push)).toEqual({
      commit: sha,
      author: 'wang',
      change: `https://github.com/team/gifts/commit/${sha}`,
      run: 'https://github.com/team/gifts/actions/runs/77',
    });
    expect(originInPipeline({ ...push, GITHUB_REF: 'refs/pull/12/merge' })?.change).toBe(
      'https://github.com/team/gifts/pull/12',
    );
  });

  test('on GitLab, of a push and of a merge request', () => {
    const push = {
      GITLAB_CI: 'true',
      CI_COMMIT_SHA: sha,
      CI_COMMIT_AUTHOR: 'Li Hua <li@example.org>',
      CI_PROJECT_URL: 'https://gitlab.example/team/gifts',
      CI_JOB_URL: 'https://gitlab.example/team/gifts/-/jobs/9',
    };
    expect(originInPipeline(push)).toEqual({
      commit: sha,
      author: 'Li Hua',
      change: `https://gitlab.example/team/gifts/-/commit/${sha}`,
      run: 'https://gitlab.example/team/gifts/-/jobs/9',
    });
    const request = { CI_MERGE_REQUEST_PROJECT_URL: 'https://gitlab.example/team/gifts', CI_MERGE_REQUEST_IID: '3' };
    expect(originInPipeline({ ...push, ...request })?.change).toBe(
      'https://gitlab.example/team/gifts/-/merge_requests/3',
    );
  });

  test('on Gitee, whose addresses follow from the repository', () => {
    const pull = {
      GITEE_PIPELINE_NAME: 'publish',
      GITEE_COMMIT: 'f'.repeat(40),
      GITEE_SOURCE_COMMIT: sha,
      GITEE_PIPELINE_TRIGGER_USER: 'zhao',
      GITEE_PULL_ID: '5',
    };
    const remote = 'git@gitee.com:team/gifts.git';
    expect(originInPipeline(pull, remote)).toEqual({
      commit: sha,
      author: 'zhao',
      change: 'https://gitee.com/team/gifts/pulls/5',
    });
    const push = { ...pull, GITEE_SOURCE_COMMIT: '', GITEE_PULL_ID: '' };
    expect(originInPipeline(push, remote)?.change).toBe(`https://gitee.com/team/gifts/commit/${'f'.repeat(40)}`);
  });

  test('on Jenkins', () => {
    const build = {
      JENKINS_URL: 'https://ci.example/',
      GIT_COMMIT: sha,
      BUILD_URL: 'https://ci.example/job/gifts/4/',
      CHANGE_URL: 'https://code.example/pulls/4',
      CHANGE_AUTHOR: 'qian',
    };
    expect(originInPipeline(build)).toEqual({
      commit: sha,
      author: 'qian',
      change: 'https://code.example/pulls/4',
      run: 'https://ci.example/job/gifts/4/',
    });
  });

  test('nowhere else', () => expect(originInPipeline({ CI: 'true' })).toBeNull());
});

test.each([
  ['https://github.com/team/gifts.git', 'https://github.com/team/gifts'],
  ['https://token@gitlab.example/a/b/c', 'https://gitlab.example/a/b/c'],
  ['ssh://git@gitee.com:22/team/gifts.git', 'https://gitee.com/team/gifts'],
  ['/srv/git/gifts.git', undefined],
  ['', undefined],
])('the page of %s', (remote, page) => expect(pageOf(remote)).toBe(page));

describe('what a folder says of a build', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeAll(async () => {
    folder = await temporaryFolder();
  });
  afterAll(() => folder.remove());

  test('its commit and author, and that the files were not those of the commit', async () => {
    const repository = `${folder.path}/repository`;
    const git = (...words: string[]) =>
      promisify(execFile)('git', ['-C', repository, '-c', 'user.name=王五', '-c', 'user.email=x@y', ...words]);
    await mkdir(repository);
    await git('init', '-q');
    await writeFile(`${repository}/a.txt`, 'a');
    await git('add', '.');
    await git('commit', '-qm', 'first');
    const { commit, author } = await originOf(repository, {});
    expect(commit).toMatch(/^[0-9a-f]{12}$/);
    expect(author).toBe('王五');
    await writeFile(`${repository}/a.txt`, 'b');
    expect((await originOf(repository, {})).commit).toBe(`${commit}-dirty`);
    const told = await originOf(repository, { JENKINS_URL: 'x', GIT_COMMIT: sha });
    expect(told.commit).toBe(`${sha.slice(0, 12)}-dirty`);
    expect(await originOf(folder.path, {})).toEqual({ author: undefined, commit: null });
  });
});
