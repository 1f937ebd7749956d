import { CONSENT_VERSION } from '@liaozhai/shared/runtime';

export type LegalKind = 'terms' | 'privacy';

export interface LegalDocument {
  title: string;
  /** Day from which the document is in force, `2026-11-22`. */
  since: string;
  lead: string;
  sections: { heading: string; paragraphs: string[] }[];
}

/** Operator of the site, from its configuration. */
export interface Operator {
  /** Name of the site. */
  brand: string;
  operator?: string | undefined;
  email?: string | undefined;
  wechat?: string | undefined;
}

const named = ({ operator }: Operator) => operator ?? '本站的运营者';

function contact(site: Operator): string {
  const ways = [site.email && `邮箱 ${site.email}`, site.wechat && `微信 ${site.wechat}`].filter(Boolean);
  return ways.length > 0
    ? `有疑问、要投诉，或想行使上面的权利，请联系${named(site)}：${ways.join('，')}。`
    : `本站还没有公布联系方式。有疑问可以先看「我的 › 客服中心」，那里会写明怎样找到${named(site)}。`;
}

export function legalDocument(kind: LegalKind, site: Operator, offersMinorMode: boolean): LegalDocument {
  return kind === 'terms' ? terms(site, offersMinorMode) : privacy(site);
}

const terms = (site: Operator, offersMinorMode: boolean): LegalDocument => ({
  title: '用户协议',
  since: CONSENT_VERSION,
  lead: `这是你和${named(site)}之间的约定。注册即表示你读过并同意它；不同意，就请不要注册——故事不用注册也能看。`,
  sections: [
    {
      heading: `${site.brand}是什么`,
      paragraphs: [
        `${site.brand}让你读故事，并和故事里的人说话。看故事不收费，也不用登录；发消息、签到、充值需要一个账号。`,
      ],
    },
    {
      heading: '你的账号',
      paragraphs: [
        '用户名和密码由你保管。注册时替你生成的密码只有 6 位数字，请截图保存，并尽快换成更长的。',
        '账号只供你自己用，不要出借、转让或买卖。发现有人用了你的账号，请马上修改密码，其他设备上的登录会随之失效。',
      ],
    },
    {
      heading: '回复由 AI 生成',
      paragraphs: [
        '故事里的人说的话、「灵感」和「继续」写出的内容都由 AI 生成，每条回复都标着「AI 生成」。它们是虚构，可能出错、前后不一，也不代表我们的看法。',
        '不要把它们当作医疗、法律、投资或其他现实中的建议。',
      ],
    },
    {
      heading: '点数',
      paragraphs: [
        '发消息、「灵感」和「继续」会用掉点数，价格在你按下之前写明。没有生成完的回复，点数自动退还。每一笔都记在「我的 › 消费明细」。',
        `点数只能在${site.brand}里用，不能提现，也不能转给别人。签到、邀请好友送的点数以页面写明的为准；用批量注册之类的办法刷来的，我们会收回。`,
      ],
    },
    {
      heading: '你写的内容',
      paragraphs: [
        '你写的消息、昵称和人设归你所有。你允许我们为了提供这项服务保存和处理它们：存进你的对话，并交给 AI 写出回复。除此之外我们不会拿去用。',
        '请不要写违法的内容，不要冒充或伤害他人，不要泄露别人的隐私，也不要攻击或批量抓取本站。这样做的账号，我们可能限制或停用。',
      ],
    },
    {
      heading: '未成年人',
      paragraphs: [
        `未满 18 岁，请和监护人一起读过本协议，得到同意后再注册；未满 14 岁，请由监护人替你注册。${
          offersMinorMode ? '监护人可以在「我的」里打开未成年人模式，限定使用的时段和时长，并停用充值。' : ''
        }`,
      ],
    },
    {
      heading: '服务的变动与责任',
      paragraphs: [
        '我们会尽力让服务一直能用，但难免有维护和故障。因我们的差错少算或多扣的点数，会照明细补上。',
        '法律规定由我们承担的责任，我们照样承担，本协议不会减免它。',
      ],
    },
    {
      heading: '协议的修改',
      paragraphs: [
        '修改后的协议会在这里公布并换上新的日期。改动减少了你的权利时，会在生效前提醒你；不同意可以停用并注销账号。',
      ],
    },
    { heading: '联系我们', paragraphs: [contact(site)] },
  ],
});

const privacy = (site: Operator): LegalDocument => ({
  title: '隐私政策',
  since: CONSENT_VERSION,
  lead: `${named(site)}在这里逐项写明：存了你的什么、存在哪里、给谁看、存多久。没有写到的，我们不收集；这里没有广告，也没有别家的统计代码。`,
  sections: [
    {
      heading: '存在服务器上的',
      paragraphs: [
        '账号：用户名、绑定的邮箱（用邮箱注册时用户名就是它）、昵称、性别、头像、人设，密码只存不可还原的哈希；注册的时间，你同意的协议版本和时间。不要求实名，也不要手机号。',
        '使用：你的对话和「灵感」、点数明细、签到记录、邀请码以及是谁邀请了你；未成年人模式打开时，它当天用了多久。',
        '登录：每台设备的登录凭证（只存哈希）、浏览器型号、登录和最近使用的时间。',
        '用到才有的：充值的订单（不含银行卡和支付密码），你举报的回复，你写给客服的话和附上的诊断信息。',
        '运行记录：每次请求的时间、地址、结果、耗时和用户编号，用来查故障，不含你写的内容。为挡住猜密码的人，网络地址会在内存里短暂计数。页面打不开时，会报告是哪个版本、哪种故障；页面打开、响应和加载用了多久，程序有没有出错，也会报告，只按版本合计，不记是谁、看的是什么。',
      ],
    },
    {
      heading: '存在这台设备上的',
      paragraphs: [
        '你的用户名、昵称、头像、余额、邀请码和人设，以便打开就能看见；上次登录的用户名；主题和字号；没写完的草稿和没发出的消息；读到的位置；最近聊过哪些故事；最近看过的故事和对话的副本，供断网时看；程序本身的文件，和运行过它的哪些版本。',
        '退出登录时，属于你的都会从这台设备清除，主题和字号留下。清除浏览器数据，则全部清除。',
      ],
    },
    {
      heading: 'Cookie',
      paragraphs: [
        '登录凭证（30 天）；防止别的网站冒用你的登录的令牌；记得这个浏览器登录过，好让别人猜错密码时不会连累你（1 年）；一个随机编号，让同一个浏览器一直用同一个版本（1 年）。它们只给本站用，不用来跟踪你。',
      ],
    },
    {
      heading: '交给 AI 的',
      paragraphs: [
        '写回复时，AI 会读到：这个故事、你的昵称和人设、这段对话里最近的消息。用户名、密码、余额和别的对话不会给它。',
        '本站可能用自己的程序，也可能用别家的模型服务；用后者时，这些内容会发到那家服务去。所以请不要在消息和人设里写身份证号、地址之类的信息。',
      ],
    },
    {
      heading: '给别人看的',
      paragraphs: [
        '别的读者看不到你的对话。打开你的邀请链接的人会看到你的昵称和头像，你会看到应邀注册的好友的昵称。除此之外，只有法律要求时，我们才会向有权机关提供。我们不卖任何人的信息。',
      ],
    },
    {
      heading: '存多久',
      paragraphs: [
        '对话存到你删除为止：在「聊过」删除后 6 秒内可以撤销，过后从服务器删除。「灵感」十分钟后失效，登录凭证 30 天后失效。账号和点数明细存到你注销为止。备份会晚一些更新。',
      ],
    },
    {
      heading: '你可以做的',
      paragraphs: [
        '在「个人资料」查看和修改昵称、性别、头像、人设和密码；在「聊过」删除对话；在「我的」退出登录。想注销账号或要一份你的数据，请看「客服中心」里的办法。',
      ],
    },
    {
      heading: '未成年人',
      paragraphs: ['未满 14 岁的孩子，请由监护人替他注册并决定写些什么。监护人可以要求查看、更正或删除孩子的信息。'],
    },
    { heading: '政策的修改', paragraphs: ['修改后会在这里公布并换上新的日期。存的东西变多时，会在生效前提醒你。'] },
    { heading: '联系我们', paragraphs: [contact(site)] },
  ],
});
