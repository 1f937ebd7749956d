import { onReloadHoldsChanged, reloadHolds, toast } from '@liaozhai/shared/runtime';
import { Dialog } from '@liaozhai/shared/ui';
import { useEffect, useState } from 'react';
import type { SetVerdict } from './judgeSet';
import { awaitSet, noteAttempt, wasJustTried } from './reloadDue';
import { watchChannel } from './watchChannel';

/** With the 30 s between two looks at the channel, a killed build is left within the minute. */
const graceMs = 25_000;

function reloadFor(goal: string) {
  noteAttempt(goal);
  location.reload();
}

/** Takes what the channel says: a newer set at the next navigation, a killed build as soon as work in hand allows. */
export default function UpdateWatch() {
  const [killed, setKilled] = useState<string | null>(null);
  const [putAside, setPutAside] = useState(false);

  useEffect(() => {
    let told: string | null = null;
    const take = (verdict: SetVerdict) => {
      if (verdict.kind === 'killed') return wasJustTried(verdict.build) || setKilled(verdict.build);
      awaitSet(verdict.kind === 'outdated' ? verdict.live : null);
      if (verdict.kind !== 'outdated' || told === verdict.live || wasJustTried(verdict.live)) return;
      told = verdict.live;
      toast('有新版本', { action: { label: '更新', run: () => reloadFor(verdict.live) } });
    };
    return watchChannel(take);
  }, []);

  useEffect(() => {
    if (!killed) return;
    const leaveIfFree = () => reloadHolds().length === 0 && reloadFor(killed);
    leaveIfFree();
    const stop = onReloadHoldsChanged(leaveIfFree);
    const timer = setTimeout(() => reloadFor(killed), graceMs);
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [killed]);

  return (
    <Dialog
      open={killed !== null && !putAside}
      title="这个版本已停用"
      confirmLabel="现在重新载入"
      onConfirm={() => killed && reloadFor(killed)}
      cancelLabel="先收好"
      onClose={() => setPutAside(true)}
    >
      它有一处已知的故障，半分钟内会自动重新载入。手上没写完的内容，请先收好。
    </Dialog>
  );
}
