import { describe, expect, test } from '@rstest/core';
import fc from 'fast-check';
import { SmallText, smallText, suggestionLines, upToSentence } from './smallText.ts';

const marks = [
  '*',
  '**',
  '#',
  '- ',
  '1. ',
  '`',
  '```',
  '\n',
  '“',
  '”',
  '"',
  '|',
  '|:-',
  '[',
  '](',
  ')',
  '<think>',
  '</think>',
  '<',
  '>',
  '!',
  '_',
  '__',
  '</i>',
  '</s>',
  '<|im_end|>',
  '[think]',
  '<think/>',
  '＜think＞',
  '<|channel|>',
  '<|message|>',
  'final',
  'analysis',
  '<|start|>',
  'assistant',
  '<|begin_of_thought|>',
  '<|end_of_thought|>',
  '<end_of_turn>',
  '<br>',
  '<h',
  '1>',
  '\r',
  '~~',
  ' ',
  '---',
  '<tool_call>',
  '</tool_call>',
  '[TOOL_CALLS]',
  '<|tool_call_begin|>',
  '【',
  '†',
  '】',
  '^',
  '[^1]',
  ':',
  '<b x="',
  '\\',
  'n',
  'r',
  '[INST]',
  '<<SYS>>',
  '<reserved_106>',
  ']~b]',
  ']~!b[',
  '[e~[',
  '[|',
  '|]',
  '<[end_of_sentence',
  ']>',
  '<seed:bos>',
  '<|turn>',
  '<turn|>',
  '<|channel>',
  '<channel|>',
  '<role>',
  '</role>',
  '<｜',
  '｜>',
  'user',
  'User',
  '用户',
  '：',
  '###',
  '\u0301',
  '夜',
  'a',
  '3',
];
const written = fc.array(fc.constantFrom(...marks), { maxLength: 30 });

/** Returns the final text of a page that removes its text on `restart`. */
function shown(pieces: string[]): string {
  const small = new SmallText();
  let page = '';
  for (const piece of pieces) {
    const { text, restart } = small.add(piece);
    page = (restart ? '' : page) + text;
  }
  return page + small.end();
}

test('a streamed text has the same result however it is split', () => {
  fc.assert(
    fc.property(written, (pieces) => shown(pieces) === smallText(pieces.join(''))),
    {
      numRuns: 2_000,
      examples: [[['[', '](', '[', ')']], [['!', '~~', '[', '](', ')']], [['<|start|>', '</tool_call>', 'assistant']]],
    },
  );
});

test('the result contains no Markdown and no thoughts', () => {
  const isClean = (text: string) => !/\*\*|```|<think>/.test(text);
  fc.assert(
    fc.property(written, (pieces) => isClean(smallText(pieces.join('')))),
    { numRuns: 2_000 },
  );
});

test.each([
  ['*她抬眼*\n\n“公子。”', '*她抬眼*\n\n“公子。”'],
  ['“你好。”她说。“再见。”', '“你好。”她说。“再见。”'],
  ['「*她抬眼*，风大。」', '*她抬眼*，风大。'],
  ['***她抬眼***\n\n***\n\n“公子。”', '*她抬眼*\n\n“公子。”'],
  ['> 3天后\n3. 走', '3天后\n走'],
  ['[她](https://x.example)笑了', '她笑了'],
  ['*笑[](x)*，*低头[*](x)*，*抬眼</i>*', '*笑*，*低头*，*抬眼*'],
  ['**[](x)*__*夜', '夜'],
  ['<think>一</think>二<thinking>三</thinking>四', '二四'],
  ['＜think＞一＜/think＞二<think/>三<analysis>四</analysis>五', '二三五'],
  ['<|begin_of_thought|>一<|end_of_thought|>二', '二'],
  [
    '<|start|>assistant<|channel|>analysis<|message|>一<|end|><|start|>assistant<|channel|>final<|message|>二<|return|>',
    '二',
  ],
  ['<|im_start|>assistant\n一<|im_end|>\n<|im_start|>user\n二', '一'],
  ['<start_of_turn>model\n一<end_of_turn>\n<start_of_turn>user\n二', '一'],
  ['一<｜end▁of▁sentence｜><｜User｜>二', '一'],
  ['一<tool_call>\n{"name":"x"}\n</tool_call>二</tool_call>三', '一二三'],
  ['一<think>想<tool_call>叫</tool_call>想</think>二', '一二'],
  ['一\n[TOOL_CALLS][{"name":"x"}]', '一'],
  ['<|tool_calls_section_begin|><|tool_call_begin|>x:0<|tool_call_end|><|tool_calls_section_end|>一', '一'],
  ['<｜tool▁calls▁begin｜>x<｜tool▁calls▁end｜>一<|python_tag|>x<|eom_id|>', '一'],
  ['[INST]一[/INST]', '一'],
  ['一<|user|>\n二', '一'],
  ['一[INST]二[/INST]三', '一'],
  ['一<|start_header_id|>user<|end_header_id|>\n\n二', '一'],
  ['一<eos>二', '一'],
  ['<<SYS>>一<</SYS>>二', '一二'],
  ['<reserved_107>一<reserved_106>二', '一'],
  ['一<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|USER_TOKEN|>二', '一'],
  ['<seed:bos>assistant\n一<seed:eos>\n<seed:bos>user\n二', '一'],
  ['一<seed:bos>user\n二', '一'],
  ['<[begin_of_sentence]>assistant\n一<[end_of_sentence]>二', '一'],
  [']~!b[]~b]ai\n一[e~[\n]~b]user\n二', '一'],
  ['一\n]~b]user\n二', '一'],
  ['[|assistant|]一[|endofturn|]\n[|user|]二', '一'],
  ['<|turn>model\n<|channel>thought\n想<channel|>一<turn|>\n<|turn>user\n二', '一'],
  ['一<|turn>user\n二', '一'],
  ['一<|tool_call>call:x{}<tool_call|>二', '一二'],
  ['<｜hy_Assistant｜>一<｜hy_place▁holder▁no▁2｜><｜hy_User｜>二', '一'],
  ['<role>ASSISTANT</role>一<role>HUMAN</role>二', '一'],
  ['一<|start_of_role|>user<|end_of_role|>二', '一'],
  ['[她]~笑]，[e~f]，a|b>c', '[她]~笑]，[e~f]，a　b>c'],
  ['<|begin_of_box|>一<|end_of_box|>二', '一二'],
  ['一<0x0A><user>二</user>', '一'],
  ['一<|im_e', '一'],
  ['一\u2028二', '一\n二'],
  [`一${'\u0301'.repeat(9)}二👩‍❤️‍👨`, `一${'\u0301'.repeat(4)}二👩‍❤️‍👨`],
  ['一\n**User:** 二', '一'],
  ['一\n【用户】：二', '一'],
  ['一\n- <User>: 二', '一'],
  ['一\n（用户：二）', '一'],
  ['一\n2. 用户：二', '一'],
  ['一\nHuman', '一'],
  ['一\n## Human\n二', '一'],
  ['Assistant: 一\n助手：二', '一\n助手：二'],
  ['一，用户：二\n用户名：三\nUsers: 四', '一，用户：二\n用户名：三\nUsers: 四'],
  ['一【4:0†source】，二[^1]，三^[2]，四[^3^]，五[citation:4]。\n\n[^1]: 出处', '一，二，三，四，五。'],
  ['【第一幕】她[1]笑', '【第一幕】她[1]笑'],
  ['<font color="red">一</font><div class=\'a\' id="b">二</div>', '一二'],
  ['<speech>一</speech><br><br>二<p>三</p>四', '一\n\n二三\n四'],
  ['一\r\n二\r三', '一\n二\n三'],
  ['一\\n\\n二\\r\\n三\\四', '一\n\n二\n三\\四'],
  ['第一行\n\n\n\n第二行\n', '第一行\n\n第二行'],
  [
    '她带了：\n\n| 物件 | **用处** |\n|:---|---:|\n| 灯 | |\n| 剑 | 防身 |\n\n走吧。',
    '她带了：\n\n物件　用处\n灯\n剑　防身\n\n走吧。',
  ],
  ['物件 | 用处\n---|---\n灯 | 照路', '物件　用处\n灯　照路'],
])('%j becomes %j', (text, small) => expect(smallText(text)).toBe(small));

test.each(['字'.repeat(1_000_000), '*'.repeat(200_000), '['.repeat(20_000), '“'.repeat(50_000), '- '.repeat(50_000)])(
  'a large text is converted within 5 s',
  (text) => {
    const begun = performance.now();
    smallText(text);
    expect(performance.now() - begun).toBeLessThan(5_000);
  },
);

describe('an unfinished text', () => {
  test.each([
    ['一。二。三', '一。二。'],
    ['没有句号', '没有句号'],
    ['“你来了。坐下说', '“你来了。”'],
    ['*她抬眼。看', '*她抬眼。*'],
    ['He has 3.5 coins. And', 'He has 3.5 coins.'],
  ])('%s ends as %s', (text, whole) => expect(upToSentence(text)).toBe(whole));
});

test.each([
  ['10:30见\n2.5里外\n三天后见', ['10:30见', '2.5里外', '三天后见']],
  ['①走\n（2）来\n三、去', ['走', '来', '去']],
  ['好的！\n走\n来\n去', ['走', '来', '去']],
  ['走\n走\n\u200b\n来', ['走', '来']],
  ['用户：走\n1. 读者：来\n“User: 去”', ['走', '来', '去']],
])('the suggestions in %j are %j', (answer, lines) => expect(suggestionLines(answer, 3)).toEqual(lines));
