import { describe, expect, test } from '@rstest/core';
import { contentFolder, loadContent, type PublishedStory } from '../content/content.ts';
import { composeReply, composeSuggestions } from './builtIn.ts';
import type { Line, StoryContext } from './storyteller.ts';

const { stories } = loadContent(contentFolder);
const length = (text: string): number => [...text].length;

const contextOf = (story: PublishedStory, history: Line[], continuing = false): StoryContext => ({
  story: { ...story, price: 1, createdAt: 0, updatedAt: 0 },
  reader: { name: '甲', persona: '' },
  history,
  continuing,
  turn: Math.ceil((history.length + 1) / 2),
  seed: `test|${history.length}`,
});

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

  test('speaks with the voice of the story, and as a plain narrator where there is none', () => {
    const history: Line[] = [{ role: 'user', text: '你是谁？' }];
    const { voice, ...silent } = story;
    expect(voice?.sayings.some((saying) => composeReply(contextOf(story, history)).includes(saying))).toBe(true);
    expect(composeReply(contextOf(silent, history))).toContain('客官');
  });
});
