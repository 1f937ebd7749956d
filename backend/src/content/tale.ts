/** A character's portrait is drawn from its kind. */
export type Figure = 'woman' | 'man' | 'elder' | 'monk' | 'ghost' | 'fox' | 'official' | 'child' | 'cricket' | 'stone';

export interface TaleCharacter {
  id: string;
  name: string;
  figure: Figure;
  intro: string;
}

/** How the built-in storyteller speaks in a tale. Sentences end with their punctuation. */
export interface Voice {
  /** Who answers the reader. */
  speaker: string;
  /** How the speaker calls the reader. */
  address: string;
  /** Actions, without the asterisks and without a final stop. */
  gestures: string[];
  /** One sentence each, to set the scene. */
  scenery: string[];
  /** What happens, in order, one step per turn. */
  beats: string[];
  /** What the speaker says, without quotation marks. */
  sayings: string[];
  /** What the speaker asks in the end, without quotation marks. */
  asks: string[];
  /** What the reader could say, in the first person, up to 20 characters. */
  replies: string[];
}

/** A story after the Liaozhai: its facts are in the public domain, its sentences ours. */
export interface Tale {
  id: string;
  title: string;
  length: 'short' | 'long';
  tags: string[];
  summary: string;
  /** Paragraphs. */
  opening: string[];
  characters: TaleCharacter[];
  voice: Voice;
}
