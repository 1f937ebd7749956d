import { type BuildDescription, type PageBuild, type PageSet, satisfiesContract } from '@liaozhai/shared/contract';
import { useEffect, useState } from 'react';
import { usePage } from '../page';
import { formatEndTime } from '../shell/Shell';
import styles from '../shell/Shell.module.css';
import { noFiles } from './pageSet';

/** Timeout for a dev server's description: it is local, but may be compiling. */
const DESCRIPTION_TIMEOUT_MS = 5000;
const STATUS_INTERVAL_MS = 2000;
/** How often the page checks that it may still run dev servers. */
const PERMISSION_INTERVAL_MS = 15_000;

type LocalRemote = NonNullable<NonNullable<PageSet['override']>['local']>[number];

/** Returns a dev server's current build. Rejects if it does not answer, serves another remote or needs another contract. */
async function fetchBuild({ name, origin }: LocalRemote): Promise<PageBuild> {
  const signal = AbortSignal.timeout(DESCRIPTION_TIMEOUT_MS);
  const response = await fetch(`${origin}/liaozhai.json`, { cache: 'no-store', credentials: 'omit', signal });
  if (!response.ok) throw new Error(`${origin}/liaozhai.json answers ${response.status}`);
  const description = (await response.json()) as BuildDescription;
  if (description.kind !== 'remote' || description.name !== name)
    throw new Error(`${origin} serves ${description.name}, not ${name}`);
  if (!satisfiesContract(description.contract))
    throw new Error(`${origin} needs shared/runtime ${description.contract}`);
  const timestamp = Date.now().toString(36);
  return {
    // unique per page, so that a quarantine never applies to a fixed build
    id: `${name}@local-${timestamp}`,
    label: description.label ?? name,
    entry: `${origin}/${description.entry}?at=${timestamp}`,
    global: description.global,
    contract: description.contract,
    routes: description.routes.map((route) => ({ ...route, preload: noFiles })),
    slots: description.slots.map((slot) => ({ ...slot, preload: noFiles })),
  };
}

/** Replaces the set's builds by those of dev servers, which fall back to the set's. A dev server that does not answer is skipped. */
export async function withLocalRemotes(set: PageSet): Promise<PageSet> {
  const remotes = { ...set.remotes };
  const replaceBuild = async (local: LocalRemote) => {
    const build = await fetchBuild(local).catch((cause) => {
      console.warn(`${local.name}: the dev server at ${local.origin} is not used`, cause);
      return null;
    });
    if (build) remotes[local.name] = { ...build, lastGood: set.remotes[local.name] ?? null };
  };
  await Promise.all((set.override?.local ?? []).map(replaceBuild));
  return { ...set, remotes };
}

/** Reloads the page when the permission to run dev servers is revoked or has expired. */
function useReloadOnRevocation(expires: string) {
  useEffect(() => {
    const checkPermission = async () => {
      const response = await fetch('/?override=local', { cache: 'no-store' }).catch(() => null);
      const isRevoked = Date.parse(expires) <= Date.now() || (response?.ok && (await response.json()) === null);
      if (isRevoked) location.reload();
    };
    const timer = setInterval(() => void checkPermission(), PERMISSION_INTERVAL_MS);
    return () => clearInterval(timer);
  }, [expires]);
}

/** Shows for each remote of a dev server its origin and whether it runs, with a link to end the preview. */
export function LocalBadge() {
  const { set, remotes } = usePage();
  const { local = [], expires = '' } = set.override ?? {};
  const isRunning = ({ name }: LocalRemote) => remotes.activeBuild(name)?.id.startsWith(`${name}@local-`) ?? false;
  const [runningStates, setRunningStates] = useState(() => local.map(isRunning).join());
  useEffect(() => {
    const timer = setInterval(() => setRunningStates(local.map(isRunning).join()), STATUS_INTERVAL_MS);
    return () => clearInterval(timer);
  });
  useReloadOnRevocation(expires);
  const areAllRunning = !runningStates.includes('false');
  return (
    <aside className={styles.override} aria-label="本地预览">
      <span>
        {local.map((remote) => (
          <span key={remote.name} className={styles.local}>
            {isRunning(remote)
              ? `${remote.name} 来自你的 ${remote.origin}`
              : `${remote.name}：${remote.origin} 没有运行起来，现在是已发布的版本`}
          </span>
        ))}
        {areAllRunning && <span className={styles.local}>{`至 ${formatEndTime(new Date(expires))}`}</span>}
      </span>
      {/* plain links: another set needs a new document */}
      {!areAllRunning && (
        <a className={styles.leave} href={location.pathname}>
          再试
        </a>
      )}
      <a className={styles.leave} href="/?override=off">
        结束预览
      </a>
    </aside>
  );
}
