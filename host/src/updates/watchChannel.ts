import { pageSet, runningBuilds } from '../federation';
import { readChannel } from './channelDocument';
import { judgeSet, type SetVerdict } from './judgeSet';

const everyMs = 30_000;

/** Looks at the channel when the page comes into sight and every 30 s while it is. Returns the way to stop. */
export function watchChannel(onVerdict: (verdict: SetVerdict) => void): () => void {
  const { channel, publicKey } = pageSet;
  let { seq } = pageSet;
  let stopped = false;

  const look = async () => {
    if (document.visibilityState !== 'visible') return;
    try {
      const response = await fetch(`/channels/${channel}.json`, { cache: 'no-cache' });
      if (!response.ok) return;
      const state = await readChannel(await response.text(), { channel, publicKey, seq, now: Date.now() });
      seq = state.seq;
      if (!stopped) onVerdict(judgeSet(pageSet, runningBuilds(), state));
    } catch (cause) {
      // offline, or a document that must not be believed: the page stays on its pinned set
      console.info('channel not read', cause);
    }
  };

  const timer = setInterval(look, everyMs);
  document.addEventListener('visibilitychange', look);
  void look();
  return () => {
    stopped = true;
    clearInterval(timer);
    document.removeEventListener('visibilitychange', look);
  };
}
