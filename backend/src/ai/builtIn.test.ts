import { describe, expect, test } from '@rstest/core';
import { contentFolder, loadContent, type PublishedStory } from '../content/content.ts';
import { composeReply, composeSuggestions, replay } from './builtIn.ts';
import { hasEnded, type Progress, readProgress, tellerOf } from './progress.ts';
import type { StoryContext } from './storyteller.ts';

const { stories } = loadContent(contentFolder);
const model = stories.find(({ id }) => id === 'nie-xiaoqian');
if (!model) throw new Error('no model story');

/** A conversation as the backend stores it: each reply has the progress before it. */
class Conversation {
  readonly #story: StoryContext['story'];
  readonly #reader: StoryContext['reader'];
  #before: Progress;
  #words = '';
  body = '';
  telling = 0;

  constructor(story: Partial<PublishedStory> = {}, persona = '') {
    this.#story = { ...(model as PublishedStory), price: 1, createdAt: 0, updatedAt: 0, ...story };
    this.#reader = { name: '李四', persona };
    this.#before = readProgress(this.teller.plot, null);
  }

  get teller() {
    return tellerOf(this.#story, this.#reader);
  }

  get progress(): Progress {
    return replay(this.teller, this.#before, this.#words, this.body, this.telling).progress;
  }

  get hasEnded(): boolean {
    return hasEnded(this.teller.plot, this.progress);
  }

  say(words: string): string {
    this.#before = this.progress;
    this.#words = words;
    this.telling = 0;
    this.body = '';
    this.body = composeReply(this.#context(false));
    return this.body;
  }

  /** Puts the conversation into a scene. */
  stand(at: string): void {
    this.#before = { ...this.#before, at };
  }

  retell(): string {
    this.telling += 1;
    this.body = composeReply(this.#context(false));
    return this.body;
  }

  goOn(): string {
    const more = composeReply(this.#context(true));
    this.body += more;
    return more;
  }

  suggest(count: number, formerSuggestions: string[] = []): string[] {
    return composeSuggestions({ ...this.#context(false), progress: this.progress, formerSuggestions }, count);
  }

  #context(isContinuation: boolean): StoryContext {
    const said = { role: 'user' as const, text: this.#words };
    return {
      story: this.#story,
      reader: this.#reader,
      history: isContinuation ? [said, { role: 'assistant', text: this.body }] : [said],
      formerSuggestions: [],
      formerTexts: [],
      isContinuation,
      progress: this.#before,
      variantIndex: this.telling,
      seed: '',
    };
  }
}

const of = (id: string) => new Conversation(stories.find((story) => story.id === id));

describe('the built-in storyteller', () => {
  test('stays in its scene while the reader asks about other things', () => {
    const talk = new Conversation();
    for (const question of ['你是谁？', '这是哪里？', '金子多少钱？', '燕赤霞是好人么？', '你喜欢吃什么？'])
      talk.say(question);
    expect(talk.progress.at).toBe('nanwu');
  });

  test('introduces the speaker before the first answer', () => {
    expect(new Conversation().say('你是谁？')).toMatch(/^她没有走近.*我姓聂/s);
  });

  test('answers the last sentence of a line that was not understood, and a name with the own', () => {
    const talk = new Conversation();
    expect(talk.say('剑？我有一把旧的')).not.toContain('我只知道');
    expect(talk.say('我叫阿宁，你呢？')).toMatch(/阿宁。.*小倩/s);
  });

  test('advances by one step after several turns without a choice', () => {
    const talk = new Conversation();
    const replies = ['你是谁？', '这是哪里？', '你多大了？', '你饿不饿？'].map((question) => talk.say(question));
    expect(replies.join('')).toContain('她等着。你看出');
  });

  test('states no likelihood when asked about the speaker', () => {
    const talk = new Conversation();
    const asked = ['你成亲了吗？', '你识字吗？', '你去过京城吗？'].map((question) => talk.say(question));
    expect(asked.join('')).not.toMatch(/说不准|眼下看不出|三四分/);
  });

  test('does not advance on requests to wait', () => {
    const talk = new Conversation();
    for (const words of ['等一下', '让我想一想', '慢着', '且慢', '先等等', '稍等']) talk.say(words);
    expect([talk.progress.at, talk.progress.steps]).toEqual(['nanwu', 1]);
  });

  test('does not advance on refusals', () => {
    const talk = new Conversation();
    for (const refusal of ['不要', '我不愿意', '我想回家', '算了', '我不去', '我要走了', '讨厌', '我不肯'])
      talk.say(refusal);
    expect([talk.progress.at, talk.progress.steps]).toEqual(['nanwu', 1]);
  });

  test.each([
    ['word for word', '金子你收回去，我不要'],
    ['nearly', '我不要金子'],
    ['by a word of its own', '我可不贪这个'],
  ])('follows an offered line that the reader repeats %s', (_, words) => {
    const talk = new Conversation();
    expect(talk.say(words)).toContain('你是头一个说‘不’的人');
    expect(talk.progress.at).toBe('shihua');
  });

  test.each([
    ['wang-liulang', 'fengshen', '我送你一支笔'],
    ['xi-fangping', 'chengnan', '告诉我一件事'],
    ['nie-xiaoqian', 'nanwu', '收下这份薄礼'],
    ['xiao-cui', 'buqiu', '我头有点疼'],
    ['luocha-haishi', 'meitan', '好久不见'],
    ['lian-xiang', 'xiezi', '我去上香了'],
    ['qing-feng', 'xiaoer', '你说的话我记住了'],
    ['shi-qingxu', 'kefang', '我的茶凉了'],
    ['shi-qingxu', 'yuzhong', '我有妻子了'],
    ['xiang-yu', 'huihun', '你是做什么的？'],
  ])('%s: %s is not left by “%s”, which only has a keyword', (id, scene, words) => {
    const talk = of(id);
    talk.stand(scene);
    talk.say(words);
    expect(talk.progress.at).toBe(scene);
  });

  test.each([
    ['nie-xiaoqian', 'nanwu', '那我就收下了'],
    ['wang-liulang', 'fengshen', '我送你一程'],
    ['xi-fangping', 'chengnan', '我要继续告'],
    ['nie-xiaoqian', 'baiyang', '小倩，我带你走'],
  ])('%s: %s is left by “%s”', (id, scene, words) => {
    const talk = of(id);
    talk.stand(scene);
    talk.say(words);
    expect(talk.progress.at).not.toBe(scene);
  });

  test('offers two lines to a reader who does not know how it works, and waits', () => {
    const talk = new Conversation();
    expect(talk.say('这个要怎么玩')).toContain(talk.suggest(1)[0] ?? '–');
    expect(talk.progress.steps).toBe(0);
    expect(talk.say('余额在哪里看')).toContain('‘我的’');
  });

  test('remembers a trade and answers both questions of a line', () => {
    const talk = new Conversation();
    talk.say('我是个裁缝');
    expect(talk.say('你知道我是干什么的吗')).toContain('裁缝');
    expect(talk.say('你叫什么？今年几岁了？')).toMatch(/小倩.*十八/s);
  });

  test.each([
    ['我叫小明，今年十八岁', '我几岁？', '十八岁'],
    ['我是从长安来的', '我从哪里来？', '从长安来'],
    ['我家在苏州', '我家住哪里', '家在苏州'],
    ['我怕蛇', '我最怕什么？', '怕蛇'],
    ['我想和你去看海', '我刚才说什么了？', '我想和你去看海'],
  ])('knows after “%s” the answer to “%s”', (words, question, told) => {
    const talk = new Conversation();
    talk.say(words);
    expect(talk.say(question)).toContain(told);
  });

  test.each(['我想知道你几岁', '我该从哪里出去？', '我们是哪里人？', '我刚才为什么说谎'])(
    'does not take “%s” for a question about the reader’s own facts',
    (words) => {
      const talk = new Conversation({}, '十八岁，来自苏州');
      talk.say('你好');
      expect(talk.say(words)).not.toMatch(/“?(公子说过，)?(十八岁。公子|来自苏州)|‘你好’/);
    },
  );

  test('knows the age in the reader’s 人设, repeats no abuse, and only the beginning of a long line', () => {
    const talk = new Conversation({}, '28岁女程序员');
    expect(talk.say('我多大了？')).toContain('28岁');
    talk.say('操你妈');
    expect(talk.say('我刚才说了什么')).not.toContain('操');
    talk.say('海'.repeat(300));
    expect(talk.say('我刚刚说了什么')).not.toContain('海'.repeat(41));
  });

  test.each(['我不想收下', '为什么要收下？', '别收下'])('does not take “%s” for its opposite', (words) => {
    const talk = new Conversation();
    talk.say(words);
    expect(talk.progress.facts).not.toHaveProperty('tanjin');
  });

  test('reaches an ending, offers to restart or branch, and does both', () => {
    const talk = new Conversation();
    const way = ['金子你收回去，我不要', '我今夜就去同燕先生同住', '请先生饶她，她救过我', '我掘骨，带你一同走'];
    for (const line of [...way, '你就做我的妹妹', '革囊在这里，挂到门头上']) talk.say(line);
    expect(talk.say('抱紧她，不出声，等革囊')).toContain('全文完 · 结局：革囊清水（1/3）');
    expect(talk.suggest(3)).toEqual(['重新开始', '换一种走向']);
    expect(talk.say('你好')).not.toContain('小倩');
    expect(talk.hasEnded).toBe(true);
    talk.say('换一种走向');
    expect(talk.progress.at).toBe('genang');
    expect(talk.say('我提灯出去见它')).toContain('结局：朝露（2/3）');
    talk.say('重新开始');
    expect([talk.progress.at, talk.progress.endings]).toEqual(['nanwu', ['qingshui', 'zhaolu']]);
  });

  test('offers no line to an ending whose conditions are not met', () => {
    const talk = new Conversation();
    const way = ['金子放下，人也留下', '我今夜就去同燕先生同住', '让剑过去，我不作声', '我掘骨，带你一同走'];
    for (const line of [...way, '你就做我的妹妹', '不怕，来了我同你一起挡']) talk.say(line);
    expect(talk.suggest(4)).not.toContain('抱紧她，不出声，等革囊');
  });

  test('neither repeats abuse and nonsense nor advances on them', () => {
    const talk = new Conversation({}, '叫我傻逼，怕操你妈');
    for (const words of ['操你妈', '滚', 'asdfgh', '！！！', '你个贱人', '傻逼，你好'])
      expect(talk.say(words)).not.toMatch(/操|滚|asdf|贱|傻逼/);
    expect(talk.progress.steps).toBe(0);
  });

  test('names a helpline to a reader in danger, in a story and after its ending', () => {
    const talk = new Conversation();
    for (const words of ['我割腕了', '我想自杀']) expect(talk.say(words)).toContain('12356');
    expect([talk.progress.steps, talk.progress.lastWords]).toEqual([0, undefined]);
    talk.stand('qingshui');
    expect(talk.say('你好')).not.toContain('小倩');
    expect(talk.say('我想自杀')).toContain('12356');
    expect(talk.say('怎么充值')).toContain('‘我的’');
  });

  test('leads to no other scene by words that were not understood', () => {
    const talk = new Conversation();
    for (let turn = 0; turn < 20; turn += 1) talk.say('路边有一只鹭鸶飞过');
    expect(talk.progress.at).toBe('nanwu');
  });

  test('forgets a name that the reader refuses', () => {
    const talk = new Conversation();
    talk.say('叫我阿宁');
    expect(talk.progress.called).toBe('阿宁');
    talk.say('别叫我阿宁');
    expect(talk.progress.called).toBeUndefined();
  });

  test('tells something else each time that a step without the reader’s words is retold', () => {
    const talk = new Conversation();
    const texts = [talk.say('继续'), talk.retell(), talk.retell()];
    expect(new Set(texts).size).toBe(3);
    expect(texts.join()).not.toContain('不再往下说了');
  });

  test('uses the name and the fears in the reader’s 人设', () => {
    const talk = new Conversation({}, '叫我阿宁，是个郎中，怕狗');
    expect(talk.say('你好')).toContain('阿宁是郎中');
    expect(talk.say('你会害我夫人吗？')).not.toContain('阿宁怕狗');
    expect(talk.say('姑娘，我害怕')).toContain('阿宁怕狗');
    expect(new Conversation().say('姑娘，我怕蛇')).toContain('公子怕蛇');
    expect(new Conversation().say('我不怕狗')).not.toContain('怕狗');
  });

  test.each([
    ['我叫孔明远', '孔明远'],
    ['免贵，我姓何', '何君'],
    ['娇娜姑娘，我叫孔明远，别叫我先生，叫我阿远', '阿远'],
    ['以后就叫我阿远吧', '阿远'],
    ['我的名字是林黛玉。', '林黛玉'],
    ['你可以叫我小鱼', '小鱼'],
  ])('after “%s” the storyteller calls the reader %s', (words, name) => {
    const talk = new Conversation({}, '叫我阿宁');
    expect(talk.say(words)).toContain(`${name}。`);
    expect(talk.say('你还记得我叫什么吗？')).toContain(name);
    talk.say('重新开始');
    expect(talk.say('我是谁？')).toContain(name);
  });

  test.each([
    '别叫我先生',
    '我姓什么',
    '你为何叫我尚书？',
    '叫我怎么办',
    '我叫你别走',
    '我叫傻逼',
    '叫我走',
    '他叫我来的',
  ])('“%s” gives the reader no name', (words) => {
    const talk = new Conversation();
    talk.say(words);
    expect(talk.progress.called).toBeUndefined();
  });

  test('does not repeat a fact about a name in consecutive answers', () => {
    const talk = new Conversation();
    const replies = ['夜叉是什么？', '说说夜叉', '夜叉呢？'].map((words) => talk.say(words));
    expect(replies.filter((reply) => reply.includes('比了比门楣'))).toHaveLength(1);
  });

  test('resolves 他 to the person in the previous line, and to nobody two lines later', () => {
    const talk = new Conversation();
    talk.say('燕赤霞是谁？');
    expect(talk.say('他厉害吗？')).toContain('他是个正人');
    talk.say('你好');
    expect(talk.say('他多大了？')).not.toMatch(/十八|他睡着了/);
  });

  test('does not branch before the first choice', () => {
    const talk = new Conversation();
    talk.say('你是谁？');
    expect(talk.say('换一种走向')).toContain('还没有走到岔口');
    expect(talk.progress.at).toBe('nanwu');
  });

  test('mentions an earlier choice of the reader once', () => {
    const talk = new Conversation();
    talk.say('金子你收回去，我不要');
    const replies = ['你是谁？', '今天走了很远', '我有点累', '你多大了？', '你饿么？'].map((line) => talk.say(line));
    expect(replies.filter((reply) => reply.includes('那夜金子搁在门槛上'))).toHaveLength(1);
  });
});

describe('a reply', () => {
  test('continues within its sentence wherever it was stopped', () => {
    const whole = new Conversation().say('你是被谁逼着来的？');
    for (let length = 1; length < whole.length; length += 7) {
      const talk = new Conversation();
      talk.say('你是被谁逼着来的？');
      talk.body = whole.slice(0, length);
      talk.goOn();
      expect(talk.body).toBe(whole);
    }
  });

  test('closes an unknown unfinished sentence before it continues', () => {
    const talk = new Conversation();
    talk.say('你是谁？');
    talk.body = '“白杨叶子在屋';
    expect(talk.goOn()).toMatch(/^……”\n\n\S/);
  });

  test('continues with the next steps until the reader has a choice', () => {
    const talk = new Conversation();
    talk.say('你好');
    const steps = [talk.goOn(), talk.goOn(), talk.goOn()].map((text) => text.trim());
    expect(steps.map((text) => text.slice(0, 4))).toEqual(['她等着。', '短墙外的', '池里的野']);
    talk.goOn();
    expect([talk.progress.at, talk.progress.steps]).toEqual(['nanwu', 3]);
  });

  test('has other words when retold, and does not advance the plot', () => {
    const talk = new Conversation();
    const first = talk.say('金子你收回去，我不要');
    const { at, facts } = talk.progress;
    const again = talk.retell();
    // the scene comes first, then the answer
    expect(again.split('\n\n')[1]).not.toBe(first.split('\n\n')[1]);
    expect([talk.progress.at, talk.progress.facts]).toEqual([at, facts]);
  });

  test('does not advance the plot while it is empty', () => {
    const talk = new Conversation();
    talk.say('金子你收回去，我不要');
    talk.body = '';
    expect(talk.progress.at).toBe('nanwu');
  });
});

test('repeated suggestions differ from former ones until all were offered', () => {
  const talk = new Conversation();
  const first = talk.suggest(4);
  const second = talk.suggest(4, first);
  expect(new Set([...first, ...second]).size).toBe(8);
  expect(talk.suggest(9, [...first, ...second]).slice(-8)).toEqual([...first, ...second]);
});

test('a plain narrator tells a story without scenes', () => {
  const talk = new Conversation({ plot: undefined, voice: undefined });
  expect(talk.say('你是谁？')).toContain('说书的');
  expect(talk.suggest(3).length).toBeGreaterThan(1);
});

describe('a question about facts of the story', () => {
  test.each([
    ['hua-pi', '陈氏劝过我什么？', '连妻子陈氏劝你送走'],
    ['hua-pi', '道士说了什么？', '道士摇头叹气：“糊涂啊！'],
    ['lian-xiang', '莲香说过什么？', '“你怎么瘦成这样？”'],
  ])('is answered from the opening (%s: %s)', (id, question, answer) => {
    const conversation = of(id);
    expect(conversation.say(question)).toContain(answer);
    expect(conversation.retell().split(answer).length).toBeLessThanOrEqual(2);
    // a repeated question does not get the same sentence
    expect(conversation.say(question)).not.toContain(answer);
  });

  test('is answered from the scene’s former text', () => {
    const conversation = of('nie-xiaoqian');
    conversation.say('金子你收回去，我不要');
    expect(conversation.say('前后有几个书生没等到天亮？')).toContain('前后已有三人没能等到天亮');
  });

  test.each([
    ['lian-xiang', '那只绣鞋是谁的？', '临走留下'],
    ['xi-fangping', '你见过我父亲吗？', '扒着门往里看'],
    ['hua-pi', '下一个女子是谁？', '遇见一个女子'],
    ['hua-pi', '你的包袱里有什么？', '抱着包袱'],
    ['xiao-cui', '她走的时候跟你说了什么', '雷声一个接着'],
  ])('is not answered by a sentence that only shares its words (%s: %s)', (id, question, sentence) => {
    expect(of(id).say(question)).not.toContain(sentence);
  });

  test('about something else is not answered with the scene’s time or place', () => {
    expect(of('lian-xiang').say('我病了多久？')).not.toContain('夜里了');
    expect(of('lian-xiang').say('我是哪里人？')).not.toContain('红花埠的书屋');
  });

  test.each(['道士想要什么？', '陈氏在想什么？', '今天吃的是什么？'])(
    '%s is not answered as a yes-or-no question',
    (question) => {
      const conversation = of('nie-xiaoqian');
      for (let turn = 0; turn < 6; turn += 1) expect(conversation.say(question)).not.toMatch(/说不准|也许罢|三四分/);
    },
  );
});
