import { symbolWords } from './patterns.ts';

/** Traditional letters that readers use often, each followed by its simplified form. */
const traditional =
  '妳你們们個个這这裡里裏里來来時时說说話话誰谁為为爲为麼么嗎吗沒没會会還还對对過过後后從从開开關关門门問问聽听見见覺觉讓让給给請请謝谢愛爱歡欢樂乐親亲媽妈爺爷孫孙師师書书讀读寫写畫画詩诗詞词歲岁幾几點点鐘钟間间東东車车馬马魚鱼鳥鸟雞鸡貓猫龍龙鳳凤靈灵氣气風风雲云電电陽阳陰阴熱热涼凉飯饭餓饿錢钱銀银買买賣卖貴贵價价褲裤顏颜紅红綠绿藍蓝黃黄長长臉脸頭头髮发腳脚醫医藥药傷伤殺杀歸归處处邊边遠远進进現现實实騙骗認认識识記记憶忆難难擔担憂忧驚惊嚇吓願愿應应該该許许決决選选擇择動动靜静燈灯燭烛樓楼廟庙墳坟樹树葉叶園园橋桥國国鄉乡縣县員员職职業业務务幹干纔才剛刚經经歷历當当總总結结兒儿姊姐戲戏術术變变換换號号帳账戶户費费錄录與与並并麗丽聰聪溫温膽胆壞坏惡恶獨独雙双隻只條条張张雖虽嗚呜喲哟';
const simplifiedOf = new Map(
  [...traditional].flatMap((letter, at, letters) =>
    at % 2 === 0 ? [[letter, letters[at + 1] ?? letter] as const] : [],
  ),
);

const dialect: readonly (readonly [RegExp, string])[] = [
  [/啥子|嘛子|么子|甚么|啥玩意儿?/g, '什么'],
  [/咋(?:个|样|滴|地)?|做啥/g, '怎么'],
  [/[侬恁](?!叔)|乃们/g, '你'],
  [/俺们?|阿拉|偶(?=[们是想])/g, '我'],
  [/哪(?:嘎达|旮旯|疙瘩|块)|啥地方/g, '哪里'],
  [/木有|冇|莫得/g, '没有'],
  [/晓不晓得|造不造/g, '知道吗'],
];

/** What 你呢 asks for after a clause about the reader. */
const echoes: readonly (readonly [RegExp, string])[] = [
  [/岁/, '你多大了'],
  [/我(?:名?叫|姓)/, '你叫什么'],
  [/家在|住在|来自|老家|从.+来/, '你家在哪里'],
  [/怕/, '你怕什么'],
  [/喜欢/, '你喜欢什么'],
  [/累|困|冷|饿|疼|痛|难过|伤心|开心|高兴|孤独|寂寞/, '你$&吗'],
];

const completeEcho = (whole: string, before: string): string => {
  for (const [words, question] of echoes) {
    const [word] = words.exec(before) ?? [];
    if (word) return `${before}，${word.replace(words, question)}`;
  }
  return whole;
};

/** Returns a line in plain words: words for emoji or digits alone, no emoji in other lines, simplified letters. */
export function spell(line: string): string {
  if (!/\p{L}/u.test(line)) return symbolWords.find(([symbol]) => symbol.test(line.trim()))?.[1] ?? line;
  const letters = line.replace(/\p{Extended_Pictographic}|\uFE0F/gu, '');
  const simplified = [...letters].map((letter) => simplifiedOf.get(letter) ?? letter).join('');
  const plain = dialect.reduce((text, [words, common]) => text.replace(words, common), simplified);
  return plain.replace(/([^，。！？!?；,\n]+)[，。！,! ]+[你您]呢(?=\p{P}|$)/u, completeEcho);
}

/** Leaves the speaker out of the name of a place, such as 你们这儿 and 你们村里. */
export const withoutHosts = (words: string): string =>
  words.replace(
    /[你您]们?(?=[这那](?:[里儿边]|个?(?:地方|[村镇城县寺庙观店街山])))|[你您]们(?=[村镇城县寺庙观店街山集][里上子])/g,
    '',
  );

export const clausesOf = (words: string): string[] =>
  words
    .normalize('NFKC')
    .split(/[，。！？；,.!?;~…\n]+/)
    .map((clause) => clause.trim())
    .filter(Boolean);

/** A third-person pronoun as the subject of a clause. 他们 is never the speaker. */
export const thirdPersonPattern =
  /^(?:那|可|但|不过|而|所以|难道|其实|听说|[你您我](?:说|看|觉得|知道|听说|猜|认为))*([他她它]们?)(?!妈|娘的)/;

/** Returns a text without punctuation, symbols and spaces, so that it can be compared. */
export const lettersOf = (words: string): string => words.normalize('NFKC').replace(/[\p{P}\p{S}\s]/gu, '');

/** In 什么都 and 谁也 these words ask nothing. */
const withoutIndefinites = (words: string): string => words.replace(/(?:什么|啥|谁|哪[里儿]?|怎么样?)(?=[都也])/g, '');

export const isQuestion = (words: string): boolean =>
  /[?？]|[吗么呢]$|谁|什么|(?<!天)哪|怎|为何|为啥|几[个时点岁更天年次回人位只条口家]|十几|几$|多[少远大高长深重宽久]|[了过个]没有?[?？]?$|(\p{Script=Han})[不没]\1|是人(?:还)?是鬼|吧[?？]/u.test(
    withoutIndefinites(words.trim()),
  ) ||
  // a request expects an answer, like a question
  /^(请|你|再|[给替帮为跟同]我)*((讲|写|唱|说|算|背|念|画)(个|一|首|段|点|几)|讲讲|说说(?!话|笑|看|而已))/.test(
    words.trim(),
  );

export const bigramsOf = (text: string): string[] =>
  Array.from({ length: Math.max(0, text.length - 1) }, (_, at) => text.slice(at, at + 2));

/** Begins a list elsewhere for each speaker, so that two stories do not answer alike. */
export function rotate(texts: readonly string[], speaker: string): string[] {
  const at = [...speaker].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0) % texts.length;
  return [...texts.slice(at), ...texts.slice(0, at)];
}
