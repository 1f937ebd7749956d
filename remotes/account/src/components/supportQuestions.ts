import { formatNumber, formatPoints, type ProductRules } from '@liaozhai/shared/format';
import { PERSONA_CHARACTERS } from '../model';

/** `2 点`, or `2–3 点` if prices differ. */
function priceRange(prices: readonly number[]): string {
  const least = Math.min(...prices);
  const most = Math.max(...prices);
  return least === most ? formatPoints(least) : `${least}–${formatPoints(most)}`;
}

function priceAnswer({ messagePrices, continuePrice, suggestionPrice }: ProductRules): string {
  const parts = [
    messagePrices.length > 0 && `每发一条消息 ${priceRange(messagePrices)}，以故事页写明的为准`,
    continuePrice !== undefined && `让回复「继续」写下去 ${formatPoints(continuePrice)}`,
    suggestionPrice !== undefined && `取一次「灵感」${formatPoints(suggestionPrice)}`,
  ].filter((part) => part !== false);
  const prices =
    parts.length > 0 ? `${parts.join('；')}。` : '发消息、「继续」和「灵感」会用掉点数，价格在按下之前写明。';
  return `${prices}读故事、看从前的对话都不收费。`;
}

function checkInAnswer({ checkInRewards }: ProductRules): string {
  const once = '每天可签到一次，以北京时间零点为界。';
  const last = checkInRewards.at(-1);
  if (last === undefined || checkInRewards.includes(undefined)) return `${once}连续签到的天数显示在「我的」。`;
  if (checkInRewards.length === 1) return `${once}每次得 ${formatPoints(last)}。`;
  const days = checkInRewards.map((reward, index) => `第 ${index + 1} 天 ${reward}`).join('、');
  return `${once}连续签到的奖励逐日不同：${days} 点，之后每天 ${formatPoints(last)}。漏签一天，从第 1 天重新算起。`;
}

function inviteAnswer({ inviterReward, inviteeReward }: ProductRules): string {
  const how = '把「我的」里的邀请链接发给好友。';
  if (inviterReward === undefined || inviteeReward === undefined) return `${how}好友打开链接注册，就算接受了邀请。`;
  return `${how}好友打开链接注册后，你得 ${formatPoints(inviterReward)}，好友得 ${formatPoints(inviteeReward)}，都记在消费明细里。只有从链接注册的才算。`;
}

/** Answers by question, in groups. */
export const supportQuestions = (rules: ProductRules, canDelete = false) => ({
  点数: {
    '聊天怎么收费？': priceAnswer(rules),
    '回复失败了，点数会退还吗？':
      '会。没有生成完、出错或因删除对话而中断的回复，点数自动退还，只退一次，消费明细里记为「退还」。',
    '点数不够了怎么办？': `签到、邀请好友或充值都能得点数${rules.signUpGift ? `；新账号注册即有 ${formatPoints(rules.signUpGift)}` : ''}。点数不够时消息不会丢，留在对话里，有了点数，按它下面的「点按重试」就能发出。`,
    '消费明细和余额对不上？':
      '余额等于消费明细里每一笔相加。请刷新页面，或关掉应用重新打开，再看一遍；仍对不上，请把下面的诊断信息发给我们。',
  },
  签到与邀请: {
    '签到有什么奖励？': checkInAnswer(rules),
    '怎样邀请好友？': inviteAnswer(rules),
  },
  故事与对话: {
    '删除的对话能找回吗？':
      '在「聊过」删除后 6 秒内可以撤销；过后从服务器删除，不能找回。正在生成的回复会停下，点数退还。',
    '断网时写的消息会丢吗？': '不会。草稿和没发出的消息存在这台设备上，联网后接着发，同一条只发一次、只扣一次点数。',
    '人设是做什么的？': `在个人资料里写几句你是谁（最多 ${formatNumber(PERSONA_CHARACTERS)} 个字），故事里的人会照着认识你。随时可以改，从下一条消息起生效。`,
  },
  账号与安全: {
    '收不到确认邮件？':
      '用邮箱注册需要点开邮件里的链接确认。没收到时，先看垃圾邮件，再用同一邮箱登录，在弹出的窗口里重新发送。',
    '怎样修改密码？': '在「个人资料」底部修改，需要当前密码。修改后其他设备上的登录全部失效，这台设备不受影响。',
    '退出登录会清除什么？': '这台设备上属于你的一切：资料、草稿、没发出的消息、离线内容。账号里的对话和点数不受影响。',
    '怎样注销账号？': canDelete
      ? '在「我的」的「账号与安全」里。有 7 天可以反悔，在此期间登录并按「撤销」，一切照旧；过后对话、点数和用户名都不能找回。'
      : '应用里没有自助注销。请用下面的联系方式告诉我们用户编号，由客服办理；对话可以自己在「聊过」逐条删除。',
  },
});
