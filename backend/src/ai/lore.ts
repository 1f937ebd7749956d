import type { Lore } from '../content/plot.ts';
import { lettersOf } from './words.ts';

/*
 * A question about the facts of a story: whom or what it is about, and what it asks. Nearly every letter of the
 * question has to belong to one of the two, so that a keyword in another sentence is not answered.
 */

const wh = '(?:什么|啥|何|哪)';
const where = '(?:哪[里儿边]?|何[处方地]|什么地方)';
const kin = (words: string): RegExp =>
  new RegExp(`(?:${words})+(?:[可都还]*(?:活着|健在|在世|在不在|叫${wh}(?:名字)?|是${wh}人|是做${wh}的|怎么样))?`);
// the longest first, since 狐 alone leaves the rest of 狐狸
const kinds = '活人|死人|人|鬼|妖精|妖怪?|狐狸精?|狐|神仙|神|仙女|仙|花妖|花神|花|鱼|鸟|乌鸦|怪物|石头';

/** The words that ask for something, by its label in `## Lore`. Other labels are words of the question themselves. */
const aspects: Record<string, RegExp> = {
  名字: /[叫姓名](?:做|作|甚)?(?:什么|啥|何|谁)(?:名字?|名|姓)?|(?:什么|啥)名字?|大名|名字|芳名|[贵尊]姓|(?:怎么|如何|怎样)称呼|姓甚名谁/,
  年纪: /(?:多大|几岁|多少岁|岁数|年纪|年龄|芳龄|贵庚)(?:年纪|岁数|了)?/,
  何人: /(?:是|算)?(?:谁|什么人|何人|哪位|什么来[历头]|(?:什么|怎么|怎)样的?人|怎么样)|来历|来头|底细|人品/,
  何物: /是(?:什么|啥|何物)(?:东西)?|做什么用的?|有什么用|什么来历|来历/,
  住处: new RegExp(`(?:家住|家|住|府上)(?:的地方)?(?:住?在|是)?${where}|${where}[住安]身?|住处|住址|府上`),
  来处: new RegExp(
    `哪[里儿国]的?人|何方人[氏士]?|[从打由自]?${where}[而过]?来|来自${where}|(?:老家|家乡|故乡|籍贯)(?:在?${where})?`,
  ),
  在哪: new RegExp(`在${where}|去了?${where}|${where}去|下落|人呢|呢$`),
  家人: /家[里中]?(?:都|还)?(?:有|剩)?(?:些)?(?:什么人|谁|哪些人|几口人?|几个人)|家[里中](?:都|还)?有?人|家人|亲人|家眷|亲戚/,
  父母: kin('父母|爹娘|双亲|爸妈|父亲|爹爹?|爸爸?|令尊|母亲|娘亲?|妈妈?|令堂'),
  手足: kin('兄弟姐妹|兄弟姊妹|兄弟|姐妹|姊妹|哥哥?|弟弟?|姐姐?|妹妹?|手足'),
  婚姻: /[成结]过?[亲婚](?:没有?)?|婚配|许配|许了?人家|[嫁娶]过?了?[人亲妻]|丈夫|夫君|相公|妻子|老婆|老公|家室|意中人|心上人/,
  子女: kin('(?:生过?)?孩子|子女|儿女|儿子|女儿|后人'),
  主人: /家?(?:主人|主子|东家)|(?:听|是)谁的人?|[替为给]谁(?:做事|办事|卖命|干活|当差)|谁(?:派|差|打发|指使|逼|叫|让|管)你?(?:来|的|做)?/,
  来意: /(?:为(?:什么|何|啥)|怎么|干嘛|干吗)[会要肯]?[到来]+(?:这里|这儿|此处?|此地|我家|我这里)?(?:找我|见我)?|来(?:这里|这儿|此处?|此地|我家)?(?:找我|见我)?[做干](?:什么|啥|何事)|来[做干](?:嘛|吗)|来意|有何贵干|找我(?:[做干](?:什么|啥)|何事|有什么事|有事)/,
  待我: /(?:为(?:什么|何|啥)|怎么|干嘛)[要肯会]?(?:帮助?|救|对|待|信任?|选|喜欢|看上|找|爱)[中上]?我(?:这么好|这样好|好)?|(?:图|看[中上])我的?(?:是)?(?:什么|啥|哪一?[点样])/,
  衣裳: /穿(?:的|着)?(?:是)?(?:什么|啥)?(?:样的?|颜色的?)?(?:衣[服裳]|裙子?|袍子?)?(?:是)?(?:什么颜色)?|(?:衣[服裳]|裙子?|袍子?|衣衫)(?:是)?(?:什么颜色|什么样)?/,
  样貌: /长得?(?:什么|啥|怎么)样子?|(?:什么|怎么)(?:模样|样子|长相)|模样|相貌|长相|容貌/,
  手里: /(?:手[里中上]|怀[里中]|身上)(?:拿|捧|提|握|抱|带|揣|藏)?[着的了]?(?:东西|[那这]个)?(?:是|有)?(?:什么|啥|何物)(?:东西)?|[拿捧提抱带握揣][着的了](?:东西)?是?(?:什么|啥|何物)(?:东西)?/,
  人鬼: new RegExp(
    `[是算](?:不是)?(?:${kinds})(?:(?:还是|是)(?:${kinds}))?(?:变的?)?|是什么(?:妖怪?|怪物|变的|精|东西)`,
  ),
  生死: /死了|活着|[是算][人鬼](?:还?是[人鬼])?/,
  死因: /(?:怎么|如何|怎样|为(?:什么|何))会?死[的掉]?|死因|死了?(?:多久|多少年|几年)|(?:什么时候|哪年|几时|何时)死/,
  怕: /(?:最|都|就|会)?害?怕(?:的是|的)?(?:什么|啥|谁|何物)(?:东西)?|害?怕不怕[^我你他她它]{0,3}$|害?怕[^我你他她它]{0,3}[吗么]$/,
  口味: /(?:喜欢|爱|想|要|能|平时)*[吃喝](?:点|些)?(?:什么|啥)(?:东西)?/,
  喜好: /(?:喜欢|爱)(?:[做干玩看])?(?:些)?(?:什么|啥)(?:东西|花|书|颜色|事)?|爱好/,
  营生: /是?[做干](?:什么|啥|哪行)的?(?:营生|生意|事情?|工作)?|营生|靠什么(?:过活|过日子|活|吃饭|生活|为生)|以何为生|职业|当什么差/,
  本事: /会(?:些|点)?(?:法术|武功|功夫|仙术|本事)|会(?:些|点|做)?(?:什么|啥)(?:本事|法术|功夫)?|有?什么(?:本事|本领|能耐|法术|神通|功夫)/,
  心愿: /想要?(?:的是)?(?:什么|啥)|[最]?想[做要](?:的事)?(?:是)?(?:什么|啥)|(?:心愿|愿望)(?:是)?(?:什么|啥)?|[盼求图]的?是?(?:什么|啥)/,
  等: /[等候盼](?:的是|着|的)?(?:谁|什么人?|哪个|何人|人)/,
  相识: new RegExp(
    `(?:[你我][跟和同与]?)*是?(?:怎么|如何|在?${where}|什么时候|几时|头一回)(?:相?[识遇见认碰]+[上到面的了过]*)+[你我]?|(?:第一|头一)[次回](?:见面?|相[遇见识]|碰面)|认识(?:[你我])?(?:多久|几年|多长时间)|(?:[以从之]前|先前|曾经?)(?:[见认]过面?|认识)`,
  ),
  在场: /[就只]有?[你我]们?(?:两个|俩|一个人|一人|自己)在?|(?:还|都|除了.{1,4})?有(?:谁|哪些人|什么人|别人|旁人|几个人|多少人)在?|谁在(?:这里|场|外面|里面|旁边)/,
  天气: /天气|天色|下[雨雪]|刮风|雨停|[有]?月亮|(?:外面|外头|这里|这儿|天)(?:冷|热|黑|亮|晴|阴)(?:不[冷热黑亮晴])?/,
};

/** What changes from scene to scene: such a fact holds in its own scene only. */
export const isPassing = (aspect: string): boolean => ['手里', '等', '在场', '天气'].includes(aspect);

/** Words of a question that tell nothing about its topic. */
const fillers =
  /(?:还|可)?记不?得|这么?晚|平[时日]|[大深]?半夜|屋[里子]|到底|究竟|现在|如今|眼下|此刻|今[年天晚夜]|原[来本]|本来|其实|那么|是不是|有没有|能不能|可不可以|告诉|知道|晓得|请问|敢问|说说|可?曾|外[面头]|怎么样?|怎样|如何|什么|颜色|样子|多少|多久|东西|时候|哪[里儿边个位些]?|[件条把张座间种样身支枝]|[我你您他她它们咱这那的地得了过着是有没不在还又也都就可能会要呢吗么嘛啊呀吧罢哦哎喂啦嘞个位些里儿边上和跟同与最很真太先再才只谁啥何几]/gu;

const leadIn =
  /^(?:请问|敢问|那么?|对了|可|但|话说|喂|哎|我想[问知道]+|[你您]?能?告诉我|[你您](?:知道|晓得|说说?)|可?知)+/;
const addressed =
  /^(?:姑娘|小姐|娘子|夫人|公子|先生|道长|师父|仙姑|姐姐|大哥|兄台|老人家|老丈|老伯|大叔|大爷|大人)(?=.)/;

/** The question with the speaker as 你. */
function normalize(clause: string, speakerNames: readonly string[]): string {
  const question = lettersOf(clause).replace(leadIn, '').replace(addressed, '你').replaceAll('您', '你');
  const name = speakerNames.find((one) => one.length > 1 && question.includes(one));
  // 你师父 is not the speaker, whom the reader calls 师父
  const own = name && new RegExp(`(^|[^你我他她的])${name}`);
  return (own ? question.replace(own, '$1你') : question).replace(/([你我])(?:们)?的(?=\p{Script=Han})/u, '$1');
}

const pronounsOf = (text: string): string[] => text.replace(/[我咱]们/g, '').match(/[我你他她它]/g) ?? [];

/** Whether the pronouns outside of the name and of what is asked fit the subject: 你, 我, nobody, or a name. */
function fits(subject: string, pronouns: string[], isNamed: boolean): boolean {
  if (subject === '你') return pronouns.every((one) => one === '你');
  if (subject === '我') return pronouns.length > 0 && pronouns.every((one) => one === '我');
  if (subject === '') return pronouns.length === 0;
  return isNamed ? pronouns.length === 0 : pronouns.length === 1 && /[他她它]/.test(pronouns[0] ?? '');
}

/** What any speaker says where the story has no fact of its own. */
export const commonLore: Lore[] = [
  { subjects: ['你'], aspects: ['手里'], isCommon: true, text: '没有什么要紧的东西。' },
  { subjects: ['我'], aspects: ['生死'], isCommon: true, text: '活着呢。{address}自己摸摸手，热的。' },
  { subjects: ['你'], aspects: ['等'], isCommon: true, text: '等{address}一句话。' },
  { subjects: [''], aspects: ['在场'], isCommon: true, text: '就眼前这些人，{address}都看得见。' },
  { subjects: [''], aspects: ['天气'], isCommon: true, text: '{hour}的天，同{address}看见的一样。' },
];

export interface LoreContext {
  lore: readonly Lore[];
  speakerNames: readonly string[];
  /** Names of the person that 他, 她 or 它 stands for. */
  lastNames: readonly string[];
  /** Ids of the scenes up to the current one. */
  sceneIds: readonly string[];
}

/** Finds the fact that a question asks for. Of several facts the last one counts: it belongs to the latest scene. */
export function findLore(clause: string, context: LoreContext): Lore | undefined {
  const { lore, speakerNames, lastNames, sceneIds } = context;
  const question = normalize(clause, speakerNames);
  return lore.findLast((fact) => {
    if (fact.from && !sceneIds.includes(fact.from)) return false;
    const holdsOn = fact.isCommon || (fact.from ?? sceneIds[0]) === sceneIds.at(-1);
    return fact.subjects.some((subject) => {
      const isNamed = subject.length > 0 && subject !== '你' && subject !== '我' && question.includes(subject);
      const isMeant = isNamed || subject === '' || subject === '你' || subject === '我' || lastNames.includes(subject);
      if (!isMeant) return false;
      const about = isNamed ? question.replace(subject, '') : question;
      return fact.aspects.some((aspect) => {
        const rest = about.replace(aspects[aspect] ?? aspect, '');
        // 为什么 belongs to words of the story, not to an aspect of any story
        const others = aspects[aspect] ? rest : rest.replace(/为什么|为何|为啥/, '');
        return (
          (holdsOn || !isPassing(aspect)) &&
          rest !== about &&
          fits(subject, pronounsOf(rest), isNamed) &&
          others.replace(fillers, '') === ''
        );
      });
    });
  });
}
