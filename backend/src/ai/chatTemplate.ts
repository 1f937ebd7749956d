// Tokens of the chat templates of models, which some servers leave in an answer.

/** Tokens of chat templates with other brackets than `<|name|>`. */
const bracketedToken =
  /<[|｜]([\w▁ ]{1,40})[|｜]?>|<\[((?:begin|end)_of_sentence)\]>|\[\|(\w{1,24})\|\]|<seed:([be]os)>|<role>(\w{1,9})<\/role>|<(?:turn|channel|tool_call)\|>|\]~!?b[\][]|\[e~\[/g;
const tokenMeanings: Record<string, string> = {
  ']~!b[': '<|start|>',
  ']~b]': '<|start|>',
  '[e~[': '<|end|>',
  '<turn|>': '<|end|>',
  '<|channel>': '<think>',
  '<channel|>': '</think>',
  '<tool_call|>': '</tool_call>',
};

/** Writes complete tokens as `<|name|>`. */
export const withPlainTokens = (text: string): string =>
  text.replace(
    bracketedToken,
    (token, ...names: (string | undefined)[]) =>
      tokenMeanings[token] ?? `<|${names.find(Boolean)?.replace(/[▁ ]/g, '_')}|>`,
  );

/** The name of a role may follow. */
export const turnStart =
  '<\\|(?:im_start|start_header_id|header_start|start|begin|bos|begin_of_sentence|turn|role_start|start_of_role)\\|>|<start_of_turn>';
/** Tokens at the end of a model's turn or the beginning of another. The text after them belongs to another turn. */
export const turnEnd = new RegExp(
  [
    '<\\|(?:im_end|eo[smt](?:_id)?|end(?:_?of_?(?:text|turn|sentence)(?:_token)?)?|turn_end|return|observation)\\|>',
    '<\\|(?:[a-z]{1,8}_)?(?:user|human)(?:_token)?\\|>',
    `(?:${turnStart})(?:user|system)`,
    '</s>|<eos>|<end_of_turn>|<(?:user|human)>|<reserved_10[26]>|\\[INST\\]',
  ].join('|'),
  'i',
);
/** Other tokens of a model's chat template. */
export const turnToken = new RegExp(
  `(?:${turnStart})(?:assistant|system|user|model|ai)?|<\\|\\w{1,40}\\|>|<s>|\\[/?INST\\]|<</?SYS>>|<0x[\\da-f]{2}>`,
  'gi',
);
