import { narrator } from '../content/content.ts';
import type { Finale, Plot, Reply, Scene } from '../content/plot.ts';
import { isOpen } from '../content/ways.ts';
import type { Story } from '../stories.ts';
import { restartLine, turnBackLine } from './meaning.ts';

/** Position of a conversation in its plot. Each reply stores, as JSON, the progress before it. */
export interface Progress {
  /** Id of the current scene or ending. */
  at: string;
  /** Number of the scene's steps already written. */
  steps: number;
  /** Turns in the scene. */
  turns: number;
  /** Turns since the plot last moved. */
  idle: number;
  /** Known facts, each with the id of the scene that it is from. */
  facts: Record<string, string>;
  /** Lines of the scene that the reader has said. */
  said: string[];
  /** Number of texts used, by the key of their list. */
  used: Record<string, number>;
  endings: string[];
  /** Name by which the reader asked to be called. */
  called?: string;
  /** Trade that the reader named. */
  trade?: string;
  /** What the reader said that they fear. */
  fear?: string;
  /** What the reader said of their age and origin. */
  age?: string;
  home?: string;
  /** The reader's last line, for a question about it. */
  lastWords?: string;
  /** Subject of the last turn, as an index of the plot's `byWords`. */
  about?: number;
  /** The last scene with more than one way on, and the facts known there. */
  fork?: { at: string; facts: Record<string, string> };
}

export interface TurnResult {
  text: string;
  progress: Progress;
  /** What answered the reader's words; for measurements. */
  by: 'reply' | 'meaning' | 'goOn' | 'other' | 'closed';
}

export interface Teller {
  plot: Plot;
  speaker: string;
  address: string;
  opening: string;
  reader: { name: string; persona: string };
}

/** Returns the story's own teller, or the common narrator if the story has no plot or voice. */
export function tellerOf({ plot, voice, opening }: Story, reader: Teller['reader']): Teller {
  const teller = plot && voice ? { plot, voice } : narrator;
  return { plot: teller.plot, ...teller.voice, opening, reader };
}

export const initialProgress = ({ scenes }: Plot): Progress => ({
  at: scenes[0]?.id ?? '',
  steps: 0,
  turns: 0,
  idle: 0,
  facts: {},
  said: [],
  used: {},
  endings: [],
});

/** Parses stored progress. Starts from the beginning if the story no longer has the stored scene. */
export function readProgress(plot: Plot, json: string | null): Progress {
  const storedProgress: Partial<Progress> = json === null ? {} : JSON.parse(json);
  const isPlace = [...plot.scenes, ...plot.endings].some(({ id }) => id === storedProgress.at);
  return { ...initialProgress(plot), ...(isPlace && storedProgress) };
}

export const sceneAt = ({ scenes }: Plot, { at }: Progress): Scene | undefined => scenes.find(({ id }) => id === at);

export const endingAt = ({ endings }: Plot, { at }: Progress): Finale | undefined =>
  endings.find(({ id }) => id === at);

export const hasEnded = (plot: Plot, progress: Progress): boolean => endingAt(plot, progress) !== undefined;

/** Returns the open lines that lead to a scene or were not said yet, else all open lines. */
export function offeredReplies(plot: Plot, progress: Progress): Reply[] {
  const facts = Object.keys(progress.facts);
  const places = new Map<string, Scene | Finale>([...plot.scenes, ...plot.endings].map((one) => [one.id, one]));
  const openReplies = (sceneAt(plot, progress)?.replies ?? []).filter(({ to }) => {
    const place = to && places.get(to);
    return !place || isOpen(place, facts);
  });
  const freshReplies = openReplies.filter(({ line, to }) => to || !progress.said.includes(line));
  return freshReplies.length > 0 ? freshReplies : openReplies;
}

/** Returns the lines that the reader may say. After an ending they are restarting and turning back. */
export const offeredLines = (plot: Plot, progress: Progress): string[] =>
  hasEnded(plot, progress) ? [restartLine, turnBackLine] : offeredReplies(plot, progress).map(({ line }) => line);
