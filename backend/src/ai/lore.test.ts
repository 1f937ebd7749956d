import { describe, expect, test } from '@rstest/core';
import { contentFolder, loadContent, narrator } from '../content/content.ts';
import { findLore } from './lore.ts';
import { initialProgress, tellerOf } from './progress.ts';
import { composeTurn } from './turn.ts';

const stories = loadContent(contentFolder).stories.filter(({ plot }) => plot);

/** A story at one of its scenes with all facts, or at its first scene with none. */
function open(id: string, at?: string) {
  const story = stories.find((one) => one.id === id);
  if (!story) throw new Error(`no story ${id}`);
  const teller = tellerOf({ ...story, price: 1, createdAt: 0, updatedAt: 0 }, { name: '李四', persona: '' });
  const scenes = at ? teller.plot.scenes : [];
  const facts = Object.fromEntries(
    scenes.flatMap(({ id: scene, replies }) => replies.flatMap((reply) => reply.facts.map((fact) => [fact, scene]))),
  );
  let progress = { ...initialProgress(teller.plot), steps: 1, facts };
  if (at) progress.at = at;
  return (words: string, variantIndex = 0) => {
    const turn = composeTurn(teller, progress, words, variantIndex);
    if (variantIndex === 0) progress = turn.progress;
    return turn;
  };
}

describe('a question about a fact of the story', () => {
  test.each([
    ['a-bao', 'xianzuo', '你有没有兄弟姐妹？', '爹爹就我一个'],
    ['a-bao', 'chengqin', '你成亲了吗？', '嫁了你三年'],
    ['a-bao', 'chengqin', '我死了吗？', '死了三天'],
    ['nie-xiaoqian', 'nanwu', '我还活着吗？', '活着呢'],
    ['a-bao', 'xianzuo', '我的身子在哪里？', '床上'],
    ['bai-qiulian', 'chuangying', '你是哪里人？', '洞庭'],
    ['bai-qiulian', 'hushui', '你到底是人还是妖？', '白骥'],
    ['cu-zhi', 'jia', '期限还有几天？', '三日'],
    ['cu-zhi', 'pokou', '孩子在哪？', '鞋也没有穿'],
    ['ge-jin', 'jiashan', '我妹妹是谁？', undefined],
    ['ge-jin', 'jiashan', '玉版是什么人？', '我的妹妹'],
    ['hong-yu', 'qiangtou', '那四十两是哪里来的？', '攒的'],
    ['hong-yu', 'xueye', '外面天气怎么样？', '大雪'],
    ['hu-jia-nv', 'yuetai', '你是人是鬼？', '是狐'],
    ['hua-bi', 'lanting', '你穿的衣服是什么颜色？', '石绿'],
    ['hua-pi', 'chuang', '道士住在哪里？', '青帝庙'],
    ['huang-ying', 'nanyuan', '你弟弟在哪？', '侍弄花'],
    ['jiao-na', 'zhenbing', '松姑多大了？', '十八'],
    ['laoshan-daoshi', 'zhiyue', '我家里有什么人？', '妻子'],
    ['lian-cheng', 'mingtu', '宾娘是谁？', '史太守'],
    ['lian-xiang', 'zhenmai', '她叫什么名字？', '姓李'],
    ['lu-pan', 'fuyue', '你的主人是谁？', '冥王'],
    ['luocha-haishi', 'shancun', '你为什么帮我？', '没有逃'],
    ['nie-xiaoqian', 'nanwu', '她住在哪里？', '白杨'],
    ['nie-xiaoqian', 'shuzhai', '你住在哪里？', '石榴'],
    ['nie-xiaoqian', 'nanwu', '你的主人是谁？', '姥姥'],
    ['nie-xiaoqian', 'nanwu', '妳住在哪裡？', '白杨'],
    ['pian-pian', 'koushe', '你有孩子吗？', '保儿'],
    ['qing-feng', 'loushang', '你父母呢？', '叔父抱大的'],
    ['shi-qingxu', 'kefang', '石头有几个孔？', '九十二'],
    ['shu-chi', 'juanzhong', '我家里还有什么人？', '太守'],
    ['tou-tao', 'shengzi', '八八儿是谁？', '八月初八'],
    ['wan-xia', 'wudian', '你最怕什么？', '大钲'],
    ['wang-liulang', 'linbie', '你是人是鬼？', '淹死'],
    ['xi-fangping', 'chengnan', '我父亲在哪里？', '檐下'],
    ['xi-fangping', 'chengnan', '你父亲在哪里？', '当年也告过'],
    ['xiang-yu', 'huaying', '你有兄弟姐妹吗？', '绛雪'],
    ['xiao-cui', 'yuping', '你是人吗？', '不是人'],
    ['xin-shisiniang', 'songlin', '你家几口人？', '十九个姐妹'],
    ['ying-ning', 'huayuan', '三十里有多远？', '三十里'],
    ['zhong-li', 'retang', '你身上穿的是什么？', '破头巾'],
    ['zhong-li', 'retang', '你们这里冷吗？', '日头'],
    ['zhong-li', 'retang', '你们那儿下雪吗？', '日头'],
    ['zhong-li', 'retang', '你怕狗吗？', '怕饿'],
    ['zhu-qing', 'shushao', '你为什么来这里？', '弹丸'],
    ['nie-xiaoqian', 'nanwu', '你还记得你的家乡吗？', '北边'],
    ['nie-xiaoqian', 'nanwu', '我们以前见过吗？', '月亮极好'],
    ['nie-xiaoqian', 'nanwu', '我最怕蛇，你呢？', '铜铃'],
    ['nie-xiaoqian', 'nanwu', '你到底图我什么？', '不贪金子'],
    ['hong-yu', 'qiangtou', '你家里还有谁？我饿了', '咸菜'],
  ])('%s, %s: “%s” is answered with %s', (id, at, question, fact) => {
    const { text, progress } = open(id, at)(question);
    if (fact) expect(text).toContain(fact);
    else expect(Object.keys(progress.used).filter((key) => key.startsWith('lore'))).toEqual([]);
    expect(progress.at).toBe(at);
  });

  test.each(stories.map(({ id }) => id))('%s answers what every reader asks', (id) => {
    const questions = [
      '你住在哪里？',
      '你有没有兄弟姐妹？',
      '你父母呢？',
      '你成亲了吗？',
      '你是人是鬼？',
      '你为什么来这里？',
    ];
    const others = [
      '你的主人是谁？',
      '你穿的衣服是什么颜色？',
      '你手里拿的是什么？',
      '外面天气怎么样？',
      '这里还有谁？',
      '这里就你一个人吗？',
    ];
    for (const question of [...questions, ...others, '我家里有什么人？', '我们是怎么认识的？'])
      expect(Object.keys(open(id)(question).progress.used).join(), question).toContain('lore');
  });

  test.each(['狐狸', '狐狸精', '妖精', '神仙', '仙女', '花妖', '花神', '活人', '死人'])(
    'names any kind, such as %s',
    (kind) => {
      const lore = [{ subjects: ['你'], aspects: ['人鬼'], text: '是狐。' }];
      expect(findLore(`你是${kind}吗`, { lore, speakerNames: [], lastNames: [], sceneIds: [] })?.text).toBe('是狐。');
    },
  );

  test('is answered in other words when it is retold or asked again', () => {
    const ask = open('nie-xiaoqian');
    const retold = ask('你怕什么？', 1).text;
    const [first, second] = [ask('你怕什么？').text, ask('你怕什么？').text];
    expect(new Set([retold, first, second]).size).toBe(3);
    for (const text of [retold, first, second]) expect(text).toContain('怕铜铃');
  });

  test('changes with the scene, and what is at hand is known in its own scene only', () => {
    expect(open('nie-xiaoqian', 'guizhou')('你手里拿的是什么？').text).toContain('太阳');
    expect(open('huang-ying', 'liangyuan')('你手里拿的是什么？').text).toContain('热粥');
    expect(open('cu-zhi', 'fangsheng')('你手里拿的是什么？').text).not.toContain('窗框');
  });
});

const unrelatedLines = [
  ...[
    '我的衣服是什么颜色你看得出来吗',
    '我小时候家里住在河边',
    '听说北京昨天下雪了',
    '谁都有怕的时候',
    '我在等一个电话',
  ],
  ...[
    '他们家的孩子真吵',
    '那家店的老板叫什么来着',
    '从这里到上海要多久',
    '我们公司的主人其实是个骗子',
    '这首歌叫什么名字',
  ],
  ...['我妹妹叫什么你肯定猜不到', '那个导演想要表达什么', '我想养一只鹦鹉', '你家隔壁住着谁', '你师父的主人是谁'],
  ...['你说的那个人住在哪里', '你父母同意我们来往吗', '你怕不怕我父母', '你爹的朋友是谁', '你的衣服是谁做的'],
  ...['你住在这里多久了', '你母亲的名字里有花吗', '你哥哥会骗我吗', '你丈夫要是回来了怎么办', '我父母问我什么时候回家'],
];

test.each(unrelatedLines)('“%s” is answered with no fact, and leaves no scene', (words) => {
  for (const { id, plot } of stories) {
    for (const scene of plot?.scenes ?? []) {
      const { progress } = open(id, scene.id)(words);
      expect(Object.keys(progress.used).filter((key) => key.startsWith('lore '))).toEqual([]);
      expect(progress.at).toBe(scene.id);
    }
  }
});

test.each([
  ['tou-tao', '我叫什么名字？'],
  ['tou-tao', '这首歌叫什么名字'],
  ['hua-bi', '我叫什么名字？'],
  ['jiao-na', '你为什么来这里？'],
])('%s: “%s” is no offered line about somebody or something else', (id, words) => {
  for (const { id: scene } of stories.find((one) => one.id === id)?.plot?.scenes ?? [])
    expect(open(id, scene)(words).by).not.toBe('reply');
});

test.each([
  ['他多大？', '十九'],
  ['道士多大了？', '十九'],
  ['我道士多大？', undefined],
  ['你认识的道士多大？', undefined],
])('of the Taoist, mentioned before, “%s” is answered with %s', (question, text) => {
  const lore = [{ subjects: ['道士', '他'], aspects: ['年纪'], text: '十九' }];
  const context = { lore, speakerNames: ['小倩'], lastNames: ['道士'], sceneIds: [narrator.plot.scenes[0]?.id ?? ''] };
  expect(findLore(question, context)?.text).toBe(text);
});

test.each([
  ['nie-xiaoqian', '那两个和尚是怎么死的？', '一场寒热'],
  ['nie-xiaoqian', '姥姥杀过人吗？', '他们的脸'],
  ['xiao-cui', '他们为什么笑我？', '因为好玩'],
  ['lu-pan', '我妻子姓什么？', '备酒'],
  ['lu-pan', '我今年几岁？', '凿子'],
  ['lian-xiang', '谁告诉你我叫什么的？', '丫头'],
  ['zhong-li', '我想学种梨', '五颗核'],
  ['zhong-li', '他们喝醉了', '肚子'],
  ['zhong-li', '我爱吃核桃', '五颗核'],
  ['zhong-li', '天上星星贼亮', '不偷'],
  ['zhong-li', '你们这儿卖什么？', '我的事'],
  ['zhong-li', '你们集上什么最甜？', '我的事'],
  ['hong-yu', '你们这村子怎么样？', '若换了'],
])('%s: “%s” is not answered with what is true of somebody else (%s)', (id, words, text) => {
  for (const { id: scene } of stories.find((one) => one.id === id)?.plot?.scenes ?? [])
    expect(open(id, scene)(words).text).not.toContain(text);
});

describe('the storyteller remembers', () => {
  test('what the reader fears, and the trade in place of the story’s', () => {
    const say = open('nie-xiaoqian');
    say('我叫阿宁，是个大夫，从小怕狗');
    expect(say('我怕什么来着？').text).toContain('怕狗');
    say('其实我是个木匠');
    expect(say('我是做什么的？').text).toContain('木匠');
  });

  test('to wait for the reader’s choice, for any request', () => {
    const say = open('lu-pan');
    for (let turn = 0; turn < 20; turn += 1) expect(say('你多大了？').progress.at).toBe('fuyue');
  });
});
