/** A text in Chinese and in English. */
export type Pair = readonly [chinese: string, english: string];

export const FAILURES: Record<string, Pair> = {
  unreachable: ['无法访问', 'unreachable'],
  hang: ['超时', 'timed out'],
  integrity: ['校验不符', 'integrity mismatch'],
  'entry-threw': ['入口出错', 'entry threw'],
  'init-threw': ['初始化出错', 'initialization threw'],
  'module-missing': ['缺少模块', 'module missing'],
  'chunk-lost': ['分块丢失', 'chunk lost'],
  'module-threw': ['页面模块出错', 'page module threw'],
  'render-threw': ['渲染出错', 'render threw'],
  contract: ['契约不符', 'contract mismatch'],
  uncaught: ['脚本出错', 'uncaught error'],
  rejection: ['异步出错', 'unhandled rejection'],
};

/** Actions of the log, and verbs of requests, which only Chinese texts name. */
export const VERBS: Record<string, Pair> = {
  check: ['检查', 'check'],
  init: ['建立', 'Created'],
  activate: ['上线', 'Activated'],
  canary: ['灰度', 'Canary'],
  promote: ['全量', 'Promoted'],
  abort: ['中止灰度', 'Aborted'],
  rollback: ['回退', 'Rolled back to'],
  kill: ['禁用', 'Killed'],
  withdraw: ['撤下', 'Withdrew'],
  renew: ['续签', 'Renewed'],
  promoted: ['带去', 'Carried on'],
  seed: ['建立自', 'Made from another channel'],
  override: ['临时链接', 'override'],
  preview: ['打开本地预览', 'Opened a local preview'],
  'preview-end': ['结束本地预览', 'Ended a local preview'],
  schedule: ['计划', 'Schedule'],
  pause: ['暂停计划', 'pause'],
  continue: ['继续计划', 'continue'],
  cancel: ['停掉计划', 'cancel'],
  freeze: ['冻结期', 'Freeze windows'],
  unfreeze: ['移除冻结期', 'unfreeze'],
  webhook: ['通知', 'Webhooks'],
  'webhook-remove': ['移除通知', 'webhook-remove'],
  'webhook-test': ['试发通知', 'webhook-test'],
  approval: ['双人批准', 'Two-person approval'],
  approve: ['批准', 'approve'],
  reject: ['驳回', 'reject'],
  retract: ['撤回提议', 'retract'],
  proposal: ['提议', 'Proposal'],
  alarm: ['告警', 'Alarm'],
};

export const ROLES: Record<string, Pair> = {
  viewer: ['只读', 'Viewer'],
  publisher: ['发布者', 'Publisher'],
  deployer: ['部署者', 'Deployer'],
  manager: ['管理者', 'Manager'],
};

export const VITALS: Record<string, Pair> = {
  lcp: ['最大内容 LCP', 'Largest paint LCP'],
  inp: ['交互 INP', 'Interaction INP'],
  cls: ['布局偏移 CLS', 'Layout shift CLS'],
  load: ['加载', 'Load time'],
};

/** By HTTP status, 0 without a response. */
export const REFUSALS: Record<number, Pair> = {
  0: ['发布台没有响应，请检查网络', 'The console does not answer. Check your network.'],
  200: [
    '收到的不是这个发布台的回答。请重新载入页面；仍然这样，请检查网络和代理',
    'What answered is not this console. Load the page again; if that does not help, check network and proxies.',
  ],
  400: ['请求有误，什么都没有改变', 'The request was wrong. Nothing was changed.'],
  401: ['登录已失效，请重新进入', 'You are no longer signed in. Sign in again.'],
  403: ['你没有这项权限', 'You are not permitted to do that.'],
  409: [
    '状态刚刚变了，什么都没有改变。请看过新状态再决定',
    'The state has just changed, so nothing was done. Look at the new state before you decide.',
  ],
  422: ['没有通过，什么都没有改变', 'Refused. Nothing was changed.'],
  429: ['请求太频繁，请一分钟后再试', 'Too many requests. Try again in a minute.'],
  503: ['发布存储暂时无法访问，请稍后再试', 'The release store cannot be reached right now. Try again later.'],
};

/** By the kind that the server reported. */
export const SIGN_IN_FAILURES: Record<string, Pair> = {
  away: [
    '登录服务暂时无法访问，请稍后再试，或使用访问令牌',
    'The sign-in service cannot be reached right now. Try again later, or use an access token.',
  ],
  declined: ['登录服务没有让你登录', 'The sign-in service did not sign you in.'],
  noAccess: [
    '你已登录，但你所在的分组在发布台没有角色。请联系管理员，或换一个账号',
    'You are signed in, but none of your groups has a role here. Ask an administrator, or use another account.',
  ],
  expired: [
    '登录等待太久，或是在别的浏览器里开始的，请再试一次',
    'Signing in took too long, or began in another browser. Try again.',
  ],
};
