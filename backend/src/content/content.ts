import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FAILSAFE_SCHEMA, load, YAMLException } from 'js-yaml';
import * as v from 'valibot';
import { bitmapProblem, groundColor, type Picture, pictureProblem, type Shape } from './pictures.ts';
import {
  idPattern,
  meanings,
  numberLines,
  type Plot,
  PlotReader,
  readItems,
  type Section,
  sectionsOf,
} from './plot.ts';

export const contentFolder = fileURLToPath(new URL('../../content', import.meta.url));

export interface Author {
  id: string;
  name: string;
  avatar: string;
}

export interface Character {
  id: string;
  name: string;
  intro: string;
  /** null without a portrait; the page shows the first letter of the name */
  avatar: string | null;
}

/** The part of a story that is stored as one JSON document. */
export interface StoryContent {
  summary: string;
  tags: string[];
  author: Author;
  opening: string;
  characters: Character[];
  /** `#rrggbb`, background colour of the cover, shown until the picture has loaded. */
  coverColor?: string;
  /** The story's teller. Without a plot it is `narrator`. */
  voice?: Voice;
  plot?: Plot;
}

/** A story as read from its folder, with the URLs of its pictures. */
export interface PublishedStory extends StoryContent {
  id: string;
  title: string;
  coverUrl: string;
  length: 'short' | 'long';
  /** In ms since 1970. The feed shows the newest story first. */
  published: number;
}

/** A content folder, read once at start: a URL that is cached for a year must not change its picture. */
export interface Content {
  stories: PublishedStory[];
  authors: Map<string, Author>;
  /** URLs of the avatars to choose from, in order. */
  avatars: string[];
  /** Pictures by path below `/api/media`, such as `covers/nie-xiaoqian.svg`. */
  pictures: Map<string, Picture>;
  /** One line per problem, with file and remedy. The item is left out of the content. */
  problems: string[];
}

/** Text of `min` to `max` characters on one line. */
const line = (max: number, min = 1) => {
  const cure = `write ${min} to ${max} characters on one line`;
  const fits = (text: string) => !text.includes('\n') && [...text].length >= min && [...text].length <= max;
  return v.pipe(v.string(cure), v.check(fits, cure));
};

const matchingText = (pattern: RegExp, cure: string) => v.pipe(v.string(cure), v.regex(pattern, cure));

/** An object with these fields only. A missing field has the message of its own schema. */
function fields<const Entries extends v.ObjectEntries>(
  entries: Entries,
  cure: string,
): v.GenericSchema<unknown, v.InferOutput<v.ObjectSchema<Entries, undefined>>> {
  const unknownField = v.never('there is no such field; correct or remove it');
  return v.objectWithRest(entries, unknownField, ({ path }) => {
    const missing = path && entries[String(path[0].key)];
    return missing && 'message' in missing && typeof missing.message === 'string' ? missing.message : cure;
  });
}

const dayCure = 'write a day like 2026-01-31, or with its time 2026-01-31T20:00Z';
const castCure = 'list one to nine characters, each with an id of its own';
const openingCure = 'write at least 3 paragraphs below "## Opening", with an empty line between them';
const dialogueCure = 'take what is said, “…”, out of *…*, which is for what is done or thought';
/** Whether a deed, *…*, contains a complete sentence of speech. A quoted word does not count. */
const hasSpeechWithinDeed = (paragraph: string): boolean =>
  [...paragraph.matchAll(/\*(?<deed>[^*\n]+)\*/g)].some(({ groups }) =>
    /^“[^“”]*”$|“[^“”]*[。！？…]”/.test(groups?.deed ?? ''),
  );
const tagsCure = 'write 1 to 6 tags, like [古寺, 夜行]';

const voiceSchema = fields(
  {
    /** Name of the character who answers the reader. */
    speaker: line(20),
    /** Form of address for the reader. */
    address: line(20),
  },
  'write speaker and address below it',
);

export type Voice = v.InferOutput<typeof voiceSchema>;

const characterSchema = fields(
  {
    // no hyphen: the portrait is served as <story>-<character>.svg
    id: matchingText(/^[a-z0-9]+$/, 'write small letters and digits only; the portrait is <id>.svg'),
    name: line(20),
    intro: line(100),
  },
  castCure,
);

const storySchema = fields(
  {
    title: line(20),
    author: matchingText(idPattern, 'name an author of authors.yaml'),
    published: v.pipe(
      matchingText(/^\d{4}-\d\d-\d\d(T\d\d:\d\dZ)?$/, dayCure),
      v.check((text) => !!Date.parse(text), dayCure),
    ),
    length: v.picklist(['short', 'long'], 'write short or long; it sets the price of a message'),
    tags: v.pipe(v.array(line(8), tagsCure), v.minLength(1, tagsCure), v.maxLength(6, tagsCure)),
    summary: line(100, 50),
    characters: v.pipe(
      v.array(characterSchema, castCure),
      v.minLength(1, castCure),
      v.maxLength(9, castCure),
      v.check((cast) => new Set(cast.map(({ id }) => id)).size === cast.length, castCure),
    ),
    opening: v.pipe(
      v.array(v.string(), openingCure),
      v.minLength(3, openingCure),
      v.check((paragraphs) => !paragraphs.some(hasSpeechWithinDeed), dialogueCure),
    ),
    voice: v.optional(voiceSchema),
  },
  'write its fields between the two lines of ---',
);

const authorsCure = 'write each author like "pu-songling: { name: 聊斋先生, avatar: inkstone }"';
const authorsSchema = v.record(
  matchingText(idPattern, 'write small letters, digits and hyphens'),
  fields(
    { name: line(20), avatar: matchingText(idPattern, 'name a picture of avatars/, without its number') },
    authorsCure,
  ),
  authorsCure,
);

/** The faults of one file, with a remedy for each. */
class ContentError extends Error {
  readonly lines: string[];

  constructor(file: string, cures: string[]) {
    const lines = cures.map((cure) => `${file}: ${cure}`);
    super(lines.join('\n'));
    this.lines = lines;
  }
}

/** Reads a content folder. Invalid items are left out and listed in `problems`. */
export function loadContent(folder: string): Content {
  const content: Content = { stories: [], authors: new Map(), avatars: [], pictures: new Map(), problems: [] };
  const collectProblems = (what: string, work: () => void) => {
    try {
      work();
    } catch (error) {
      if (!(error instanceof ContentError)) throw error;
      content.problems.push(...error.lines.map((line) => `${line} (${what} is left out)`));
    }
  };
  collectProblems('every avatar', () => {
    for (const file of filesIn(folder, 'avatars'))
      collectProblems('this avatar', () => addAvatar(content, folder, file));
  });
  collectProblems('every author', () => addAuthors(content, folder));
  collectProblems('every story', () => {
    for (const id of filesIn(folder, 'stories')) collectProblems('this story', () => addStory(content, folder, id));
  });
  return content;
}

/** Returns a new user's first avatar; null without avatars. */
export function firstAvatar({ avatars }: Content, userId: string): string | null {
  const index = createHash('sha256').update(userId).digest().readUInt32BE() % avatars.length;
  return avatars[index] ?? null;
}

const mediaUrl = (path: string): string => `/api/media/${path}`;

/** Returns the sorted file names of a content folder. */
const filesIn = (folder: string, name: string): string[] =>
  readOrThrow(name, () => readdirSync(join(folder, name)))
    .filter((file) => !file.startsWith('.'))
    .sort();

const readText = (folder: string, file: string): string =>
  readOrThrow(file, () => readFileSync(join(folder, file), 'utf8'));

function readOrThrow<Result>(file: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const isMissing = code === 'ENOENT' || code === 'ENOTDIR';
    throw new ContentError(file, [
      isMissing ? 'is missing; add it, or remove what names it' : `cannot be read (${code}); make it readable`,
    ]);
  }
}

function readPicture(folder: string, file: string, shape: Shape): string {
  const svg = readText(folder, file);
  const problem = pictureProblem(svg, shape);
  if (problem) throw new ContentError(file, [problem]);
  return svg;
}

const FORMATS = ['svg', 'webp', 'jpg'] as const;

/** Reads a story's picture in any format; null if it is missing. */
function findPicture(folder: string, home: string, name: string, shape: Shape) {
  const files = filesIn(folder, home).filter((file) => file.replace(/\.[^.]*$/, '') === name);
  const [format, other] = FORMATS.filter((each) => files.includes(`${name}.${each}`));
  if (other) throw new ContentError(`${home}/${name}`, [`is there as ${format} and as ${other}; keep one`]);
  const [otherFile] = files;
  if (!format && otherFile)
    throw new ContentError(`${home}/${otherFile}`, ['save it as WebP (.webp), JPEG (.jpg) or SVG']);
  if (!format) return null;
  const file = `${home}/${name}.${format}`;
  if (format === 'svg') return { format, picture: readPicture(folder, file, shape) };
  const picture = readOrThrow(file, () => readFileSync(join(folder, file)));
  const problem = bitmapProblem(picture, format, shape);
  if (problem) throw new ContentError(file, [problem]);
  return { format, picture };
}

/** Adds an avatar. The number of its file name sorts it and is not part of the URL. */
function addAvatar(content: Content, folder: string, file: string): void {
  const picture = /^\d\d-([a-z0-9-]+\.svg)$/.exec(file)?.[1];
  if (!picture) throw new ContentError(`avatars/${file}`, ['give it a name like 13-crane.svg']);
  content.pictures.set(`avatars/${picture}`, readPicture(folder, `avatars/${file}`, 'square'));
  content.avatars.push(mediaUrl(`avatars/${picture}`));
}

function addAuthors(content: Content, folder: string): void {
  const file = 'authors.yaml';
  const authors = validateContent(file, authorsSchema, readYaml(file, 1, readText(folder, file)));
  for (const [id, { name, avatar }] of Object.entries(authors)) {
    const picture = `avatars/${avatar}.svg`;
    if (!content.pictures.has(picture)) throw new ContentError(file, [`${id}.avatar: there is no ${picture}; add it`]);
    content.authors.set(id, { id, name, avatar: mediaUrl(picture) });
  }
}

function addStory(content: Content, folder: string, id: string): void {
  const storyFolder = `stories/${id}`;
  if (!idPattern.test(id))
    throw new ContentError(storyFolder, ['name the folder in small letters, digits and hyphens']);
  const file = `${storyFolder}/story.md`;
  const { plot, ...frontMatter } = parseStory(file, readText(folder, file));
  const story = { ...validateContent(file, storySchema, frontMatter), ...(plot && { plot }) };
  const author = content.authors.get(story.author);
  if (!author) throw new ContentError(file, [`author: authors.yaml has no ${story.author}; add it`]);
  const cover = findPicture(folder, storyFolder, 'cover', 'cover');
  if (!cover) throw new ContentError(`${storyFolder}/cover.svg`, ['is missing; add it, as .webp, .jpg or .svg']);
  const portraits = story.characters.map((one) => findPicture(folder, storyFolder, one.id, 'square'));
  const coverPath = `covers/${id}.${cover.format}`;
  content.pictures.set(coverPath, cover.picture);
  const characters = story.characters.map((one, at) => {
    const portrait = portraits[at];
    if (!portrait) return { ...one, avatar: null };
    const path = `characters/${id}-${one.id}.${portrait.format}`;
    content.pictures.set(path, portrait.picture);
    return { ...one, avatar: mediaUrl(path) };
  });
  // changes with the picture, so that the URL can be cached for a year
  const version = createHash('sha256').update(cover.picture).digest('hex').slice(0, 8);
  content.stories.push({
    ...story,
    id,
    author,
    published: Date.parse(story.published),
    opening: story.opening.join('\n\n'),
    coverUrl: `${mediaUrl(coverPath)}?v=${version}`,
    coverColor: typeof cover.picture === 'string' ? groundColor(cover.picture) : undefined,
    characters,
  });
}

/** Parses the front matter between two lines of `---`, the paragraphs of `## Opening`, and the plot. */
function parseStory(file: string, text: string): { plot?: Plot } & Record<string, unknown> {
  const normalizedText = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  const [, front, body = ''] = /^---\n([\s\S]*?\n)---\n([\s\S]*)$/.exec(normalizedText) ?? [];
  if (front === undefined) throw new ContentError(file, ['begin with a block of fields between two lines of ---']);
  const story = { ...Object(readYaml(file, 2, front)) };
  const [preamble, ...sections] = sectionsOf(numberLines(body, front.split('\n').length + 2), '## ');
  if (preamble?.lines.some((line) => line.text.trim())) {
    throw new ContentError(file, ['write "## Opening" above the first paragraph']);
  }
  const opening = sections.find(({ heading }) => heading === 'Opening');
  if (opening) story.opening = textOf(opening).split(/\n\s*\n/);
  const plotSections = sections.filter((section) => section !== opening);
  if (plotSections.length === 0) return story;
  const reader = new PlotReader();
  const cast = Array.isArray(story.characters) ? story.characters.map((one: unknown) => String(Object(one).name)) : [];
  const plot = reader.read(plotSections, cast);
  if (story.voice === undefined) reader.faults.push({ line: 1, cure: 'a story with scenes needs a voice' });
  if (reader.faults.length > 0) {
    const sortedFaults = reader.faults.sort((one, other) => one.line - other.line);
    throw new ContentError(
      file,
      sortedFaults.map(({ line, cure }) => `line ${line}: ${cure}`),
    );
  }
  return { ...story, plot };
}

const textOf = ({ lines }: Section): string =>
  lines
    .map(({ text }) => text)
    .join('\n')
    .trim();

/** Parses YAML with text scalars only, so that a title like 1688 or a name like NO needs no quotes. */
function readYaml(file: string, firstLine: number, text: string): unknown {
  try {
    return load(text, { schema: FAILSAFE_SCHEMA });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const position = error.mark ? `line ${error.mark.line + firstLine}: ` : '';
    throw new ContentError(file, [`${position}${error.reason}; correct the YAML, a text with ": " in it needs quotes`]);
  }
}

function validateContent<Value>(file: string, schema: v.GenericSchema<unknown, Value>, value: unknown): Value {
  const parsed = v.safeParse(schema, value);
  if (parsed.success) return parsed.output;
  const cureOf = (issue: v.BaseIssue<unknown>) => [v.getDotPath(issue), issue.message].filter(Boolean).join(': ');
  throw new ContentError(file, parsed.issues.map(cureOf));
}

/** The teller of stories without scenes, from `narrator.md`. */
export const narrator = readNarrator();

function readNarrator(): { voice: Voice; plot: Plot } {
  const { plot, voice } = parseStory('narrator.md', readText(contentFolder, 'narrator.md'));
  if (!plot) throw new ContentError('narrator.md', ['write its scenes']);
  return { plot, voice: validateContent('narrator.md', voiceSchema, voice) };
}

const commonFile = 'common.md';
const commonTexts = readCommonTexts();

/** Returns what any speaker says, by the label in `common.md`. */
export function commonTextsOf(label: string): string[] {
  const texts = commonTexts.get(label);
  if (!texts) throw new ContentError(commonFile, [`write the texts of "- ${label}"`]);
  return texts;
}

/** Returns the only text of a label. */
export const commonText = (label: string): string => commonTextsOf(label)[0] ?? '';

function readCommonTexts(): Map<string, string[]> {
  const [, ...sections] = sectionsOf(numberLines(readText(contentFolder, commonFile), 1), '## ');
  const items = sections.flatMap((section) =>
    readItems(section, (line, cure) => {
      throw new ContentError(commonFile, [`line ${line}: ${cure}`]);
    }),
  );
  const texts = new Map(items.map(({ label, answers }) => [label, answers.map(({ text }) => text)]));
  const missing = meanings.find((meaning) => !texts.has(meaning));
  if (missing) throw new ContentError(commonFile, [`answer ${missing}, too`]);
  return texts;
}
