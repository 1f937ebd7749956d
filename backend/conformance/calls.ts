interface CallFacts {
  /** `required`: the product does not work without the call. Otherwise what the page does if it is missing. */
  without: 'required' | string;
  /** a call without which this one is missing, too */
  follows?: string;
}

const serverWords = 'the page offers it and answers a tap with 服务器还没有这项功能';

/** Every call of the product, the socket, and rules for every call. */
export const calls = {
  'GET /v1/stories': { without: 'required' },
  'GET /v1/stories/{id}': { without: 'required' },
  'PUT /v1/stories/{id}/favorite': { without: 'a story offers no 收藏: announced as stories.favorites' },
  'GET /v1/favorites': { without: '我的 has no 收藏', follows: 'PUT /v1/stories/{id}/favorite' },
  'POST /v1/messages': { without: 'required' },
  'GET /v1/messages/latest': { without: 'required' },
  'POST /v1/messages/suggestion': { without: serverWords },
  'GET /v1/messages/suggestion/{id}': {
    without: 'suggestions that are not ready in the first answer never come',
    follows: 'POST /v1/messages/suggestion',
  },
  'POST /v1/messages/continue': { without: serverWords },
  'POST /v1/messages/{id}/cancel': { without: 'the page offers no 停止: announced as messages.cancel' },
  'POST /v1/messages/{id}/regenerate': {
    without: 'the page offers no 换一种说法: announced as messages.regenerate',
  },
  'POST /v1/messages/{id}/variant': {
    without: 'a reply that was told another way cannot show its former text again',
    follows: 'POST /v1/messages/{id}/regenerate',
  },
  'POST /v1/messages/{id}/edit': { without: 'the page offers no 编辑: announced as messages.edit' },
  'GET /v1/messages/search': { without: 'a chat has no 查找, unless messages.search is announced' },
  'GET /v1/messages/days': { without: 'a chat has no 按日期', follows: 'GET /v1/messages/search' },
  'POST /v1/messages/{id}/report': { without: 'a reply has no 举报, unless messages.report is announced' },
  'GET /v1/conversations': { without: 'required' },
  'GET /v1/conversations?q': { without: '聊过 has no search, unless conversations.search is announced' },
  'PUT /v1/conversations/{id}': {
    without: '聊过 has no dots, no 置顶 and no runs, unless conversations.unread, .pin and .runs are announced',
  },
  'DELETE /v1/conversations/{id}': {
    without: 'a deleted conversation comes back into the list, and the page says that it could not be deleted',
  },
  'POST /v1/conversations/{id}/restart': {
    without: 'the page offers no 重新开始: announced as conversations.restart',
  },
  'GET /v1/user': { without: 'required' },
  'PUT /v1/user': { without: 'saving the profile ends with 服务器还没有这项功能, what was typed stays' },
  'PUT /v1/user/password': { without: 'saving the password ends with 服务器还没有这项功能' },
  'GET /v1/user/email': { without: '账号与安全 shows no address' },
  'PUT /v1/user/email': {
    without: 'asking for an address ends with 服务器还没有这项功能',
    follows: 'GET /v1/user/email',
  },
  'POST /v1/user/email/resend': {
    without: 'asking for the mail again ends with 服务器还没有这项功能',
    follows: 'GET /v1/user/email',
  },
  'GET /v1/user/sessions': { without: '账号与安全 shows no devices' },
  'DELETE /v1/user/sessions': {
    without: 'logging out the other devices ends with 服务器还没有这项功能',
    follows: 'GET /v1/user/sessions',
  },
  'DELETE /v1/user/sessions/{id}': {
    without: 'logging out a device ends with 服务器还没有这项功能',
    follows: 'GET /v1/user/sessions',
  },
  'POST /v1/user/deletion': { without: 'asking for the account’s end ends with 服务器还没有这项功能' },
  'DELETE /v1/user/deletion': {
    without: 'taking it back ends with 服务器还没有这项功能',
    follows: 'POST /v1/user/deletion',
  },
  'GET /v1/user/minor': { without: '我的 offers no 未成年人模式' },
  'PUT /v1/user/minor': { without: '我的 offers no 未成年人模式', follows: 'GET /v1/user/minor' },
  'POST /v1/user/minor/use': { without: '我的 offers no 未成年人模式', follows: 'GET /v1/user/minor' },
  'POST /v1/user/minor/unlock': { without: '我的 offers no 未成年人模式', follows: 'GET /v1/user/minor' },
  'POST /v1/user/minor/reset': { without: '我的 offers no 未成年人模式', follows: 'GET /v1/user/minor' },
  'POST /v1/login': { without: 'required' },
  'POST /v1/register': { without: 'required' },
  'POST /v1/logout': { without: 'required' },
  'GET /v1/email/verify/{id}/{hash}': {
    without: 'a confirmation link opens a page that says so; needed for e-mail accounts only',
  },
  'POST /v1/email/verification-notification/resend': { without: `${serverWords}; needed for e-mail accounts only` },
  'POST /v1/forgot-password': { without: '忘记密码？ says where to turn to; no link is sent' },
  'POST /v1/reset-password': {
    without: 'a link for a new password opens a page that says so',
    follows: 'POST /v1/forgot-password',
  },
  'GET /v1/invites/{code}': { without: 'an invite link registers as ever and does not say who invites' },
  'POST /v1/invites/gifts/announced': {
    without: 'points that came by an invitation are not announced; 消费明细 has them',
    follows: 'GET /v1/invites/{code}',
  },
  'POST /v1/check-in': { without: serverWords },
  'GET /v1/transactions': { without: '消费明细 shows 服务器还没有这项功能 and a button to try again' },
  'GET /v1/orders': { without: '充值 has no orders: the link of paymentProvider, or 充值还没有开通' },
  'POST /v1/orders': { without: '充值 ends with 服务器还没有这项功能', follows: 'GET /v1/orders' },
  'GET /v1/orders/{id}': { without: 'a reader who has paid does not see that it arrived', follows: 'GET /v1/orders' },
  'POST /v1/payments/webhook/{provider}': {
    without: 'the page never asks for it; payments come by a way of the server’s own',
    follows: 'GET /v1/orders',
  },
  'GET /v1/support/tickets': { without: '客服中心 names the contacts of the site and the diagnostics to copy' },
  'POST /v1/support/tickets': {
    without: 'sending ends with 服务器还没有这项功能, what was written stays',
    follows: 'GET /v1/support/tickets',
  },
  'POST /v1/support/tickets/{id}/read': {
    without: 'an answer that was read stays marked as new',
    follows: 'GET /v1/support/tickets',
  },
  'GET /sanctum/csrf-cookie': { without: 'the page goes on without a token' },
  'POST /broadcasting/auth': { without: 'required' },
  'POST /broadcasting/user-auth': { without: 'the page never asks for it' },
  'GET /media/avatars.json': { without: 'the profile offers no other portraits than the present one' },
  'GET /v1/capabilities': { without: 'the page shows nothing beyond the specification' },
  'GET /v1/wechat/signature': { without: 'WeChat shows a link without title and picture' },
  'WS /app/{key}': { without: 'required' },
  'every call': { without: 'required' },
} as const satisfies Record<string, CallFacts>;

export type Call = keyof typeof calls;

export const factsOf = (call: Call): CallFacts => calls[call];

/** Returns method and path of a call, as a visitor takes them, with `segment` for each parameter; no resource has the id 0. */
export function routeOf(call: Call, segment = '0'): [method: string, path: string] {
  const [method = '', address = ''] = call.split(' ');
  const path = address.replace(/\{\w+\}/g, segment);
  return [method, path.startsWith('/v1/') ? path.slice(3) : `/${path}`];
}

export const isRequired = (call: Call): boolean => factsOf(call).without === 'required';
