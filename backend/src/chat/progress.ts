import { type Replay, replay } from '../ai/builtIn.ts';
import { hasEnded, type Progress, readProgress, tellerOf } from '../ai/progress.ts';
import type { Plot } from '../content/plot.ts';
import type { MessageRow } from '../db/schema.ts';
import type { Services } from '../services.ts';
import { findStory } from '../stories.ts';
import { findUser } from '../users/user.ts';
import { newestMessageQuery, runsOf } from './conversation.ts';

// Progress of a conversation in its plot. A reply stores the progress before it. The progress after it is computed from
// the reader's line and the shown text, so that retelling, continuing, choosing and cutting need no bookkeeping.

const tellerFor = (services: Services, { story_id, user_id }: MessageRow) =>
  tellerOf(findStory(services, story_id), findUser(services, user_id));

const messageBefore = ({ db }: Services, { conversation_id, seq }: MessageRow, role: MessageRow['role']) =>
  db.first(newestMessageQuery(conversation_id).where('seq', '<', seq).where('role', '=', role));

/** Returns the progress before a reply. The first call stores it. */
export function progressBefore(services: Services, reply: MessageRow): Progress {
  const { plot } = tellerFor(services, reply);
  if (reply.progress !== null) return readProgress(plot, reply.progress);
  const previous = messageBefore(services, reply, 'assistant');
  const progress = previous ? progressAfter(services, previous).progress : firstProgress(services, plot, reply);
  const changes = { progress: JSON.stringify(progress) };
  services.db.update('messages', { id: reply.id }, changes);
  return progress;
}

/** Returns the initial progress of a run, with the endings that other runs of the story have reached. */
function firstProgress(services: Services, plot: Plot, { user_id, story_id, conversation_id }: MessageRow): Progress {
  const reachedEndings = runsOf(services, user_id, story_id).flatMap(({ id }) => {
    const last = id === conversation_id ? undefined : lastReply(services, id);
    return last ? progressAfter(services, last).progress.endings : [];
  });
  return { ...readProgress(plot, null), endings: [...new Set(reachedEndings)] };
}

/** Returns the progress after a reply. A reply without text does not change it. */
export function progressAfter(services: Services, reply: MessageRow): Replay {
  const teller = tellerFor(services, reply);
  const before = readProgress(teller.plot, reply.progress);
  const words = messageBefore(services, reply, 'user')?.body ?? '';
  return replay(teller, before, words, reply.body, reply.variant - 1);
}

/** Whether a reply contains a complete ending. */
export function hasToldEnding(services: Services, reply: MessageRow): boolean {
  const { progress, missingText } = progressAfter(services, reply);
  return missingText === '' && hasEnded(tellerFor(services, reply).plot, progress);
}

const lastReply = ({ db }: Services, conversationId: string): MessageRow | undefined =>
  db.first(newestMessageQuery(conversationId).where('role', '=', 'assistant'));

/** Returns the progress in the shape of the API; null for a story without a plot and before the first reply. */
export function presentProgress(services: Services, conversationId: string) {
  const reply = lastReply(services, conversationId);
  const plot = reply && findStory(services, reply.story_id).plot;
  if (!plot) return null;
  const { progress } = progressAfter(services, reply);
  const sceneIndex = plot.scenes.findIndex(({ id }) => id === progress.at);
  const titleOf = (id: string) => plot.endings.find((ending) => ending.id === id)?.title ?? '';
  return {
    // the last scene after an ending
    scene: sceneIndex < 0 ? plot.scenes.length : sceneIndex + 1,
    scenes: plot.scenes.length,
    title: plot.scenes[sceneIndex]?.title ?? titleOf(progress.at),
    endings: progress.endings.map(titleOf),
    endings_count: plot.endings.length,
  };
}
