// Plays every story for thirty turns with a scripted reader, without a server or a browser.
import { commonSentences, faultsOf, rehearse } from '../../backend/src/ai/rehearsal.ts';
import { contentFolder, loadContent } from '../../backend/src/content/content.ts';

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
    const one = rehearse(story);
    const figures = [
      percent(one.lines - one.unanswered.length, one.lines),
      percent(commonSentences.length - one.notUnderstood.length, commonSentences.length),
      percent(one.repeated.length, one.sentences),
      one.turnsToEnding ?? '–',
      one.forbidden.length,
      one.contradictions.length,
    ];
    console.log(`${story.title}　${figures.join(' · ')}`);
    for (const fault of faultsOf(one)) {
      console.log(`  ${fault}`);
      process.exitCode = 1;
    }
  }
}
