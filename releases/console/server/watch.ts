import { stopIfWorse } from '../../src/health/autoStop.ts';
import { Lease } from '../../src/health/Lease.ts';
import { renewChannel } from '../../src/operations/init.ts';
import type { ConsoleContext } from './ConsoleContext.ts';

const LOOK_MILLISECONDS = 5000;

/**
 * One round over all channels: stops candidates that harm, and renews documents that age. Only the lease's holder acts. What
 * fails for one channel is told, and keeps neither the other duty nor the other channels from their turn.
 */
export async function watchOnce(
  console: ConsoleContext,
  lease: Lease,
  onProblem: (cause: unknown) => void,
): Promise<void> {
  if (!(await lease.hold())) return;
  for (const channel of await console.channels()) {
    const duties = [
      async () => stopIfWorse(console.writer(channel, 'console'), console.healthReader(channel)),
      async () => renewChannel(console.writer(channel, 'console')),
    ];
    for (const duty of duties) await duty().catch(onProblem);
  }
}

/** Watches until the returned function is called. */
export function startWatch(console: ConsoleContext, onProblem: (cause: unknown) => void): () => void {
  const lease = new Lease(console.options.store, 'watch');
  let running = false;
  const round = async () => {
    if (running) return;
    running = true;
    await watchOnce(console, lease, onProblem).catch(onProblem);
    running = false;
  };
  const timer = setInterval(() => void round(), LOOK_MILLISECONDS).unref();
  return () => clearInterval(timer);
}
