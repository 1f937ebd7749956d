import {
  type PageBuild,
  type PageSet,
  remoteDescriptionSchema,
  satisfiesContract,
  serverNow,
} from '@liaozhai/shared/contract';
import { Button } from '@liaozhai/shared/ui';
import { useEffect, useReducer } from 'react';
import { getDotPath, safeParse } from 'valibot';
import { usePage } from '../page';
import { Nothing } from '../pages/NothingPage';
import { formatEndTime } from '../shell/Shell';
import styles from '../shell/Shell.module.css';
import { noFiles } from './pageSet';

/** Timeout for a dev server, which may be compiling, and for the permission. */
const ANSWER_TIMEOUT_MS = 5000;
const STATUS_INTERVAL_MS = 2000;
/** How often the page checks that it may still run its dev servers. */
const PERMISSION_INTERVAL_MS = 15_000;

type LocalRemote = NonNullable<NonNullable<PageSet['override']>['local']>[number];

/** Returns a dev server's current build. Rejects with the reason, in words for its developer, if the page cannot use it. */
async function fetchBuild({ name, origin }: LocalRemote): Promise<PageBuild> {
  const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
  const response = await fetch(`${origin}/liaozhai.json`, { cache: 'no-store', credentials: 'omit', signal }).catch(
    (cause) => {
      throw new Error('没有应答，或者不许这个网站读取', { cause });
    },
  );
  if (!response.ok) throw new Error(`对 liaozhai.json 回答 ${response.status}`);
  const parsed = safeParse(remoteDescriptionSchema, await response.json().catch(() => undefined));
  if (!parsed.success) {
    const [issue] = parsed.issues;
    throw new Error(`的 liaozhai.json 不对：${getDotPath(issue) ?? '不是 JSON 对象'}`, { cause: issue.message });
  }
  const { output: description } = parsed;
  const { global, contract } = description;
  if (description.name !== name) throw new Error(`提供的是 ${description.name}，不是 ${name}`);
  if (!satisfiesContract(contract)) throw new Error(`要的 shared/runtime 是 ${contract}，这里没有`);
  return {
    id: localId(name),
    label: description.label,
    entry: `${origin}/${description.entry}?at=${Date.now().toString(36)}`,
    global,
    contract,
    routes: description.routes.map((route) => ({ ...route, preload: noFiles })),
    slots: description.slots.map((slot) => ({ ...slot, preload: noFiles })),
  };
}

const localId = (name: string) => `${name}@local`;

/**
 * Replaces the set's builds by those of dev servers, which fall back to the set's. A dev server that cannot be used is skipped,
 * and the set names the problem.
 */
export async function withLocalRemotes(set: PageSet): Promise<PageSet> {
  const remotes = { ...set.remotes };
  const replaceBuild = async (local: LocalRemote): Promise<LocalRemote> => {
    try {
      const build = await fetchBuild(local);
      // two builds of one global would mix their files
      if (Object.values(remotes).some(({ global, lastGood }) => [global, lastGood?.global].includes(build.global)))
        throw new Error(`的 global 和别的版本一样：${build.global}`);
      remotes[local.name] = { ...build, lastGood: set.remotes[local.name] ?? null };
      return local;
    } catch (cause) {
      console.warn(`${local.name}: the dev server at ${local.origin} is not used`, cause);
      return { ...local, problem: (cause as Error).message };
    }
  };
  const local = await Promise.all((set.override?.local ?? []).map(replaceBuild));
  return { ...set, remotes, override: set.override && { ...set.override, local } };
}

const wordsOf = (local: readonly LocalRemote[] = []) => local.map(({ name, origin }) => `${name}@${origin}`).join();

/** The dev servers that this browser may run now. Rejects if the server does not answer. */
async function fetchPermitted(): Promise<LocalRemote[] | undefined> {
  const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
  const response = await fetch('/?override=local', { cache: 'no-store', signal });
  const permission: { local: LocalRemote[] } | null = await response.json();
  if (!response.ok) throw new Error(`status ${response.status}`);
  return permission?.local;
}

/**
 * Reloads the page when this browser may no longer run these dev servers, or has agreed to others in another tab. If the server
 * does not answer, the permission ends at its date.
 */
function useReloadOnChange(local: readonly LocalRemote[], expires: string) {
  useEffect(() => {
    const checkPermission = async () => {
      const mayRun = await fetchPermitted().then(
        (permitted) => wordsOf(permitted) === wordsOf(local),
        () => !(serverNow() >= Date.parse(expires)),
      );
      if (!mayRun) location.reload();
    };
    const timer = setInterval(checkPermission, PERMISSION_INTERVAL_MS);
    return () => clearInterval(timer);
  }, [local, expires]);
}

/** Shows for each remote of a dev server its origin and whether it runs, else why not, with a link to end the preview. */
export function LocalBadge() {
  const { set, remotes } = usePage();
  const { local = [], expires = '' } = set.override ?? {};
  const [, refresh] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    const timer = setInterval(refresh, STATUS_INTERVAL_MS);
    return () => clearInterval(timer);
  }, []);
  useReloadOnChange(local, expires);
  const isRunning = ({ name }: LocalRemote) => remotes.activeBuild(name)?.id === localId(name);
  const describe = (remote: LocalRemote) => {
    const { name, origin } = remote;
    if (isRunning(remote)) return `${name} 来自你的 ${origin}`;
    const failure = remotes.blamedBuilds().find(({ build }) => build === localId(name))?.error.failure;
    const problem = remote.problem ?? `的代码没有运行起来${failure ? `（${failure}）` : ''}`;
    return `${name}：${origin} ${problem}。${remotes.activeBuild(name) ? '现在是已发布的版本' : '这个模块还没有发布'}`;
  };
  const areAllRunning = local.every(isRunning);
  return (
    <aside className={styles.override} aria-label="本地预览">
      <span>
        {local.map((remote) => (
          <span key={remote.name} className={styles.local}>
            {describe(remote)}
          </span>
        ))}
        {areAllRunning && <span className={styles.local}>{`至 ${formatEndTime(new Date(expires))}`}</span>}
      </span>
      {/* plain links: another set needs a new document */}
      {!areAllRunning && (
        <a className={styles.leave} href={location.pathname + location.search}>
          再试
        </a>
      )}
      <a className={styles.leave} href="/?override=off">
        结束预览
      </a>
    </aside>
  );
}

/** Shown in place of a page that may be one of this remote, whose dev server is down. */
export const LocalNothing = ({ name, origin }: LocalRemote) => (
  <Nothing
    title={`「${name}」没有运行`}
    text={`它还没有发布，你的开发服务器也没有提供它。检查 ${origin}，然后再试。`}
    // another set needs a new document
    action={<Button asLink={<a href={location.pathname + location.search} />}>再试</Button>}
  />
);
