import { describe, expect, test } from '@rstest/core';
import { composeReply, composeSuggestions } from '../ai/builtIn.ts';
import type { Line, StoryContext } from '../ai/port.ts';
import { avatarUrls } from './avatars.ts';
import { avatarSvg } from './drawing/avatar.ts';
import { coverSvg } from './drawing/cover.ts';
import { portraitSvg } from './drawing/portrait.ts';
import type { Tale } from './tale.ts';
import { tales } from './tales/index.ts';

const length = (text: string): number => [...text].length;

const contextOf = (
  { id, title, summary, tags, opening, characters }: Tale,
  history: Line[],
  continuing = false,
): StoryContext => ({
  story: {
    id,
    title,
    summary,
    tags,
    opening: opening.join('\n\n'),
    characters: characters.map((one) => ({ ...one, avatar: '' })),
    author: { id: '', name: '', avatar: '' },
    coverUrl: '',
    price: 1,
    createdAt: 0,
    updatedAt: 0,
  },
  reader: { name: '甲', persona: '' },
  history,
  continuing,
  turn: Math.ceil((history.length + 1) / 2),
  seed: `test|${history.length}`,
});

describe('every tale', () => {
  test('there are at least 28, each with its own id and title', () => {
    expect(tales.length).toBeGreaterThanOrEqual(28);
    expect(new Set(tales.map(({ id }) => id)).size).toBe(tales.length);
    expect(new Set(tales.map(({ title }) => title)).size).toBe(tales.length);
  });

  for (const tale of tales) {
    test(`${tale.title} is whole`, () => {
      expect(length(tale.summary)).toBeGreaterThanOrEqual(50);
      expect(length(tale.summary)).toBeLessThanOrEqual(100);
      expect(tale.opening.length).toBeGreaterThanOrEqual(3);
      expect(tale.opening.join('')).toMatch(/\*[^*]+\*/);
      expect(tale.opening.join('')).toMatch(/“[^”]+”/);
      expect(tale.characters.length).toBeGreaterThanOrEqual(1);
      for (const reply of tale.voice.replies) expect(length(reply)).toBeLessThanOrEqual(20);
      expect(coverSvg(tale.id)).toContain(`aria-label="${tale.title}"`);
      for (const { id } of tale.characters) expect(portraitSvg(`${tale.id}-${id}`)).toContain('<svg');
    });

    test(`${tale.title} is told without repeating itself, in well-formed marks`, () => {
      const history: Line[] = [];
      const told = new Set<string>();
      for (const words of ['你是谁？', '我不怕，你说吧', '“别走”，*我追上去*', '后来呢', '好']) {
        history.push({ role: 'user', text: words });
        const reply = composeReply(contextOf(tale, history));
        expect(length(reply)).toBeGreaterThanOrEqual(80);
        expect(length(reply)).toBeLessThanOrEqual(250);
        expect(reply.split('*').length % 2).toBe(1);
        expect(reply.split('“').length).toBe(reply.split('”').length);
        expect(told.has(reply)).toBe(false);
        told.add(reply);
        history.push({ role: 'assistant', text: reply });
      }
      expect(composeSuggestions(contextOf(tale, history), 4)).toHaveLength(4);
    });
  }
});

describe('the storyteller', () => {
  const [tale] = tales;
  if (!tale) throw new Error('no tales');

  test('gives the same reply to the same words, another one to others, and takes the words up', () => {
    const said = (words: string) => composeReply(contextOf(tale, [{ role: 'user', text: words }]));
    expect(said('墙外的月亮真亮')).toBe(said('墙外的月亮真亮'));
    expect(said('墙外的月亮真亮')).toContain('墙外的月亮真亮');
    expect(said('墙外的月亮真亮')).not.toBe(said('我想回家了'));
  });

  test('goes on without the reader when asked to continue', () => {
    const history: Line[] = [
      { role: 'user', text: '你是谁？' },
      { role: 'assistant', text: '*她笑了笑*' },
    ];
    const more = composeReply(contextOf(tale, history, true));
    expect(more.startsWith('\n\n')).toBe(true);
    expect(more).not.toContain('你是谁');
  });
});

test('every avatar on the list can be drawn', () => {
  for (const url of avatarUrls) expect(avatarSvg(url.replace(/^.*\/(.*)\.svg$/, '$1'))).toContain('<svg');
});
