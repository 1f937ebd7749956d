import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Provenance } from '../src/model/build.ts';

/** Where a build comes from: all of it is optional, since not every machine knows it. */
export type Origin = Pick<Provenance, 'commit' | 'author' | 'change' | 'run'>;

type Environment = Record<string, string | undefined>;

const join = (...parts: (string | undefined)[]): string | undefined =>
  parts.every(Boolean) ? parts.join('') : undefined;

/** `https://gitee.com/team/gifts` of a remote's address, in whichever form; undefined for what has no page. */
export function pageOf(remote: string): string | undefined {
  const [, host, path] =
    /^(?:https?:\/\/(?:[^@/]+@)?|(?:ssh:\/\/)?git@)([\w.-]+)(?::\d+)?[:/](.+?)(?:\.git)?\/?$/.exec(remote) ?? [];
  return join('https://', host, '/', path);
}

function github(of: Environment): Origin {
  const repository = join(of.GITHUB_SERVER_URL, '/', of.GITHUB_REPOSITORY);
  const [, pull] = /^refs\/pull\/(\d+)\//.exec(of.GITHUB_REF ?? '') ?? [];
  return {
    commit: of.GITHUB_SHA ?? null,
    author: of.GITHUB_ACTOR,
    change: join(repository, '/pull/', pull) ?? join(repository, '/commit/', of.GITHUB_SHA),
    run: join(repository, '/actions/runs/', of.GITHUB_RUN_ID),
  };
}

const gitlab = (of: Environment): Origin => ({
  commit: of.CI_COMMIT_SHA ?? null,
  author: of.CI_COMMIT_AUTHOR?.replace(/ *<[^>]*>$/, '') ?? of.GITLAB_USER_NAME,
  change:
    join(of.CI_MERGE_REQUEST_PROJECT_URL, '/-/merge_requests/', of.CI_MERGE_REQUEST_IID) ??
    join(of.CI_PROJECT_URL, '/-/commit/', of.CI_COMMIT_SHA),
  run: of.CI_JOB_URL ?? of.CI_PIPELINE_URL,
});

/** Gitee Go names no addresses: those of the change follow from the checked out repository, a run has none. */
function gitee(of: Environment, repository: string | undefined): Origin {
  const commit = of.GITEE_SOURCE_COMMIT || of.GITEE_COMMIT;
  return {
    commit: commit ?? null,
    author: of.GITEE_PIPELINE_TRIGGER_USER,
    change: join(repository, '/pulls/', of.GITEE_PULL_ID) ?? join(repository, '/commit/', commit),
  };
}

const jenkins = (of: Environment, repository: string | undefined): Origin => ({
  commit: of.GIT_COMMIT ?? null,
  author: of.CHANGE_AUTHOR_DISPLAY_NAME ?? of.CHANGE_AUTHOR ?? of.GIT_AUTHOR_NAME,
  change: of.CHANGE_URL ?? join(repository, '/commit/', of.GIT_COMMIT),
  run: of.BUILD_URL,
});

/** What a pipeline says of itself in its usual variables; null outside of the ones that are known. */
export function originInPipeline(of: Environment, remote = ''): Origin | null {
  const repository = pageOf(remote);
  if (of.GITHUB_ACTIONS) return github(of);
  if (of.GITLAB_CI) return gitlab(of);
  if (of.GITEE_PIPELINE_NAME) return gitee(of, repository);
  if (of.JENKINS_URL) return jenkins(of, repository);
  return null;
}

/** What git says, or an empty text where there is no repository or no git. */
const git = (folder: string, ...words: string[]): Promise<string> =>
  promisify(execFile)('git', ['-C', folder, ...words]).then(
    ({ stdout }) => stdout.trim(),
    () => '',
  );

/** Where what is built in this folder comes from. A commit is `…-dirty` where the files are not those of the commit. */
export async function originOf(folder: string, environment: Environment): Promise<Origin> {
  const head = await git(folder, 'rev-parse', '--short=12', 'HEAD');
  const told = originInPipeline(environment, await git(folder, 'remote', 'get-url', 'origin'));
  // pipelines leave caches and reports beside the sources
  const untracked = `--untracked-files=${told ? 'no' : 'normal'}`;
  const changed = head === '' ? '' : await git(folder, 'status', '--porcelain', untracked);
  const author = told ? told.author : head && (await git(folder, 'log', '-1', '--format=%an'));
  const commit = told?.commit?.slice(0, 12) || head;
  return { ...told, author: author || undefined, commit: commit ? `${commit}${changed ? '-dirty' : ''}` : null };
}
