import type { Formats } from './texts';

const failures: Record<string, string> = {
  unreachable: '无法访问',
  hang: '超时',
  integrity: '校验不符',
  'entry-threw': '入口出错',
  'init-threw': '初始化出错',
  'module-missing': '缺少模块',
  'chunk-lost': '分块丢失',
  'render-threw': '渲染出错',
  contract: '契约不符',
};

const vitalNames: Record<string, string> = { lcp: '最大内容 LCP', inp: '交互 INP', cls: '布局偏移 CLS', load: '加载' };

const scriptErrors: Record<string, string> = { uncaught: '未捕获的错误', rejection: '未处理的 Promise 拒绝' };

const verbs: Record<string, string> = {
  init: '建立',
  activate: '上线',
  canary: '灰度',
  promote: '全量',
  abort: '中止灰度',
  rollback: '回退',
  kill: '禁用',
  withdraw: '撤下',
  renew: '续签',
  promoted: '带去',
  seed: '建立自',
  preview: '打开本地预览',
  'preview-end': '结束本地预览',
};

const roles: Record<string, string> = { viewer: '只读', publisher: '发布者', deployer: '部署者', manager: '管理者' };

const refusals: Record<number, string> = {
  0: '发布台没有响应，请检查网络',
  400: '请求有误，什么都没有改变',
  401: '登录已失效，请重新进入',
  403: '你没有这项权限',
  409: '状态刚刚变了，什么都没有改变。请看过新状态再决定',
  422: '没有通过，什么都没有改变',
  429: '请求太频繁，请一分钟后再试',
  503: '发布存储暂时无法访问，请稍后再试',
};

/** By what the server found wrong with signing in. */
const signInFailures: Record<string, string> = {
  away: '登录服务暂时无法访问，请稍后再试，或使用访问令牌',
  declined: '登录服务没有让你登录',
  noAccess: '你已登录，但你所在的分组在发布台没有角色。请联系管理员，或换一个账号',
  expired: '登录等待太久，或是在别的窗口开始的，请再试一次',
};

/** The console's texts in Chinese. Their shape is what every other language has to fill. */
export const chinese = ({ number, percent, milliseconds }: Formats) => ({
  title: '发布台',
  documentTitle: '发布台 · 聊斋',
  signIn: {
    hint: '请粘贴访问令牌（pnpm release token create manager）',
    label: '访问令牌',
    action: '进入',
    wrong: '令牌无效或已失效，请换一个',
    provider: '单点登录',
    or: '或使用访问令牌',
    ended: '登录已结束，请重新登录',
  },
  signOut: '退出',
  channel: '通道',
  role: (role: string, name: string | null) => (name ? `${roles[role] ?? role} · ${name}` : (roles[role] ?? role)),
  loading: '正在读取状态',
  stale: '连接中断，正在重试；下面是最后一次看到的状态',
  nothingSeen: '暂时无法读取状态，正在重试',
  notices: '提示',
  live: {
    title: '正在运行',
    nothing: '还没有上线任何构建',
    since: (when: string, who: string) => `${when}起，由 ${who} 上线`,
    lastGood: '备用',
    killed: '已禁用',
    killedBuilds: (builds: string) => `已禁用：${builds}`,
    rollback: '回退',
    rollbackAll: '整体回退',
    withdraw: '撤下',
    promoteFrom: (channel: string) => `换成 ${channel} 的全部构建`,
    expires: (when: string) => `签名有效至 ${when}`,
    state: (seq: number) => `状态 ${seq}`,
  },
  candidate: {
    title: '灰度',
    nothing: '没有进行中的灰度。在「构建」里选一个构建开始。',
    share: (share: number) => `${percent(share)} 的访客`,
    slider: '访客比例',
    apply: '调整比例',
    promote: '全量上线',
    abort: '中止灰度',
  },
  health: {
    title: '健康',
    waiting: '还没有健康数据',
    stable: '稳定版',
    candidate: '灰度版',
    visitors: '访客',
    failed: '失败访客',
    loads: '加载次数',
    p75: '加载 p75',
    failures: '失败原因',
    none: '无',
    share: (part: number, whole: number) =>
      `${number(part)}（${whole === 0 ? '–' : percent((part / whole) * 100, 1)}）`,
    failedOf: (failed: number, visitors: number) => `${number(failed)} / ${number(visitors)} 位失败`,
    alarm: (failed: number, visitors: number) =>
      `最近 15 分钟 ${number(visitors)} 位访客中 ${number(failed)} 位失败，请考虑回退`,
    tooFew: '样本还不够，暂不判断',
    fine: (p: string) => `未见异常（Fisher 检验 p = ${p}）`,
    worse: (p: string) => `明显变差（Fisher 检验 p = ${p}），将自动中止`,
  },
  vitals: {
    title: '访客体验',
    about: '数值是 p75：四分之三的页面不超过它。LCP、交互和加载明显变慢的灰度会自动中止。',
    metric: (metric: string) => vitalNames[metric] ?? metric,
    figure: (value: string, pages: number) => `${value}（${number(pages)} 页）`,
    few: (pages: number) => `样本太少（${number(pages)} 页）`,
    over: (minutes: number) =>
      minutes < 60 ? `每点 ${number(minutes)} 分钟，到现在为止` : `每点 ${number(minutes / 60)} 小时，到现在为止`,
    nothing: '还没有页面报告',
    tooFew: '样本还不够，暂不判断',
    fine: '未见变慢',
    slower: (p: string) => `明显变慢（秩和检验 p = ${p}），将自动中止`,
    failed: (version: string, kind: string, count: number) =>
      `${version}：${scriptErrors[kind] ?? kind} ${number(count)}`,
  },
  builds: {
    title: '构建',
    nothing: '还没有发布过构建',
    none: '还没有构建',
    lost: '列表读取失败，稍后会自动重试',
    running: '运行中',
    damaged: '已损坏',
    check: '检查',
    activate: '上线',
    canary: '灰度 5%',
    override: '临时链接',
    kill: '禁用',
    by: (who: string, when: string) => `${who} 发布于${when}`,
    commit: (commit: string) => `提交 ${commit}`,
    change: '变更',
    run: '流水线',
    size: (bytes: number, files: number) => `${number(Math.round(bytes / 1024))} KiB，${number(files)} 个文件`,
  },
  preview: {
    title: '本地预览',
    about: '让一个人在自己的浏览器里，用自己的开发服务器代替已发布的模块。其他人不受影响。',
    nothing: '现在没有打开的本地预览。',
    request: '请求',
    requestHint: '粘贴对方页面上引号之间的内容：模块@地址 和浏览器',
    person: '给谁（会写入记录）',
    hours: '小时',
    open: '打开',
    openFor: '为一个人打开',
    end: '结束',
    subject: (person: string, remotes: string) => `${person}：${remotes}`,
    until: (when: string, who: string) => `至 ${when}，由 ${who} 打开`,
    only: (person: string, hours: number) => `只对 ${person} 的这一个浏览器，${number(hours)} 小时`,
    unchecked: '这些代码没有经过检查，能做到这个人在站内能做到的一切',
  },
  log: {
    title: '记录',
    restore: '回到此状态',
    restoreState: (seq: number) => `回到此状态（状态 ${seq}）`,
    by: (who: string, when: string) => `${who}，${when}`,
    why: (why: string) => `「${why}」`,
  },
  /** What an action of the log was about. */
  subject: {
    from: (builds: string, channel: string, seq: number) => `${builds}（来自 ${channel} 的状态 ${seq}）`,
    into: (builds: string, channel: string, seq: number) => `${builds}（到 ${channel} 的状态 ${seq}）`,
    init: '通道',
    renew: '签名有效期延长',
    canary: (builds: string, share: number) => `${builds}（${percent(share)} 的访客）`,
    rollback: (builds: string, to: number) => `${builds}（同状态 ${to}）`,
  },
  /** What spoke for an action of the log. */
  evidence: {
    finding: (check: string, problem: string, forced: boolean) =>
      `${forced ? '已忽略检查' : '检查未通过'}（${check}）：${problem}`,
    overtaken: (build: string, name: string) => `${build} 退出灰度：${name} 的另一个构建已对所有人上线`,
    candidateDropped: (builds: string) => `灰度结束：${builds} 与新的稳定版不兼容`,
    health: (group: string, failed: number, visitors: number, reasons: string, p75: number | null) =>
      `${group}：${number(visitors)} 位访客中 ${number(failed)} 位失败（${reasons}），加载 p75 ${p75 === null ? '–' : milliseconds(p75)}`,
    verdict: (p: string, alpha: number) =>
      `灰度版的失败明显多于稳定版，不是偶然（Fisher 检验 p = ${p}，界限 ${alpha}）`,
    slower: (build: string, metric: string, tried: string, stable: string, p: string, alpha: number) =>
      `${build} 比稳定版明显慢，不是偶然：${metric} p75 ${tried}，稳定版 ${stable}（秩和检验 p = ${p}，界限 ${alpha}）`,
  },
  confirm: {
    cancel: '取消',
    why: '原因（会写入记录）',
    changes: '将会改变：',
    nothing: '与现在相同，不会有变化。',
    removed: (name: string, version: string) => `${name}：移除（${version}）`,
    added: '新增',
    change: (name: string, from: string, to: string, origin: string) =>
      `${name}：${from} → ${to}${origin && `（${origin}）`}`,
    typed: (name: string) => `请输入 ${name} 确认`,
    mistyped: (name: string) => `与 ${name} 不一致`,
    gentler: (way: string) => `改为${way}（可以撤销）`,
  },
  kill: {
    forGood: (version: string) => `${version} 将永远不再运行，不能撤销`,
    takesPlace: (version: string) => `所有人改用 ${version}`,
    nothingLeft: (places: string) => `没有别的构建可以接替，所有人都将打不开：${places}`,
    endsCandidate: '它所在的灰度随之结束',
  },
  busy: '正在执行……',
  done: {
    changed: (seq: number) => `完成，现在是状态 ${seq}`,
    unchanged: '没有需要变更的内容',
    checked: '检查通过，可以上线',
    override: '临时链接已建立，两小时内有效',
    overrideWithoutSite: '临时链接已建立，两小时内有效：把下面这段加到任意页面地址之后',
    copy: '复制',
    copied: '已复制',
    copyFailed: '没能复制，请长按上面的内容',
    close: '知道了',
  },
  justNow: '刚刚',
  list: (items: readonly string[]) => items.join('、'),
  listAndMore: (items: string, more: number) => `${items}，另有 ${number(more)} 个`,
  verb: (verb: string) => verbs[verb] ?? verb,
  /** By the API's status, 0 when there was no answer; what it says itself, in the words of the command line, stands below. */
  refusal: (status: number) => refusals[status] ?? '操作没有成功',
  failure: (failure: string) => failures[failure] ?? failure,
  signInFailure: (failure: string) => signInFailures[failure] ?? '登录没有成功，发布台的日志里有原因',
});
