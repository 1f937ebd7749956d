import { type PageBuild, type PageSet, satisfiesContract } from '@liaozhai/shared/contract';
import { useEffect, useState } from 'react';
import { usePage } from '../page';
import { endTime } from '../shell/Shell';
import styles from '../shell/Shell.module.css';

/** Timeout for a dev server's description: it is local, but may be compiling. */
const ANSWER_MS = 5000;
const EVERY_MS = 2000;
/** How often the page checks that it may still run dev servers. */
const RECHECK_MS = 15_000;

type LocalRemote = NonNullable<NonNullable<PageSet['override']>['local']>[number];

/** The fields of a dev server's `liaozhai.json` that the page needs. */
interface Described {
  kind?: unknown;
  name?: unknown;
  label?: string;
  entry: string;
  global: string;
  contract: string;
  routes: PageBuild['routes'];
  slots: { name: string; order?: number }[];
}

const nothing = { js: [], css: [] };

/** Returns a dev server's current build. Rejects if it does not answer, serves another remote or needs another contract. */
async function describedBy({ name, origin }: LocalRemote): Promise<PageBuild> {
  const signal = AbortSignal.timeout(ANSWER_MS);
  const response = await fetch(`${origin}/liaozhai.json`, { cache: 'no-store', credentials: 'omit', signal });
  if (!response.ok) throw new Error(`${origin}/liaozhai.json answers ${response.status}`);
  const described = (await response.json()) as Described;
  if (described.kind !== 'remote' || described.name !== name)
    throw new Error(`${origin} serves ${described.name}, not ${name}`);
  if (!satisfiesContract(described.contract)) throw new Error(`${origin} needs shared/runtime ${described.contract}`);
  const at = Date.now().toString(36);
  return {
    // unique per page, so that a quarantine never applies to a fixed build
    id: `${name}@local-${at}`,
    label: described.label ?? name,
    entry: `${origin}/${described.entry}?at=${at}`,
    global: described.global,
    contract: described.contract,
    routes: described.routes.map((route) => ({ ...route, preload: nothing })),
    slots: described.slots.map((slot) => ({ ...slot, preload: nothing })),
  };
}

/** Replaces the set's builds by those of dev servers, which fall back to the set's. A dev server that does not answer is skipped. */
export async function withLocalRemotes(set: PageSet): Promise<PageSet> {
  const remotes = { ...set.remotes };
  const put = async (local: LocalRemote) => {
    const build = await describedBy(local).catch((cause) => {
      console.warn(`${local.name}: the dev server at ${local.origin} is not used`, cause);
      return null;
    });
    if (build) remotes[local.name] = { ...build, lastGood: set.remotes[local.name] ?? null };
  };
  await Promise.all((set.override?.local ?? []).map(put));
  return { ...set, remotes };
}

/** Reloads the page when the permission to run dev servers is revoked or has expired. */
function useLeave(expires: string) {
  useEffect(() => {
    const look = async () => {
      const answer = await fetch('/?override=local', { cache: 'no-store' }).catch(() => null);
      const isOver = Date.parse(expires) <= Date.now() || (answer?.ok && (await answer.json()) === null);
      if (isOver) location.reload();
    };
    const timer = setInterval(() => void look(), RECHECK_MS);
    return () => clearInterval(timer);
  }, [expires]);
}

/** Shows for each remote of a dev server its origin and whether it runs, with a link to end the preview. */
export function LocalBadge() {
  const { set, remotes } = usePage();
  const { local = [], expires = '' } = set.override ?? {};
  const isRunning = ({ name }: LocalRemote) => remotes.activeBuild(name)?.id.startsWith(`${name}@local-`) ?? false;
  const [running, setRunning] = useState(() => local.map(isRunning).join());
  useEffect(() => {
    const timer = setInterval(() => setRunning(local.map(isRunning).join()), EVERY_MS);
    return () => clearInterval(timer);
  });
  useLeave(expires);
  const isWhole = !running.includes('false');
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
        {isWhole && <span className={styles.local}>{`至 ${endTime(new Date(expires))}`}</span>}
      </span>
      {/* plain links: another set needs a new document */}
      {!isWhole && (
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
