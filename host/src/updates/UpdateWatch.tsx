import { type LiveChannel, liveChannelSchema, type PageSet } from '@liaozhai/shared/contract';
import { serverNow } from '@liaozhai/shared/format';
import { fetchInTurn, onReloadBlocksChanged, reloadBlocks, toast } from '@liaozhai/shared/runtime';
import { Dialog, listenTo, stopAll } from '@liaozhai/shared/ui';
import { useEffect, useState } from 'react';
import { parse } from 'valibot';
import { usePage } from '../page';
import { recordAttempt, wasJustAttempted } from './pendingUpdate';

/** Together with the 30 s between two checks, a killed build is left within a minute. */
const GRACE_MS = 25_000;

const BLOCKED = '先完成手上的操作，之后换页时会自动更新';

/** Deletes the pages that the service worker would answer with first: they are of an outdated set. */
const deleteCachedScreens = () => navigator.serviceWorker?.controller?.postMessage({ type: 'outdated' });

function reloadFor(goal: string) {
  recordAttempt(goal);
  location.reload();
}

/** Applies the channel: a newer set with the next navigation, the end of a killed build as soon as unsaved work allows. */
export default function UpdateWatch() {
  const { set, remotes, pendingUpdate } = usePage();
  const [killedBuild, setKilledBuild] = useState<string | null>(null);
  const [isDismissed, setIsDismissed] = useState(false);

  useEffect(() => {
    let announcedSet: string | null = null;
    const applyVerdict = (verdict: SetVerdict) => {
      if (verdict.kind !== 'current') deleteCachedScreens();
      if (verdict.kind === 'killed') return wasJustAttempted(verdict.build) || setKilledBuild(verdict.build);
      pendingUpdate.announce(verdict.kind === 'outdated' ? verdict.live : null);
      if (verdict.kind !== 'outdated' || announcedSet === verdict.live || wasJustAttempted(verdict.live)) return;
      announcedSet = verdict.live;
      // an open form would lose its input; the next navigation brings the set
      const update = () => void (reloadBlocks().length > 0 ? toast(BLOCKED) : reloadFor(verdict.live));
      toast('有新版本', { action: { label: '更新', run: update } });
    };
    return watchChannel(set, remotes.runningBuilds, applyVerdict);
  }, [set, remotes, pendingUpdate]);

  useEffect(() => {
    if (!killedBuild) return;
    const reloadIfUnblocked = () => reloadBlocks().length === 0 && reloadFor(killedBuild);
    reloadIfUnblocked();
    const timer = setTimeout(() => reloadFor(killedBuild), GRACE_MS);
    return stopAll(onReloadBlocksChanged(reloadIfUnblocked), () => clearTimeout(timer));
  }, [killedBuild]);

  return (
    <Dialog
      open={killedBuild !== null && !isDismissed}
      title="这个版本已停用"
      confirmLabel="现在重新载入"
      onConfirm={() => killedBuild && reloadFor(killedBuild)}
      cancelLabel="先去保存"
      onClose={() => setIsDismissed(true)}
    >
      它有一处已知的故障，半分钟内会自动重新载入。还没写完的内容，请先保存。
    </Dialog>
  );
}

const CHECK_INTERVAL_MS = 30_000;

/** Checks the channel when the page becomes visible, and every 30 s while it is. Returns the stop function. */
function watchChannel(
  set: PageSet,
  runningBuilds: () => string[],
  onVerdict: (verdict: SetVerdict) => void,
): () => void {
  const { channel, publicKey } = set;
  let { seq } = set;
  let isStopped = false;

  const checkChannel = async () => {
    if (document.visibilityState !== 'visible') return;
    try {
      const response = await fetchInTurn(`/channels/${channel}.json`, { cache: 'no-cache' });
      if (!response.ok) return;
      const state = await readChannel(await response.text(), { channel, publicKey, seq, now: serverNow() });
      seq = state.seq;
      if (!isStopped) onVerdict(judgeSet(set, runningBuilds(), state));
    } catch (cause) {
      // offline, or an invalid document: the page stays on its pinned set
      console.info('channel not read', cause);
    }
  };

  const timer = setInterval(checkChannel, CHECK_INTERVAL_MS);
  void checkChannel();
  return stopAll(listenTo(document, ['visibilitychange'], checkChannel), () => {
    isStopped = true;
    clearInterval(timer);
  });
}

const bytesOf = (base64: string) =>
  Uint8Array.from(atob(base64.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));

/** Whether the text was signed by the key. True if the browser has no WebCrypto, on plain http. */
async function isSigned(text: string, signature: string, publicKey: string): Promise<boolean> {
  // such a page is not authenticated either, and the document can only make it reload
  if (!crypto.subtle) return true;
  const ecdsa = { name: 'ECDSA', namedCurve: 'P-256' };
  const key = await crypto.subtle.importKey('spki', bytesOf(publicKey), ecdsa, false, ['verify']);
  const signedBytes = new TextEncoder().encode(text);
  return crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, bytesOf(signature), signedBytes);
}

/** `seq`: the highest state so far; an older document is a replay. */
type Expectation = Pick<PageSet, 'channel' | 'publicKey' | 'seq'> & { now: number };

/** Reads a channel document. Throws if its form, signature, channel, order or date is wrong. */
export async function readChannel(text: string, expected: Expectation): Promise<LiveChannel> {
  const { sig, ...unsigned } = JSON.parse(text) as { sig?: unknown };
  const document = parse(liveChannelSchema, unsigned);
  if (document.channel !== expected.channel) throw new Error(`channel ${document.channel} is not ours`);
  if (document.seq < expected.seq) throw new Error(`channel state ${document.seq} is older than ${expected.seq}`);
  if (Date.parse(document.expires) <= expected.now) throw new Error('the channel document has expired');
  // stored with sorted keys, so the text without its signature is the signed text
  if (typeof sig !== 'string' || !(await isSigned(JSON.stringify(unsigned), sig, expected.publicKey)))
    throw new Error('the channel document is not signed by the key of this page');
  return document;
}

/** What the channel means for the set that this page runs. */
type SetVerdict =
  | { kind: 'current' }
  /** another set is live for this visitor; the next document will have it */
  | { kind: 'outdated'; live: string }
  /** a build that runs here was withdrawn */
  | { kind: 'killed'; build: string };

type RunningSet = Pick<PageSet, 'set' | 'candidate' | 'candidateSets' | 'override'>;

export function judgeSet(running: RunningSet, builds: readonly string[], channel: LiveChannel): SetVerdict {
  const killed = builds.find((build) => channel.killed.includes(build));
  if (killed) return { kind: 'killed', build: killed };
  // an override was chosen by hand; the badge offers to end it
  if (running.override) return { kind: 'current' };
  const candidates = [channel.candidate, ...(channel.moreCandidates ?? [])].flatMap(
    (candidate) => candidate?.set ?? [],
  );
  const isUnchanged = (running.candidateSets ?? [running.set]).every((set) => candidates.includes(set));
  if (running.candidate && isUnchanged) return { kind: 'current' };
  const live = (running.candidate && channel.candidate?.set) || channel.stable?.set || running.set;
  return live === running.set ? { kind: 'current' } : { kind: 'outdated', live };
}
