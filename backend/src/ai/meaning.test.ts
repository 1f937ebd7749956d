import { expect, test } from '@rstest/core';
import { narrator } from '../content/content.ts';
import { interpret, personaOf } from './meaning.ts';

const meantBy = (words: string) => {
  const meant = interpret(words, { plot: narrator.plot, speaker: '小倩', replies: [] });
  return meant?.kind === 'meaning' ? meant.meaning : meant?.kind;
};

test.each([
  ['你丈夫对你好吗？', undefined],
  ['那我就一个人过一辈子', undefined],
  ['我们以后会有孩子吗', undefined],
  ['我朋友睡在隔壁，他叫什么来着', undefined],
  ['你能见太阳吗？', undefined],
  ['我爱吃辣', undefined],
  ['你真的不喜欢我吗？', '心意'],
  ['你有喜欢的人吗', '心意'],
  ['你心里有我吗', '心意'],
  ['你哭了？', '神色'],
  ['你手怎么这么凉', '神色'],
  ['你怎么不说话', '神色'],
  ['给我唱首歌吧', '请求'],
  ['念一首诗给我听', '请求'],
  ['哈哈哈哈笑死我了', '说笑'],
  ['我能摸一下吗', '能不能'],
  ['救命啊！', '求救'],
  ['我会陪着你', '安慰'],
  ['你有名字吗', '你叫什么'],
  ['谁来救救我', '求救'],
  ['谢谢你救我', '谢谢'],
  ['我想带你走，离开这里', '帮忙'],
  ['我送你回家，你带路', '帮忙'],
  ['我会保护你的', '帮忙'],
  ['我想回家', '回家'],
  ['你好', '问候'],
  ['在吗', '问候'],
  ['早啊', '问候'],
  ['我的心还在吗', undefined],
  ['天色已晚', undefined],
  ['屋里有人在哭', undefined],
  ['你会害我夫人吗？', '加害'],
  ['你是不是要吃了我', '加害'],
  ['别杀我', '害怕'],
  ['你好呀，小倩', '问候'],
  ['我叫什么？', '我是谁'],
  ['你还记得我叫什么吗', '我是谁'],
  ['我不喜欢你，你走吧', '不'],
  ['我想和你一辈子在一起', '喜欢'],
  ['我今天心情不好', '诉苦'],
  ['累死我了', '诉苦'],
  ['我失恋了', '诉苦'],
  ['我不累', undefined],
  ['他病了', undefined],
  ['你累了吗', '神色'],
  ['这主意不好', '不'],
  ['别走', '挽留'],
  ['陪我说说话', '挽留'],
  ['我不想走', '不'],
  ['我先去睡了', '告别'],
  ['你快去睡', undefined],
  ['你能帮我换个脸吗', '请求'],
  ['能不能帮我个忙', '请求'],
  ['谢谢你帮我换了心', '谢谢'],
  ['快帮帮我', '求救'],
  ['我不答应', '不'],
  ['你错了', '反驳'],
  ['这不可能', '反驳'],
  ['不对劲', undefined],
  ['我要杀了你', '威胁'],
  ['我要收你做徒弟', undefined],
  ['小心，有人来了', '警觉'],
  ['这个送给你', '赠物'],
  ['送你回去', '帮忙'],
  ['*握住她的手*', '亲近'],
  ['别拉我的手', undefined],
  ['你有什么心愿', '心愿'],
  ['让我想一想', '稍等'],
  ['等等我', '挽留'],
  ['你会下棋吗', '本事'],
  ['我会下棋', undefined],
  ['再说一遍', '没听清'],
  ['我没看见老虎', undefined],
  ['你冷不冷', '神色'],
  ['我不会离开你的', '安慰'],
  ['我发誓', '信任'],
  ['给你讲个故事', undefined],
  ['你是从哪里来的？', '你是谁'],
  ['夜深了，姑娘从何处来？', '你是谁'],
  ['你到底打哪儿来', '你是谁'],
  ['敢问姑娘是何方人氏', '你是谁'],
  ['你是哪儿的人？', '你是谁'],
  ['从哪里来的？', '你是谁'],
  ['你来自何方', '你是谁'],
  ['这银子从哪里来的？', undefined],
  ['哪里来的力气', undefined],
  ['你从哪里学的剑', undefined],
  ['*沉默*', 'goOn'],
])('“%s” means %s', (words, meaning) => {
  expect(meantBy(words)).toBe(meaning);
});

const strangers = {
  ...narrator.plot,
  byWords: [{ words: ['道士'], answers: ['他是个道士。'] }],
  byMeaning: { 年纪: ['*她想了想。* “十八。”'] },
};

test.each([
  ['他厉害吗？', 'words', undefined],
  ['那他多大了', 'words', undefined],
  ['你觉得他是好人吗', 'words', undefined],
  ['她会骗我吗', 'words', '真假'],
  ['他喜欢吃什么', 'words', undefined],
  ['他走了', 'words', undefined],
  ['他会来救我吗', 'words', '求救'],
  ['他们要杀我', 'words', '害怕'],
  ['她真好看', 'words', '夸奖'],
  ['我爱她', '喜欢', '喜欢'],
  ['你多大了', '年纪', '年纪'],
  ['他妈的', '骂人', '骂人'],
])('“%s” means %s after a word about the Taoist, %s after none', (words, after, otherwise) => {
  const meant = (lastSubjectIndex?: number) => {
    const found = interpret(words, { plot: strangers, speaker: '小倩', replies: [], lastSubjectIndex });
    return found?.kind === 'meaning' ? found.meaning : found?.kind;
  };
  expect([meant(0), meant()]).toEqual([after, otherwise]);
});

test.each([
  ['叫我阿宁，是个郎中，怕狗', { address: '阿宁', fear: '狗', trade: '郎中' }],
  ['叫我阿宁、程序员、怕猫怕狗', { address: '阿宁', fear: '猫', trade: '程序员' }],
  ['别叫我公子', {}],
  ['不要叫我姑娘，叫我阿远', { address: '阿远' }],
  ['昵称：小鱼；职业：医生', { address: '小鱼', trade: '医生' }],
  ['称我为先生', { address: '先生' }],
  ['请称呼我为陆大人，不当官差了', { address: '陆大人' }],
  ['叫我Michael就好', { address: 'Michael' }],
  ['我叫林黛', { address: '林黛' }],
  ['我不是书生，我是剑客', { trade: '剑客' }],
  ['我不是道士', {}],
  ['我想当画师', {}],
  ['我爹是道士，我娘怕蛇', {}],
  ['不怕鬼，只怕老鼠', { fear: '老鼠' }],
  ['怕道士', { fear: '道士' }],
  ['28岁女程序员，怕老婆', { trade: '程序员', fear: '老婆' }],
  ['什么都不怕', {}],
])('of the traits “%s” a speaker takes up %o', (text, persona) => {
  expect(personaOf(text)).toEqual(persona);
});
