import { setTimeout as sleep } from 'node:timers/promises';
import type { Voice } from '../content/content.ts';
import type { Env } from '../env.ts';
import { Draw } from './draw.ts';
import { echo, quote } from './echo.ts';
import type { Piece, StoryContext, Storyteller } from './port.ts';

/** Thrown when a test asked for it. */
class ScriptedFailure extends Error {}

/** A storyteller without a model: seeded, in the tale's voice, its pace and failures set by `STORYTELLER_…`. */
export function builtInStoryteller(env: Env): Storyteller {
  return {
    async *generate(context, { signal }): AsyncIterable<Piece> {
      const text = composeReply(context);
      const script = scriptOf(env, context);
      await sleep(env.STORYTELLER_START_DELAY_MS, undefined, { signal });
      const pieces = inPieces(text, env.STORYTELLER_PIECE_CHARACTERS);
      for (const [index, piece] of pieces.entries()) {
        if (script !== 'write' && index >= pieces.length / 2) await interrupt(script, signal);
        yield { text: piece };
        await sleep(env.STORYTELLER_PIECE_DELAY_MS, undefined, { signal });
      }
      yield { usage: { totalTokens: text.length } };
    },
    async suggest(context, count, { signal }) {
      await sleep(env.STORYTELLER_SUGGESTION_DELAY_MS, undefined, { signal });
      if (scriptOf(env, context) === 'fail') throw new ScriptedFailure('scripted failure');
      return composeSuggestions(context, count);
    },
  };
}

const lastWords = ({ history }: StoryContext): string =>
  history.filter((line) => line.role === 'user').at(-1)?.text ?? '';

type Script = 'write' | 'fail' | 'hang';

/** A marked line fails or hangs only the first time, so that going on with the reply can succeed. */
function scriptOf(env: Env, context: StoryContext): Script {
  const words = lastWords(context);
  if (context.continuing)
    return new Draw(`${context.seed}|rate`).fraction() < env.STORYTELLER_FAIL_RATE ? 'fail' : 'write';
  if (env.STORYTELLER_HANG_WORD && words.includes(env.STORYTELLER_HANG_WORD)) return 'hang';
  if (env.STORYTELLER_FAIL_WORD && words.includes(env.STORYTELLER_FAIL_WORD)) return 'fail';
  return new Draw(`${context.seed}|rate`).fraction() < env.STORYTELLER_FAIL_RATE ? 'fail' : 'write';
}

async function interrupt(script: 'fail' | 'hang', signal: AbortSignal): Promise<void> {
  if (script === 'fail') throw new ScriptedFailure('scripted failure');
  await sleep(2 ** 31 - 1, undefined, { signal });
}

/** The whole text of a reply, or of a continuation. */
export function composeReply(context: StoryContext): string {
  const voice = voiceOf(context);
  const draw = new Draw(`${context.seed}|${lastWords(context)}`);
  const said = context.history.map((line) => line.text).join('\n');
  const fresh = (list: string[]) => {
    const unsaid = list.filter((item) => !said.includes(item));
    return draw.one(unsaid.length > 0 ? unsaid : list);
  };
  const beat = nextBeat(voice, said) ?? fresh(voice.scenery);
  if (context.continuing) return `\n\n*${fresh(voice.gestures)}*\n\n${beat}\n\n“${fresh(voice.sayings)}”`;
  const answer = echo(lastWords(context), voice.address, draw);
  return [
    `*${fresh(voice.gestures)}*`,
    `“${answer}${callback(context, voice)}”`,
    `${fresh(voice.scenery)}${beat}`,
    `“${fresh(voice.sayings)}${fresh(voice.asks)}”`,
  ].join('\n\n');
}

/** Every third turn the speaker comes back to something the reader said before. */
function callback({ history, turn }: StoryContext, { address }: Voice): string {
  if (turn % 3 !== 0) return '';
  const earlier = history.filter((line) => line.role === 'user').slice(0, -1);
  const line = earlier[turn % Math.max(1, earlier.length)];
  return line ? `先前${address}还说过‘${quote(line.text)}’，我不曾忘。` : '';
}

/** The plot goes on with the first step that was not told yet. */
const nextBeat = ({ beats }: Voice, said: string): string | undefined => beats.find((beat) => !said.includes(beat));

/** Lines the reader could say next. */
export function composeSuggestions(context: StoryContext, count: number): string[] {
  const voice = voiceOf(context);
  const said = new Set(context.history.map((line) => line.text));
  const unsaid = voice.replies.filter((reply) => !said.has(reply));
  return new Draw(context.seed).several(unsaid.length >= count ? unsaid : voice.replies, count);
}

function voiceOf({ story }: StoryContext): Voice {
  return story.voice ?? { ...plainVoice, speaker: story.characters[0]?.name ?? plainVoice.speaker };
}

/** For stories that were added without a voice of their own. */
const plainVoice: Voice = {
  speaker: '说书人',
  address: '客官',
  gestures: ['说书人放下醒木，捻了捻灯芯', '说书人合上折扇，侧耳听了听窗外', '说书人抿一口冷茶'],
  scenery: ['灯花爆了一声，影子在墙上晃了晃。', '巷子尽头传来更鼓，一声远似一声。', '雨脚细密，瓦檐下挂起一道帘。'],
  beats: [
    '故事里的人推开了那扇半掩的门。',
    '门后没有人，只有一盏灯，灯下压着一封没有写完的信。',
    '信上的墨迹还是湿的。',
    '他顺着湿痕走去，看见井台边立着一个人影。',
  ],
  sayings: [
    '世上的奇事，十有八九藏在寻常人家的灯下。',
    '故事讲到这里，该由听的人拿主意了。',
    '真与假不过一层窗纸，捅破了反倒无趣。',
  ],
  asks: ['依客官看，接下来该往哪里去？', '若换作客官，敢不敢再走一步？', '客官还想听么？'],
  replies: [
    '我想知道后来怎样',
    '我跟着灯光往前走',
    '先别急，容我想一想',
    '这里面一定有隐情',
    '我把门轻轻推开',
    '我愿意听你说完',
  ],
};

function inPieces(text: string, size: number): string[] {
  const characters = [...text];
  const count = Math.ceil(characters.length / size);
  return Array.from({ length: count }, (_, index) => characters.slice(index * size, (index + 1) * size).join(''));
}
