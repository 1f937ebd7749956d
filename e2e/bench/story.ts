// Plays every story for thirty turns with a scripted reader, without a server or a browser.

import { contentFolder, loadContent } from '../../backend/src/content/content.ts';
import { commonSentences, faultsOf, rehearse } from '../../backend/test/rehearsal.ts';

const columns = ['own answer', 'understood', 'again', 'turns to end', 'forbidden', 'contradicts'];

const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;

export async function run(): Promise<void> {
  const stories = loadContent(process.argv[3] ?? contentFolder)
    .stories.filter(({ plot }) => plot)
    .map((story) => ({
      ...story,
      price: 1,
      createdAt: 0,
      updatedAt: 0,
    }));
  console.log(`story ${columns.join(' · ')}\ngoal  100 % · 80 % · 2 % · an ending · 0 · 0\n`);
  for (const story of stories) {
    const rehearsal = rehearse(story);
    const figures = [
      percent(rehearsal.lines - rehearsal.unanswered.length, rehearsal.lines),
      percent(commonSentences.length - rehearsal.notUnderstood.length, commonSentences.length),
      percent(rehearsal.repeated.length, rehearsal.sentences),
      rehearsal.turnsToEnding ?? '–',
      rehearsal.forbidden.length,
      rehearsal.contradictions.length,
    ];
    console.log(`${story.title}　${figures.join(' · ')}`);
    for (const fault of faultsOf(rehearsal)) {
      console.log(`  ${fault}`);
      process.exitCode = 1;
    }
  }
}
