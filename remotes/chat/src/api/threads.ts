import { deltaEventSchema, idEventSchema, messageEventSchema } from '@liaozhai/shared/contract';
import { listen, onCaughtUpNeeded } from '@liaozhai/shared/runtime';
import { toDelta, withEvent, withPiece } from '../model';
import { askLatest } from './calls';
import { type Ports, ThreadSync } from './ThreadSync';

const running = new Map<string, ThreadSync>();

let socketIsLive = false;

/** Told by the page that sees the connection's status. */
export function socketChanged(isLive: boolean): void {
  if (socketIsLive === isLive) return;
  socketIsLive = isLive;
  for (const sync of running.values()) sync.watch();
}

export const catchUp = (storyId: string): Promise<void> => running.get(storyId)?.catchUp() ?? Promise.resolve();

/** Tells the sync that its thread has been changed by an answer, so that it watches the reply that has begun. */
export const watchThread = (storyId: string): void => running.get(storyId)?.watch();

const messageEvents = ['message.created', 'message.completed', 'message.failed'] as const;

interface Following {
  /** To be called once the first page is there, or the device's copy of it. */
  loaded: (isCopy: boolean) => void;
  stop: () => void;
}

/** Hears the user's channel for one story's thread, from before its first page is asked for. */
export function followThread(ports: Pick<Ports, 'storyId' | 'read' | 'change'>): Following {
  const sync = new ThreadSync({ ...ports, ask: askLatest, isLive: () => socketIsLive });
  running.set(ports.storyId, sync);
  const stops = [
    ...messageEvents.map((name) =>
      listen(name, messageEventSchema, (event) => sync.hear((thread) => withEvent(thread, event))),
    ),
    listen('message.delta', deltaEventSchema, (event) => {
      const delta = toDelta(event);
      sync.hear((thread) => withPiece(thread, delta));
    }),
    listen('conversation.deleted', idEventSchema, (event) => sync.deleted(String(event.id))),
    onCaughtUpNeeded(() => void sync.catchUp()),
  ];
  const stop = () => {
    sync.stop();
    if (running.get(ports.storyId) === sync) running.delete(ports.storyId);
    for (const each of stops) each();
  };
  return { loaded: (isCopy) => sync.loaded(isCopy), stop };
}
