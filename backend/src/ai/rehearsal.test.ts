import { describe, expect, test } from '@rstest/core';
import { faultsOf, particularCommonSentences, rehearse } from '../../test/rehearsal.ts';
import { contentFolder, loadContent, narrator } from '../content/content.ts';

const stories = loadContent(contentFolder).stories.filter(({ plot }) => plot);
const withPrice = { price: 1, createdAt: 0, updatedAt: 0 };

describe('a rehearsal of thirty turns with a scripted reader', () => {
  test.each(stories.map((story) => [story.title, story] as const))('finds no fault in %s', (_, story) => {
    expect(faultsOf(rehearse({ ...story, ...withPrice }))).toEqual([]);
  });

  test('finds the faults of a story that ignores the reader', () => {
    const [story] = stories;
    if (!story) throw new Error('no stories');
    const [scene] = narrator.plot.scenes;
    if (!scene) throw new Error('no scene');
    const meanwhile = ['正午的日头晒着地，谁也没有动。', '正午的日头晒着地，谁也没有动。'];
    const plot = { ...narrator.plot, scenes: [{ ...scene, replies: [], meanwhile }] };
    const faults = faultsOf(rehearse({ ...story, ...withPrice, plot })).map((fault) => fault.split(':')[0]);
    expect(faults).toEqual(expect.arrayContaining(['come again', 'the lines on offer lead to no ending']));
    expect(faults).toContain('contradicts its hour');
  });

  test('lines for all speakers name no place and no time', () => {
    expect(particularCommonSentences()).toEqual([]);
  });
});
