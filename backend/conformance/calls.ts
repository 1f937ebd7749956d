import { operations } from './openApiOperations.ts';

const serverWords = 'the page offers it and answers a tap with 服务器还没有这项功能';

/**
 * Every call of the product, the socket, and rules for every call. `required`: the product does not work without the
 * call. Otherwise what the page does if it is missing.
 */
export const calls = {
  'GET /v1/stories': 'required',
  'GET /v1/stories/{id}': 'required',
  'PUT /v1/stories/{id}/favorite': 'a story offers no 收藏: announced as stories.favorites',
  'GET /v1/favorites': '我的 has no 收藏',
  'POST /v1/messages': 'required',
  'GET /v1/messages/latest': 'required',
  'POST /v1/messages/suggestion': serverWords,
  'GET /v1/messages/suggestion/{id}': 'suggestions that are not ready in the first answer never come',
  'POST /v1/messages/continue': serverWords,
  'POST /v1/messages/{id}/cancel': 'the page offers no 停止: announced as messages.cancel',
  'POST /v1/messages/{id}/regenerate': 'the page offers no 换一种说法: announced as messages.regenerate',
  'POST /v1/messages/{id}/variant': 'a rewritten reply cannot show its former text again',
  'POST /v1/messages/{id}/edit': 'the page offers no 编辑: announced as messages.edit',
  'GET /v1/messages/search': 'a chat has no 查找, unless messages.search is announced',
  'GET /v1/messages/days': 'a chat has no 按日期',
  'POST /v1/messages/{id}/report': 'a reply has no 举报, unless messages.report is announced',
  'GET /v1/conversations': 'required',
  'GET /v1/conversations?q': '聊过 has no search, unless conversations.search is announced',
  'PUT /v1/conversations/{id}':
    '聊过 has no dots, no 置顶 and no runs, unless conversations.unread, .pin and .runs are announced',
  'DELETE /v1/conversations/{id}':
    'a deleted conversation comes back into the list, and the page says that it could not be deleted',
  'POST /v1/conversations/{id}/restart': 'the page offers no 重新开始: announced as conversations.restart',
  'GET /v1/user': 'required',
  'PUT /v1/user': 'saving the profile ends with 服务器还没有这项功能, what was typed stays',
  'PUT /v1/user/password': 'saving the password ends with 服务器还没有这项功能',
  'GET /v1/user/email': '账号与安全 shows no address',
  'PUT /v1/user/email': 'asking for an address ends with 服务器还没有这项功能',
  'POST /v1/user/email/resend': 'asking for the mail again ends with 服务器还没有这项功能',
  'GET /v1/user/sessions': '账号与安全 shows no devices',
  'DELETE /v1/user/sessions': 'logging out the other devices ends with 服务器还没有这项功能',
  'DELETE /v1/user/sessions/{id}': 'logging out a device ends with 服务器还没有这项功能',
  'POST /v1/user/deletion': 'asking for the account’s end ends with 服务器还没有这项功能',
  'DELETE /v1/user/deletion': 'taking it back ends with 服务器还没有这项功能',
  'GET /v1/user/minor': '我的 offers no 未成年人模式',
  'PUT /v1/user/minor': '我的 offers no 未成年人模式',
  'POST /v1/user/minor/use': '我的 offers no 未成年人模式',
  'POST /v1/user/minor/unlock': '我的 offers no 未成年人模式',
  'POST /v1/user/minor/reset': '我的 offers no 未成年人模式',
  'POST /v1/login': 'required',
  'POST /v1/register': 'required',
  'POST /v1/logout': 'required',
  'GET /v1/email/verify/{id}/{hash}': 'a confirmation link opens a page that says so; needed for e-mail accounts only',
  'POST /v1/email/verification-notification/resend': `${serverWords}; needed for e-mail accounts only`,
  'POST /v1/forgot-password': '忘记密码？ says where to turn to; no link is sent',
  'POST /v1/reset-password': 'a link for a new password opens a page that says so',
  'GET /v1/invites/{code}': 'an invite link registers as ever and does not say who invites',
  'POST /v1/invites/gifts/announced': 'points that came by an invitation are not announced; 消费明细 has them',
  'POST /v1/check-in': serverWords,
  'GET /v1/transactions': '消费明细 shows 服务器还没有这项功能 and a button to try again',
  'GET /v1/orders': '充值 has no orders: the link of paymentProvider, or 充值还没有开通',
  'POST /v1/orders': '充值 ends with 服务器还没有这项功能',
  'GET /v1/orders/{id}': 'a reader who has paid does not see that it arrived',
  'POST /v1/payments/webhook/{provider}': 'the page never asks for it; payments come by a way of the server’s own',
  'GET /v1/support/tickets': '客服中心 names the contacts of the site and the diagnostics to copy',
  'POST /v1/support/tickets': 'sending ends with 服务器还没有这项功能, what was written stays',
  'POST /v1/support/tickets/{id}/read': 'an answer that was read stays marked as new',
  'GET /sanctum/csrf-cookie': 'the page goes on without a token',
  'POST /broadcasting/auth': 'required',
  'POST /broadcasting/user-auth': 'the page never asks for it',
  'GET /media/avatars.json': 'the profile offers no other portraits than the present one',
  'GET /v1/capabilities': 'the page shows nothing beyond the specification',
  'GET /v1/wechat/signature': 'WeChat shows a link without title and picture',
  'WS /app/{key}': 'required',
  'every call': 'required',
} as const satisfies Record<string, string>;

export type Call = keyof typeof calls;
export const callNames = Object.keys(calls) as Call[];

/** Calls that are missing with another one, apart from those of one capability. */
const FOLLOWED: { [call in Call]?: Call } = {
  'GET /v1/messages/suggestion/{id}': 'POST /v1/messages/suggestion',
  'POST /v1/payments/webhook/{provider}': 'GET /v1/orders',
};

/** Returns the call without which this one is missing, too: the first one of its capability. */
export function followedBy(call: Call): Call | undefined {
  const capability = operations[call]?.capability;
  const first = callNames.find((each) => capability && operations[each]?.capability === capability);
  return FOLLOWED[call] ?? (first === call ? undefined : first);
}

/** Returns method and path of a call, as a visitor takes them, with `segment` for each parameter; no resource has the id 0. */
export function routeOf(call: Call, segment = '0'): [method: string, path: string] {
  const [method = '', address = ''] = call.split(' ');
  const path = address.replace(/\{\w+\}/g, segment);
  return [method, path.startsWith('/v1/') ? path.slice(3) : `/${path}`];
}

export const isRequired = (call: Call): boolean => calls[call] === 'required';
