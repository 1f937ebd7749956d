import type { OwnQuestion } from './reader.ts';

// What any speaker says of what readers said of themselves, with the placeholders of `answers.ts`.

/** Answers when the reader has given their name. */
export const introductionAnswers: string[] = [
  '*{speaker}把这个名字轻轻念了一遍。* “{address}。好，我记下了。”',
  '“{address}。”*{speaker}抬起眼，重新看了看你。* “这样叫，果然顺口些。”',
];

/** Answers when the reader asks for their own name, which they have given before. */
export const knownNameAnswers: string[] = [
  '“{address}。”*{speaker}答得没有迟疑。* “是你自己告诉我的，怎么会忘。”',
  '*{speaker}看了你一眼，有些好笑。* “{address}。要我写下来么？”',
];

/** `{fear}` names what the reader fears, as they said it or as their 人设 describes it. */
export const fearAnswers: string[] = [
  '*{speaker}把这句话记下了。* “{address}怕{fear}？那便走我里侧，有什么我先看见。”',
  '“怕{fear}的人不止{address}一个。”*{speaker}说。* “你不必装作不怕，我替你看着。”',
];

/** Answers to questions of readers about what they said of themselves. `{fact}` is in their words. */
export const toldAnswers: Record<OwnQuestion, string[]> = {
  fear: [
    '“怕{fact}。”*{speaker}看了看你。* “{address}自己说的，我记着。”',
    '*{speaker}压低了声音。* “{fact}。放心，我不告诉旁人。”',
  ],
  age: [
    '*{speaker}不必想。* “{fact}。{address}说过的。”',
    '“{fact}。”*{speaker}看了你一眼。* “这样的事，我怎么会记错。”',
  ],
  home: [
    '“{address}说过，{fact}。”*{speaker}答得很快。* “那边的路，改日讲给我听。”',
    '*{speaker}望了望你来的方向。* “{fact}。这一句，我一直记着。”',
  ],
  words: [
    '“{address}说的是：‘{fact}’。”*{speaker}一字不差地学了一遍。*',
    '*{speaker}笑了一笑。* “‘{fact}’。话才出口，{address}便忘了？”',
  ],
};

/** The text mentions something that the reader fears. Used once. */
export const fearNearby = '*{speaker}想起你怕{fear}，不声不响往你前头站了半步。*';

/** Used once, when the reader greets or asks about themselves. `{trade}` is from their 人设. */
export const tradeAnswers: string[] = [
  '“{address}是{trade}。”*{speaker}看了看你的手。* “做这一行的，看事情总比旁人细些。”',
  '“{trade}。”*{speaker}答得很快。* “{address}自己说的，我没有忘。”',
  '*{speaker}想也没想。* “{trade}呀。换了别的行当，便不是{address}了。”',
];
