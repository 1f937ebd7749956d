import { narrator } from '../content/content.ts';
import { type Finale, isOpen, type Plot, type Reply, type Scene } from '../content/plot.ts';
import type { Story } from '../stories.ts';
import { restartLine, turnBackLine } from './meaning.ts';

/** How far a conversation has come in its plot. It is stored as JSON with each reply, as it was before that reply. */
export interface Progress {
  /** A scene or an ending. */
  at: string;
  /** How many steps of the scene were told. */
  steps: number;
  /** Turns in the scene. */
  turns: number;
  /** Turns since something of the plot happened. */
  idle: number;
  /** Each fact with the scene it comes from. */
  facts: Record<string, string>;
  /** Lines of the scene that the reader has said. */
  said: string[];
  /** How many tellings of a list were used. */
  used: Record<string, number>;
  endings: string[];
  /** How the reader said that they are called. */
  called?: string;
  /** Whom or what the last turn was about, as an index of the plot's `byWords`. */
  about?: number;
  /** Where the last parting of ways was, and what had happened until then. */
  fork?: { at: string; facts: Record<string, string> };
}

export interface Told {
  text: string;
  progress: Progress;
  /** By what the reader's words were answered; for measuring. */
  by: 'reply' | 'meaning' | 'goOn' | 'other' | 'closed';
  /** Text of a scene that belongs to no plot step. */
  meanwhile?: { scene: Scene; sentence: string };
}

export interface Teller {
  plot: Plot;
  speaker: string;
  address: string;
  opening: string;
  reader: { name: string; persona: string };
}

/** Who tells a story to a reader. */
export function tellerOf({ plot, voice, opening }: Story, reader: Teller['reader']): Teller {
  const teller = plot && voice ? { plot, voice } : narrator;
  return { plot: teller.plot, ...teller.voice, opening, reader };
}

export const begin = ({ scenes }: Plot): Progress => ({
  at: scenes[0]?.id ?? '',
  steps: 0,
  turns: 0,
  idle: 0,
  facts: {},
  said: [],
  used: {},
  endings: [],
});

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Progress as it was stored; begins again where the story has changed so that its place is gone. */
export function readProgress(plot: Plot, json: string | null): Progress {
  const stored: unknown = json === null ? null : JSON.parse(json);
  const places = [...plot.scenes, ...plot.endings];
  if (!isRecord(stored) || !places.some(({ id }) => id === stored.at)) return begin(plot);
  return { ...begin(plot), ...stored };
}

export const sceneAt = ({ scenes }: Plot, { at }: Progress): Scene | undefined => scenes.find(({ id }) => id === at);

export const endingAt = ({ endings }: Plot, { at }: Progress): Finale | undefined =>
  endings.find(({ id }) => id === at);

export const hasEnded = (plot: Plot, progress: Progress): boolean => endingAt(plot, progress) !== undefined;

/** The lines that a reader may say now and that lead somewhere or were not said yet. */
export function offeredReplies(plot: Plot, progress: Progress): Reply[] {
  const facts = Object.keys(progress.facts);
  const places = new Map<string, Scene | Finale>([...plot.scenes, ...plot.endings].map((one) => [one.id, one]));
  const open = (sceneAt(plot, progress)?.replies ?? []).filter(({ to }) => {
    const place = to && places.get(to);
    return !place || isOpen(place, facts);
  });
  const fresh = open.filter(({ line, to }) => to || !progress.said.includes(line));
  return fresh.length > 0 ? fresh : open;
}

/** What the reader may say, as lines. After an ending these are the ways on. */
export const offeredLines = (plot: Plot, progress: Progress): string[] =>
  hasEnded(plot, progress) ? [restartLine, turnBackLine] : offeredReplies(plot, progress).map(({ line }) => line);
