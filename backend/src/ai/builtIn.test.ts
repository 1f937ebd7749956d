import { describe, expect, test } from '@rstest/core';
import { contentFolder, loadContent, type PublishedStory } from '../content/content.ts';
import { composeReply, composeSuggestions } from './builtIn.ts';
import type { Line, StoryContext } from './storyteller.ts';

const stories = loadContent(contentFolder).stories.filter(({ lists }) => lists);
const length = (text: string): number => [...text].length;

/** As many lines as the server hands on. */
const latest = 64;

const contextOf = (
  story: PublishedStory,
  history: Line[],
  continuing = false,
  offered: string[] = [],
): StoryContext => ({
  story: { ...story, price: 1, createdAt: 0, updatedAt: 0 },
  reader: { name: '甲', persona: '' },
  history: history.slice(-latest),
  offered,
  retold: [],
  continuing,
  turn: Math.ceil((history.length + 1) / 2),
  seed: `test|${history.length}|${history.at(-1)?.text.length}`,
});

/** What a reader would recognise: whole sentences, whatever words of the reader's own they take up. */
const sentencesOf = (reply: string): string[] =>
  reply
    .replace(/‘[^’]*’/g, '‘’')
    .split(/(?<=[。！？…”*])|\n/)
    .map((sentence) => sentence.replace(/[*“”\s]/g, ''))
    .filter((sentence) => length(sentence) >= 6);

describe('the built-in storyteller', () => {
  for (const story of stories) {
    test(`tells ${story.title} without repeating itself, in well-formed marks`, () => {
      const history: Line[] = [];
      const told = new Set<string>();
      for (const words of ['你是谁？', '我不怕，你说吧', '“别走”，*我追上去*', '后来呢', '好']) {
        history.push({ role: 'user', text: words });
        const reply = composeReply(contextOf(story, history));
        expect(length(reply)).toBeGreaterThanOrEqual(80);
        expect(length(reply)).toBeLessThanOrEqual(250);
        expect(reply.split('*').length % 2).toBe(1);
        expect(reply.split('“').length).toBe(reply.split('”').length);
        expect(told.has(reply)).toBe(false);
        told.add(reply);
        history.push({ role: 'assistant', text: reply });
      }
      expect(composeSuggestions(contextOf(story, history), 4)).toHaveLength(4);
    });
  }

  test('tells another way what is to be told again: the plot stands, the words are others', () => {
    for (const story of stories) {
      const context = contextOf(story, [{ role: 'user', text: '你是谁？' }]);
      const first = composeReply(context);
      const again = composeReply({ ...context, retold: [first], seed: `${context.seed}|again` });
      const beats = sentencesOf(story.lists?.beats.join('\n') ?? '');
      const repeated = sentencesOf(again).filter((sentence) => sentencesOf(first).includes(sentence));
      expect(repeated.filter((sentence) => !beats.includes(sentence))).toEqual([]);
    }
  });

  const readers: [string, (turn: number) => string][] = [
    ['says the same all the time', () => '后来呢？'],
    ['says something else each time', (turn) => `第${turn}句，月色如何`],
    ['asks and answers by turns', (turn) => (turn % 2 ? '你是谁？' : '好')],
  ];
  const voiceless: PublishedStory[] = stories.slice(0, 1).map(({ voice, lists, ...silent }) => silent);
  for (const story of [...stories, ...voiceless]) {
    test.each(readers)(`says no sentence of ${story.title} twice within ten replies where the reader %s`, (_, says) => {
      const history: Line[] = [];
      const replies: string[][] = [];
      for (let turn = 1; turn <= 45; turn += 1) {
        history.push({ role: 'user', text: says(turn) });
        let reply = composeReply(contextOf(story, history));
        history.push({ role: 'assistant', text: reply });
        if (turn % 10 === 0) {
          for (let more = 0; more < 5; more += 1) {
            reply += composeReply(contextOf(story, history, true));
            history.splice(-1, 1, { role: 'assistant', text: reply });
          }
        }
        replies.push(sentencesOf(reply));
        const recent = replies.slice(-10).flat();
        expect(recent.filter((sentence, index) => recent.indexOf(sentence) < index)).toEqual([]);
      }
      // the plot has come to its end and did not begin anew
      for (const beat of story.lists?.beats ?? []) {
        expect(history.filter((line) => line.text.includes(beat))).toHaveLength(1);
      }
    });
  }

  const [story] = stories;
  if (!story) throw new Error('no stories');

  test('gives the same reply to the same words, another one to others, and takes the words up', () => {
    const said = (words: string) => composeReply(contextOf(story, [{ role: 'user', text: words }]));
    expect(said('墙外的月亮真亮')).toBe(said('墙外的月亮真亮'));
    expect(said('墙外的月亮真亮')).toContain('墙外的月亮真亮');
    expect(said('墙外的月亮真亮')).not.toBe(said('我想回家了'));
  });

  test('goes on without the reader when asked to continue', () => {
    const history: Line[] = [
      { role: 'user', text: '你是谁？' },
      { role: 'assistant', text: '*她笑了笑*' },
    ];
    const more = composeReply(contextOf(story, history, true));
    expect(more.startsWith('\n\n')).toBe(true);
    expect(more).not.toContain('你是谁');
  });

  test('suggests other lines each time it is asked, be they for the same reply or for a later one', () => {
    const history: Line[] = [{ role: 'user', text: '你是谁？' }];
    const offered: string[] = [];
    for (let order = 0; order < 7; order += 1) {
      const lines = composeSuggestions(contextOf(story, history, false, offered), 3);
      expect(lines).toHaveLength(3);
      expect(lines.filter((line) => offered.includes(line))).toEqual([]);
      offered.push(...lines);
    }
    // there is nothing new any more, so that what was offered longest ago comes again
    const again = composeSuggestions(contextOf(story, history, false, [...offered, ...offered]), 4);
    expect(again).toHaveLength(4);
    expect(again.filter((line) => offered.slice(-6).includes(line))).toEqual([]);
  });

  test('speaks with the voice of the story, and as a plain narrator where there is none', () => {
    const history: Line[] = [{ role: 'user', text: '你是谁？' }];
    const { voice, lists, ...silent } = story;
    expect(lists?.sayings.some((saying) => composeReply(contextOf(story, history)).includes(saying))).toBe(true);
    expect(composeReply(contextOf(silent, history))).toContain('客官');
  });
});
