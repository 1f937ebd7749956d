import { formats } from './language';
import { FAILURES, type Pair, REFUSALS, ROLES, SIGN_IN_FAILURES, VERBS, VITALS } from './words';

export interface Wording {
  [key: string]: Pair | ((...values: never[]) => Pair) | Wording;
}

const number = (value: number): string => formats.number(value);
const percent = (value: number, digits?: number): string => formats.percent(value, digits);
const lasting = (hours: number): string => formats.lasting(hours);
const milliseconds = (value: number): string => formats.milliseconds(value);
/** An English count: `1 build`, `2 builds`. */
const count = (of: number, one: string): string => `${number(of)} ${of === 1 ? one : `${one}s`}`;
const span = (of: number, unit: string): string => (of === 1 ? unit : count(of, unit));
const named = (names: Readonly<Record<string, Pair>>, name: string): Pair => names[name] ?? [name, name];

/** The console's texts, each in Chinese and in English. */
export const WORDING = {
  title: ['发布台', 'Release console'],
  documentTitle: ['发布台 · 聊斋', 'Release console · Liaozhai'],
  signIn: {
    hint: [
      '请粘贴访问令牌（pnpm release token create manager）',
      'Paste an access token (pnpm release token create manager)',
    ],
    label: ['访问令牌', 'Access token'],
    action: ['进入', 'Sign in'],
    wrong: ['令牌无效或已失效，请换一个', 'This token is wrong or no longer valid. Use another one.'],
    provider: ['单点登录', 'Single sign-on'],
    or: ['或使用访问令牌', 'or with an access token'],
    ended: ['登录已结束，请重新登录', 'Your session has ended. Sign in again.'],
  },
  signOut: ['退出', 'Sign out'],
  again: ['重试', 'Try again'],
  channel: ['通道', 'Channel'],
  role: (role: string) => named(ROLES, role),
  loading: ['正在读取状态', 'Loading the state'],
  stale: (at: string) => [
    `暂时无法读取状态，正在重试；下面是 ${at} 看到的状态`,
    `The state cannot be read right now, retrying. Below is the state as seen at ${at}.`,
  ],
  nothingSeen: ['暂时无法读取状态，正在重试', 'The state cannot be read right now, retrying.'],
  noChannel: (name: string, channels: string) => [
    `没有通道「${name}」。请在上面选一个：${channels}`,
    `There is no channel ${name}. Choose one above: ${channels}.`,
  ],
  notices: ['提示', 'Notices'],
  moreOf: (what: string) => [`更多：${what}`, `More: ${what}`],
  views: {
    title: ['页面', 'Pages'],
    now: ['现在', 'Now'],
    settings: ['设置', 'Settings'],
  },
  /** Urgent notices. */
  now: {
    candidate: (builds: string) => [`灰度 ${builds} 有问题`, `Canary ${builds} is in trouble`],
    stable: (builds: string) => [`${builds} 有问题`, `${builds} is in trouble`],
    fails: (failed: number, visitors: number, stableFailed: number, stableVisitors: number) => [
      `失败偏多：${number(visitors)} 位访客中 ${number(failed)} 位失败，稳定版 ${number(stableVisitors)} 位中 ${number(stableFailed)} 位。`,
      `Fails more often: ${number(failed)} of ${count(visitors, 'visitor')}, stable ${number(stableFailed)} of ${number(stableVisitors)}. `,
    ],
    slower: (metric: string, tried: string, stable: string) => [
      `变慢：${metric} p75 ${tried}，稳定版 ${stable}。`,
      `Slower: ${metric} p75 ${tried}, stable ${stable}. `,
    ],
    stopping: ['将自动中止', 'It will be stopped automatically.'],
    unsure: (p: string) => [`样本还不够自动中止（p = ${p}）`, `Too little yet for the automatic stop (p = ${p}).`],
    stopped: (builds: string, when: string) => [
      `已自动中止 ${builds} 的灰度，${when}`,
      `The automatic stop ended the canary of ${builds}, ${when}`,
    ],
    withdrawn: (builds: string) => [`已撤下 ${builds}`, `Withdrawn: ${builds}`],
    served: (seq: number, set: string, when: string, builds: string) => [
      `访客现在得到的是状态 ${seq}（集合 ${set}），${when}生效：${builds}`,
      `Visitors now get state ${seq} (set ${set}), in force ${when}: ${builds}`,
    ],
    figures: ['看数据', 'Figures'],
    log: ['看记录', 'Log'],
    proposals: ['看提议', 'Proposals'],
  },
  live: {
    title: ['正在运行', 'Live'],
    nothing: ['还没有上线任何构建', 'No build is live yet'],
    since: (when: string, who: string) => [`${when}，由 ${who} 切换`, `switched by ${who}, ${when}`],
    lastGood: ['备用', 'Fallback'],
    killed: ['已禁用', 'Killed'],
    killedBuilds: (builds: string) => [`已禁用：${builds}`, `Killed: ${builds}`],
    rollback: ['回退', 'Roll back'],
    rollbackAll: ['整体回退', 'Roll back everything'],
    endsCanary: (names: string) => [`${names} 的灰度随之结束`, `The canary of ${names} ends too`],
    nothingBefore: (name = '') => [
      `${name}之前没有运行过别的、还能再运行的版本。可以在「构建」里上线另一个构建，或撤下它`,
      `Nothing else was live before${name && ` for ${name}`} that could run again. Activate another build under “Builds”, or withdraw it.`,
    ],
    withdraw: ['撤下', 'Withdraw'],
    lost: (places: string) => [`所有人都将打不开：${places}`, `Nobody can open any more: ${places}`],
    promoteFrom: (channel: string) => [`换成 ${channel} 的全部构建`, `Take over what ${channel} runs`],
    expires: (seq: number, when: string) => [`状态 ${seq}，签名有效至 ${when}`, `State ${seq}, signed until ${when}`],
    withdrawn: (when: string, who: string) => [`${when}由 ${who} 撤下`, `withdrawn by ${who}, ${when}`],
    restore: ['恢复', 'Bring back'],
    dead: (builds: string) => [
      `那时运行的 ${builds} 已被禁用，不再运行。请选另一个状态，或逐个模块回退`,
      `${builds} ran then and was killed since. Choose another state, or go back one package at a time.`,
    ],
    unfit: (builds: string) => [
      `${builds} 与现在运行的版本不兼容，什么都没有改变。可以在「构建」里上线一个兼容的构建`,
      `${builds} does not fit what runs now. Nothing was changed. A build that fits can be activated below Builds.`,
    ],
  },
  takenBack: {
    takenBack: (channel: string, name: string, version: string, from: string, to: string | null) => [
      `${channel} 正在运行 ${name} ${version}，${from} 从未有过它；换成 ${from} 的构建，${name} 会${to ? `退回 ${to}` : '被撤下'}`,
      `${channel} runs ${name} ${version}, which ${from} never had; with what ${from} runs, ${name} would ${to ? `go back to ${to}` : 'leave the set'}.`,
    ],
    why: (from: string) => [
      `什么都没有改变。先把这些构建带到 ${from}（或在那里发布包含它们的新版本），试过以后再整体换过来`,
      `Nothing was changed. Bring these builds to ${from} first, or publish newer ones there that contain them; try them, then take over the set.`,
    ],
    bring: (name: string, from: string) => [`把 ${name} 带到 ${from}`, `Bring ${name} to ${from}`],
  },
  candidate: {
    title: ['灰度', 'Canary'],
    nothing: [
      '没有进行中的灰度。在「构建」里选一个构建开始。',
      'No canary is running. Start one from a build under “Builds”.',
    ],
    share: (share: number) => [`${percent(share)} 的访客`, `${percent(share)} of visitors`],
    slider: ['访客比例', 'Share of visitors'],
    apply: ['调整比例', 'Change share'],
    begun: (when: string, who: string) => [`由 ${who} 开始于${when}`, `begun by ${who}, ${when}`],
    promote: ['全量上线', 'Promote'],
    abort: ['中止灰度', 'Abort canary'],
  },
  schedule: {
    title: ['计划', 'Schedule'],
    plan: ['定时扩大', 'Schedule a ramp'],
    step: (share: string, when: string) => [`${share}，${when}`, `${share}, ${when}`],
    percent: (row: number) => [`${row}. 访客 %`, `${row}. % of visitors`],
    span: (row: number) => [`${row}. 多久后`, `${row}. after`],
    unit: (row: number) => [`${row}. 单位`, `${row}. unit`],
    units: {
      m: ['分钟', 'minutes'],
      h: ['小时', 'hours'],
      d: ['天', 'days'],
    },
    after: {
      m: (minutes: number) => [`${number(minutes)} 分钟后`, `after ${count(minutes, 'minute')}`],
      h: (hours: number) => [`${number(hours)} 小时后`, `after ${count(hours, 'hour')}`],
      d: (days: number) => [`${number(days)} 天后`, `after ${count(days, 'day')}`],
    },
    addStep: ['加一步', 'Add a step'],
    limit: (days: number) => [
      `每一步都要在 ${number(days)} 天之内`,
      `Each step has to come within ${count(days, 'day')}`,
    ],
    removeStep: (row: number) => [`去掉第 ${row} 步`, `Remove step ${row}`],
    now: ['现在', 'now'],
    next: (share: number, when = '') => [
      `下一步：${share < 100 ? `${share}% 的访客` : '所有人'}${when && `，${when}`}`,
      `Next: ${share < 100 ? `${percent(share)} of visitors` : 'everyone'}${when && `, ${when}`}`,
    ],
    due: ['到点了，正在等待下一次检查', 'Due, waiting for the next look'],
    set: (who: string, when: string) => [`由 ${who} 设于${when}`, `set by ${who}, ${when}`],
    share: (share: number) => [share < 100 ? `${share}%` : '所有人', share < 100 ? percent(share) : 'everyone'],
    paused: (who: string) => [`已由 ${who} 暂停`, `Paused by ${who}`],
    refused: (reason: string) => [`计划已自动暂停：${reason}`, `The schedule was paused automatically: ${reason}`],
    pause: ['暂停', 'Pause'],
    continue: ['继续', 'Continue'],
    cancel: ['停掉计划', 'End schedule'],
    ends: (names: string) => [`${names} 的定时扩大随之结束`, `The schedule of ${names} ends too`],
    keeps: (isRunning: boolean) => [
      isRunning ? '灰度保持现在的比例，后面的步骤不再进行' : '灰度不会开始',
      isRunning ? 'The canary keeps its share; no further step is taken' : 'No canary begins',
    ],
    holds: (isRunning: boolean) => [
      `${isRunning ? '灰度保持现在的比例，到点也不扩大' : '到点也不开始灰度'}，直到有人点「继续」`,
      `${isRunning ? 'The canary keeps its share; no step is taken' : 'No canary begins'} until somebody continues`,
    ],
    goesOn: ['从剩下的时间接着计时，到点再扩大', 'The time that was left runs on, then the next step is taken'],
    unwatched: ['没有正在运行的发布台服务，计划不会前进', 'No console is running that would take the steps'],
    waits: {
      tooFew: (tried: number, control: number, enough: number) => [
        `样本还不够：上一步或更换主程序以来，灰度 ${tried} 位、稳定版 ${control} 位访客，各需 ${enough} 位`,
        `Too few reports since the last step or another host: ${number(tried)} of ${number(enough)} visitors of the candidate, ${number(control)} of ${number(enough)} of stable`,
      ],
      failing: (p: string, limit: number) => [
        `灰度版的失败偏多，很可能不是偶然（p = ${p}，界限 ${limit}）`,
        `The candidate fails more often than chance makes likely (p = ${p}, limit ${limit})`,
      ],
      frozen: (until: string, reason: string) => [`冻结至 ${until}：${reason}`, `Frozen until ${until}: ${reason}`],
    },
    changes: {
      set: ['设定', 'Set'],
      paused: ['暂停', 'Paused'],
      continued: ['继续', 'Continued'],
      cancelled: ['取消', 'Cancelled'],
      waits: ['等待', 'Waiting'],
      ended: ['因中途的变更而结束', 'Ended by what came between'],
      refused: ['未通过检查，暂停', 'Step refused, paused'],
      revoked: ['设定者已离开，暂停', 'Its maker has left, paused'],
    },
  },
  webhook: {
    title: ['通知', 'Webhooks'],
    nothing: [
      '没有通知地址。可以把上线、扩大、中止、回退和等待告诉聊天机器人。',
      'No webhooks. One tells a chat bot of switches, ramps, stops, rollbacks and schedules that wait.',
    ],
    url: ['地址（https）', 'Address (https)'],
    hint: ['签名用的密钥只在建立时显示一次', 'The secret of its signatures is shown once'],
    add: ['新增通知', 'Add webhook'],
    remove: ['移除', 'Remove'],
    test: ['试发', 'Test'],
    tested: ['已送达', 'Delivered'],
    by: (who: string) => [`由 ${who} 设定`, `added by ${who}`],
    failing: (attempts: number, problem: string) => [
      `已失败 ${attempts} 次，还会重试：${problem}`,
      `Failed ${count(attempts, 'time')}, will be tried again: ${problem}`,
    ],
    undelivered: (lost: number, problem: string) => [
      `最近有 ${lost} 条没能送达：${problem}`,
      `${count(lost, 'event')} could not be delivered: ${problem}`,
    ],
    secret: ['请记下签名密钥，它不会再显示', 'Note the secret down, it is not shown again'],
  },
  freeze: {
    title: ['冻结期', 'Freeze windows'],
    nothing: ['没有冻结期', 'No freeze windows'],
    open: (until: string, reason: string) => [
      `冻结中，至 ${until}：${reason}。可以回退和中止，不能上线和扩大`,
      `Frozen until ${until}: ${reason}. Rolling back and aborting work, activating and ramping up do not.`,
    ],
    isOpen: ['冻结中', 'open'],
    by: (who: string) => [`由 ${who} 设定`, `set by ${who}`],
    everyWeek: (from: string, to: string, zone: string) => [
      `每${from} 至 ${to}（${zone}）`,
      `every week, ${from} to ${to} (${zone})`,
    ],
    span: (from: string, to: string) => [`${from} 至 ${to}`, `${from} to ${to}`],
    add: ['新增冻结期', 'Add freeze window'],
    remove: ['移除', 'Remove'],
    kind: ['何时', 'When'],
    weekly: ['每周', 'Every week'],
    once: ['一次', 'Once'],
    from: ['从', 'From'],
    to: ['到', 'To'],
    time: (of: string) => [`${of}（时间）`, `${of} (time)`],
    zone: ['时区', 'Time zone'],
    problems: {
      neverOpen: ['开始和结束要是两个不同的时间', 'Choose two different times'],
      endsBefore: ['结束要晚于开始', 'It has to end after it begins'],
      isOver: ['结束的时间已经过去', 'Its end has passed already'],
    },
    submit: ['下一步', 'Next'],
    passing: ['冻结期内破例的理由（会写入记录）', 'Reason for switching while frozen (goes into the log)'],
  },
  approval: {
    title: ['双人批准', 'Two-person approval'],
    pending: ['等待批准', 'Waiting for approval'],
    what: {
      activate: ['上线', 'Activate'],
      canary: ['灰度', 'Canary'],
      promote: ['全量', 'Promote'],
      schedule: ['计划', 'Scheduled ramp'],
      approval: ['改变规则', 'Change of the rule'],
    },
    off: [
      '一个人就能上线。开启后，上线、灰度、扩大和全量都要另一个人批准；回退、中止、撤下和禁用从不等待。',
      'One person can switch. Once it is on, activating, starting and growing a canary and promoting need a second person; rolling back, aborting, withdrawing and killing never wait.',
    ],
    on: (hours: number, who: string) => [
      `两个人决定，由 ${who} 开启；提议等待 ${lasting(hours)}`,
      `Two persons decide, turned on by ${who}; a proposal waits ${lasting(hours)}`,
    ],
    turnOn: ['开启双人批准', 'Turn on two-person approval'],
    turnOff: ['关闭双人批准', 'Turn off'],
    needsTwo: ['关闭也要另一个人批准', 'A second person has to approve that, too'],
    expires: ['提议等待多久（小时）', 'How long a proposal waits (hours)'],
    waits: (waiting: number) => [
      `${number(waiting)} 个提议等待另一个人批准`,
      `${count(waiting, 'proposal')} ${waiting === 1 ? 'waits' : 'wait'} for a second person`,
    ],
    asks: [
      '这个通道由两个人决定：同意后会成为提议，等另一个人批准。',
      'Two persons decide in this channel: this becomes a proposal that another person approves.',
    ],
    proposed: (id: string) => [`已提议（${id}），等另一个人批准`, `Proposed (${id}). It waits for a second person.`],
    approve: ['批准', 'Approve'],
    reject: ['驳回', 'Reject'],
    retract: ['撤回', 'Withdraw'],
    by: (who: string, when: string) => [`由 ${who} 提议于${when}`, `Proposed by ${who}, ${when}`],
    until: (when: string) => [`${when}过期`, `expires ${when}`],
    own: ['这是你自己的提议，要另一个人批准', 'This is your own proposal: another person approves it'],
    noRight: ['只有管理者能批准', 'Only a manager can approve'],
    outdated: [
      '通道已经变了，请在现在的状态上重新提议',
      'The channel has moved on: propose it again upon what runs now',
    ],
    forced: ['不顾检查结果', 'Against the gate'],
    despiteFreeze: (reason: string) => [`冻结期内破例：${reason}`, `Although frozen: ${reason}`],
    rule: (hours: number | null) => [
      hours === null ? '改为一个人决定' : `提议改为等待 ${lasting(hours)}`,
      hours === null ? 'Let one person decide' : `Let proposals wait ${lasting(hours)}`,
    ],
    steps: (steps: string) => [`步骤：${steps}`, `Steps: ${steps}`],
    from: (channel: string) => [`来自通道 ${channel}`, `From ${channel}`],
    digests: (before: string, after: string) => [`状态 ${before} → ${after}`, `State ${before} → ${after}`],
    changes: {
      proposed: ['等待批准', 'Waits for approval'],
      approved: ['已批准', 'Approved'],
      rejected: ['已驳回', 'Rejected'],
      withdrawn: ['已由提议者撤回', 'Withdrawn by its proposer'],
      expired: ['已过期', 'Expired'],
      interrupted: [
        '批准后中断，什么都没有改变，请重新提议',
        'Approved and cut off, nothing was changed: propose it again',
      ],
    },
  },
  health: {
    title: ['健康', 'Health'],
    waiting: ['还没有健康数据', 'No health data yet'],
    stable: ['稳定版', 'Stable'],
    candidate: ['灰度版', 'Candidate'],
    /** Periods of the figures: of stable, of a candidate, of each build. */
    sinceSwitch: ['切换以来', 'since the switch:'],
    sinceCandidate: ['灰度以来', 'Since it began'],
    lastDay: ['一天内', 'Last day'],
    visitors: ['访客', 'Visitors'],
    failed: ['失败访客', 'Failed visitors'],
    loads: ['加载次数', 'Loads'],
    p75: ['加载 p75', 'Load time p75'],
    failures: ['失败原因', 'Failures'],
    none: ['无', 'none'],
    share: (part: number, whole: number) => [
      `${number(part)}（${whole === 0 ? '–' : percent((part / whole) * 100, 1)}）`,
      `${number(part)} (${whole === 0 ? '–' : percent((part / whole) * 100, 1)})`,
    ],
    summary: (visitors: number, failed: string, load: string) => [
      visitors === 0 ? '还没有访客' : `${number(visitors)} 位访客，失败 ${failed}，加载 p75 ${load}`,
      visitors === 0 ? 'no visitors yet' : `${count(visitors, 'visitor')}, failed ${failed}, load time p75 ${load}`,
    ],
    failedOf: (failed: number, visitors: number) => [
      `${number(failed)} / ${number(visitors)} 位失败`,
      `${number(failed)} of ${number(visitors)} failed`,
    ],
    rise: (minutes: number, failed: number, visitors: number, failedBefore: number, visitorsBefore: number) => [
      `最近 ${number(minutes)} 分钟 ${number(visitors)} 位访客中 ${number(failed)} 位失败，此前 ${number(visitorsBefore)} 位中 ${number(failedBefore)} 位`,
      `${number(failed)} of ${count(visitors, 'visitor')} failed in the last ${number(minutes)} minutes, ${number(failedBefore)} of ${number(visitorsBefore)} before`,
    ],
    former: (version: string) => [`上一版 ${version}`, `Before, ${version}`],
    live: (version: string) => [`稳定版 ${version}`, `Stable, ${version}`],
    tooFew: (hasVisitors: boolean) => [
      `${hasVisitors ? '失败很少' : '访客还不够'}，暂不判断`,
      `Too few ${hasVisitors ? 'failures' : 'visitors'} to judge yet`,
    ],
    fine: (p: string) => [
      `未见异常（Fisher 检验 p = ${p}）`,
      `No difference beyond chance (Fisher exact test, p = ${p})`,
    ],
    worse: (p: string) => [
      `明显变差（Fisher 检验 p = ${p}），将自动中止`,
      `Fails more often, beyond chance (Fisher exact test, p = ${p}). It will be stopped automatically.`,
    ],
  },
  errors: {
    browsers: (label: string, more: number) => [
      more > 0 ? `${label} 等 ${number(more + 1)} 种浏览器` : `全是 ${label}`,
      more > 0 ? `${label} and ${count(more, 'more browser')}` : `all ${label}`,
    ],
    routes: (label: string, more: number) => [
      more > 0 ? `${label} 等 ${number(more + 1)} 个页面` : label,
      more > 0 ? `${label} and ${count(more, 'more screen')}` : label,
    ],
    gone: ['（已不再运行）', ' (runs no more)'],
    /** `chat 1.4.0：3.1% 的访客，全是 Safari 17，在 /story/:id，ChatLog.tsx:88 的 TypeError，01:12 起` */
    sentence: (build: string, share: string, browsers: string, routes: string, what: string, since: string) => [
      `${build}：${share}，${browsers}，在 ${routes}，${what}，${since} 起`,
      `${build}: ${share}, ${browsers}, on ${routes}, ${what}, since ${since}`,
    ],
    share: (part: number, whole: number) => [
      whole < 20 ? `${number(whole)} 位访客中 ${number(part)} 位` : `${percent((part / whole) * 100, 1)} 的访客`,
      whole < 20 ? `${number(part)} of ${count(whole, 'visitor')}` : `${percent((part / whole) * 100, 1)} of visitors`,
    ],
    inPlace: (name: string, where: string) => [`${where} 的 ${name}`, `${name} in ${where}`],
    visitors: (label: string, visitors: number) => [
      `${label}：${number(visitors)} 位`,
      `${label}: ${number(visitors)}`,
    ],
    last: (at: string) => [`最近一次 ${at}`, `last ${at}`],
  },
  vitals: {
    title: ['访客体验', 'What visitors felt'],
    about: [
      '数值是 p75：四分之三的页面不超过它。LCP、交互和加载明显变慢的灰度会自动中止。',
      'The figures are p75: three quarters of the pages do not exceed them. A candidate whose LCP, INP or load time gets clearly slower is stopped automatically.',
    ],
    metric: (metric: string) => named(VITALS, metric),
    figure: (value: string, pages: number) => [`${value}（${number(pages)} 页）`, `${value} (${count(pages, 'page')})`],
    few: (pages: number) => [`样本太少（${number(pages)} 页）`, `too few to say (${count(pages, 'page')})`],
    over: (minutes: number) => [
      minutes < 60 ? `每点 ${number(minutes)} 分钟，到现在为止` : `每点 ${number(minutes / 60)} 小时，到现在为止`,
      `A point for every ${minutes < 60 ? span(minutes, 'minute') : span(minutes / 60, 'hour')}, until now`,
    ],
    nothing: ['还没有页面报告', 'No page has reported yet'],
    tooFew: ['样本还不够，暂不判断', 'Too few pages to judge yet'],
    fine: ['未见变慢', 'Not slower'],
    slower: (p: string) => [
      `明显变慢（秩和检验 p = ${p}），将自动中止`,
      `Slower, beyond chance (rank test, p = ${p}). It will be stopped automatically.`,
    ],
  },
  sharing: {
    title: ['共享库', 'Shared libraries'],
    /** `2 个，1 个重复加载，多 63.4 KiB` */
    summary: (libraries: number, repeated: number, more: string) => [
      `${number(libraries)} 个${repeated > 0 ? `，${number(repeated)} 个重复加载${more && `，多 ${more}`}` : ''}`,
      `${number(libraries)}${repeated > 0 ? `, ${number(repeated)} loaded more than once${more && `, ${more} extra`}` : ''}`,
    ],
    once: ['加载一次', 'Loaded once'],
    times: (copies: number, more: string) => [
      `加载 ${number(copies)} 次${more && `，多 ${more}`}`,
      `Loaded ${number(copies)} times${more && `, ${more} extra`}`,
    ],
    ofHost: (version: string) => [
      `由主程序提供 ${version}，自带的从不运行`,
      `The host provides ${version}: what builds carry never runs`,
    ],
  },
  compare: {
    title: (name: string) => [`比较 ${name}`, `Compare ${name}`],
    withFormer: ['与上一版比较', 'Compare with the one before'],
    withLive: ['与线上版比较', 'Compare with live'],
    from: ['从', 'From'],
    to: ['到', 'To'],
    same: ['相同', 'the same'],
    nothing: ['没有报告', 'nothing reported'],
    commits: ['提交', 'Commits'],
    brings: (builds: number) => [`带来 ${number(builds)} 个构建`, `Brings ${count(builds, 'build')}`],
    takesBack: (builds: number) => [`收回 ${number(builds)} 个构建`, `Takes back ${count(builds, 'build')}`],
    allCommits: ['全部提交', 'All commits'],
    addresses: ['地址', 'Addresses'],
    contract: ['契约', 'Contract'],
    carries: ['自带', 'carries'],
    accepts: ['接受', 'accepts'],
    changedFiles: ['文件', 'Files'],
    files: (files: number, size: string) => [`${number(files)} 个，${size}`, `${count(files, 'file')}, ${size}`],
    more: (files: number) => [`另有 ${number(files)} 个`, `${number(files)} more`],
    close: ['关闭', 'Close'],
  },
  builds: {
    title: ['构建', 'Builds'],
    nothing: ['还没有发布过构建', 'No build has been published yet'],
    none: ['没有上线的构建', 'no build live'],
    lost: ['列表读取失败，稍后会自动重试', 'The list could not be loaded. It will be tried again.'],
    running: ['运行中', 'Live'],
    tried: (share: number) => [`灰度 ${percent(share)}`, `Canary ${percent(share)}`],
    damaged: ['已损坏', 'Damaged'],
    alarmed: ['曾告警', 'Alarmed'],
    check: ['检查', 'Check'],
    activate: ['上线', 'Activate'],
    canary: ['灰度 5%', 'Canary 5%'],
    override: ['临时链接', 'Override link'],
    kill: ['禁用', 'Kill'],
    by: (who: string, when: string) => [`${who} 发布于${when}`, `Published by ${who}, ${when}`],
    commit: (commit: string) => [`提交 ${commit}`, `Commit ${commit}`],
    change: ['变更', 'Change'],
    run: ['流水线', 'CI run'],
    size: (bytes: number, files: number) => [
      `${number(Math.round(bytes / 1024))}\u00a0KiB，${number(files)} 个文件`,
      `${number(Math.round(bytes / 1024))}\u00a0KiB, ${count(files, 'file')}`,
    ],
  },
  preview: {
    title: ['本地预览', 'Local previews'],
    about: [
      '让一个人在自己的浏览器里，用自己的开发服务器代替已发布的模块。其他人不受影响。',
      'Lets one person run remotes from their own dev server, in their own browser. Nobody else is affected. ',
    ],
    nothing: ['现在没有打开的本地预览。', 'None is open.'],
    request: ['请求', 'Request'],
    requestHint: [
      '粘贴对方发来的那一行：模块@地址 和浏览器',
      'Paste the line that they sent: remote@address and browser',
    ],
    person: ['给谁（会写入记录）', 'For whom (goes into the log)'],
    hours: ['小时', 'Hours'],
    open: ['打开', 'Open'],
    openFor: ['为一个人打开', 'Open one for somebody'],
    end: ['结束', 'End'],
    until: (when: string, who: string) => [`至 ${when}，由 ${who} 打开`, `until ${when}, opened by ${who}`],
    oneBrowser: (person: string, hours: number) => [
      `只对 ${person} 的这一个浏览器，${lasting(hours)}`,
      `For this one browser of ${person} only, for ${lasting(hours)}`,
    ],
    replaces: (person: string, remotes: string) => [
      `这个浏览器里 ${person} 的本地预览随之结束：${remotes}`,
      `The preview of ${person} in this browser ends: ${remotes}`,
    ],
    unchecked: [
      '这些代码没有经过检查，能做到这个人在站内能做到的一切',
      'This code is unchecked; it can do everything that this person can do on the site',
    ],
  },
  log: {
    title: ['记录', 'Log'],
    ofName: ['模块', 'Package'],
    ofPerson: ['谁', 'Person'],
    ofKind: ['类别', 'Kind'],
    earlier: ['更早的记录', 'Earlier entries'],
    nothing: ['没有这样的记录', 'No such entries'],
    restore: ['回到此状态', 'Return to this state'],
    restoreState: (seq: number) => [`回到此状态（状态 ${seq}）`, `Return to state ${seq}`],
    by: (who: string, when: string) => [`${who}，${when}`, `${who}, ${when}`],
    why: (why: string) => [`「${why}」`, `“${why}”`],
  },
  /** Object of a log action. */
  subject: {
    from: (channel: string, seq: number) => [`来自 ${channel} 的状态 ${seq}`, `from ${channel}, state ${seq}`],
    into: (channel: string, seq: number) => [`到 ${channel} 的状态 ${seq}`, `to ${channel}, state ${seq}`],
    init: ['通道', 'the channel'],
    renew: ['签名有效期延长', 'the signature of the same state'],
    freeze: ['变更', 'changed'],
    webhook: ['通知地址', 'changed'],
    approval: ['规则', 'the rule'],
    rollback: (to: number) => [`同状态 ${to}`, `as in state ${to}`],
  },
  /** Evidence of a log action. */
  evidence: {
    forced: ['已忽略检查', 'Check overridden'],
    failed: ['检查未通过', 'Check failed'],
    overtaken: (build: string, name: string) => [
      `${build} 退出灰度：${name} 的另一个构建已对所有人上线`,
      `${build} left the canary: another build of ${name} went live for everyone`,
    ],
    passedOver: (builds: string) => [
      `跳过 ${builds}：与当前运行的版本不兼容`,
      `Passed over ${builds}: not compatible with what runs now`,
    ],
    candidateEnded: (builds: string) => [`${builds} 的灰度随之结束`, `The canary of ${builds} ended too`],
    replaced: (build: string, by: string | null) => [
      by ? `${by} 接替了 ${build}` : `没有构建接替 ${build}`,
      by ? `${by} took the place of ${build}` : `Nothing took the place of ${build}`,
    ],
    unseen: ['没有经过浏览器检查', 'No browser opened it'],
    candidateDropped: (builds: string) => [
      `灰度结束：${builds} 与新的稳定版不兼容`,
      `Canary ended: ${builds} is not compatible with the new stable set`,
    ],
    health: (group: string, failed: number, visitors: number, reasons: string, p75: number | null) => [
      `${group}：${number(visitors)} 位访客中 ${number(failed)} 位失败（${reasons}），加载 p75 ${p75 === null ? '–' : milliseconds(p75)}`,
      `${group}: ${number(failed)} of ${count(visitors, 'visitor')} failed (${reasons}), load time p75 ${p75 === null ? '–' : milliseconds(p75)}`,
    ],
    schedule: (steps: string, taken: number) => [`${steps}，已走 ${taken} 步`, `${steps}, ${taken} taken`],
    step: (step: number, of: number, by: string) => [
      `第 ${step} 步，共 ${of} 步，按 ${by} 的计划`,
      `Step ${step} of ${of}, as scheduled by ${by}`,
    ],
    added: (what: string) => [`新增 ${what}`, `Added ${what}`],
    removed: (what: string) => [`移除 ${what}`, `Removed ${what}`],
    approvalRule: (hours: number | null) => [
      hours === null ? '一个人就能决定' : `两个人决定，提议等待 ${lasting(hours)}`,
      hours === null ? 'One person decides' : `Two persons decide, a proposal waits ${lasting(hours)}`,
    ],
    proposal: (what: string, by: string) => [`${by} 提议的${what}`, `${what}, proposed by ${by}`],
    approved: (by: string) => [`由 ${by} 提议，第二个人批准`, `Proposed by ${by}, approved by a second person`],
    freezeOverridden: (freeze: string, reason: string) => [
      `冻结期（${freeze}）内破例：${reason}`,
      `Although frozen (${freeze}): ${reason}`,
    ],
    verdict: (p: string, alpha: number) => [
      `灰度版的失败明显多于稳定版，不是偶然（Fisher 检验 p = ${p}，界限 ${alpha}）`,
      `The candidate fails more often than stable, beyond chance (Fisher exact test, p = ${p}, limit ${alpha})`,
    ],
    slower: (build: string, metric: string, tried: string, stable: string, p: string, alpha: number) => [
      `${build} 比稳定版明显慢，不是偶然：${metric} p75 ${tried}，稳定版 ${stable}（秩和检验 p = ${p}，界限 ${alpha}）`,
      `${build} is slower than stable, beyond chance: ${metric} p75 ${tried}, stable ${stable} (rank test, p = ${p}, limit ${alpha})`,
    ],
  },
  confirm: {
    cancel: ['取消', 'Cancel'],
    leave: ['先关闭', 'Close'],
    why: ['原因（会写入记录）', 'Reason (goes into the log)'],
    whyNeeded: ['请写明原因', 'Give a reason'],
    changes: ['将会改变：', 'This will change:'],
    nothing: ['与现在相同，不会有变化。', 'Same as now, nothing will change.'],
    unanswered: [
      '没有收到答复，可能已经执行，也可能没有。恢复连接后，请先核对当前状态和记录，再决定是否重试',
      'No answer came, so it may have been carried out or not. Once the page is connected again, compare the state and the log with what you wanted before you try again.',
    ],
    removed: (name: string, version: string) => [`${name}：移除（${version}）`, `${name}: removed (${version})`],
    added: ['新增', 'new'],
    typed: (name: string) => [`请输入 ${name} 确认`, `Type ${name} to confirm`],
    mistyped: (name: string) => [`与 ${name} 不一致`, `This is not ${name}`],
    gentler: (way: string) => [`改为${way}（可以撤销）`, `${way} (can be undone)`],
  },
  kill: {
    forGood: (version: string) => [
      `${version} 将永远不再运行，不能撤销`,
      `${version} will never run again. This cannot be undone.`,
    ],
    takesPlace: (version: string) => [`所有人改用 ${version}`, `Everyone moves to ${version}`],
    nothingLeft: (places: string) => [
      `没有别的构建可以接替，所有人都将打不开：${places}`,
      `No other build can take over. Nobody will be able to open: ${places}`,
    ],
    endsCandidate: ['它所在的灰度随之结束', 'The canary it is part of ends too'],
  },
  /** Said if what a change names no longer exists. */
  gone: {
    proposal: [
      '这个提议已经过期，或者已由别人处理；记录里有它的结果',
      'This proposal has expired, or somebody else has answered it; the log says what became of it',
    ],
    freeze: ['这个冻结期已经移除了', 'This freeze window was removed already'],
    webhook: ['这个通知地址已经移除了', 'This webhook was removed already'],
    preview: ['这个本地预览已经结束了', 'This local preview has ended already'],
    schedule: [
      '这个计划已经走完，或者已经停掉；记录里有它的结果',
      'This schedule has taken its last step, or was ended; the log says what became of it',
    ],
  },
  busy: ['正在执行……', 'Working…'],
  turnedAway: [
    '你已转到别处，所以刚才要打开的没有打开；还需要就再按一次',
    'You turned to something else, so it did not open. Press again if you still want it.',
  ],
  checking: (build: string) => [`正在检查 ${build}……`, `Checking ${build}…`],
  done: {
    changed: (seq: number) => [`完成，现在是状态 ${seq}`, `Done. This is state ${seq} now.`],
    unchanged: ['没有需要变更的内容', 'There was nothing to change'],
    partly: ['只完成了一部分', 'Only a part of it was done'],
    checked: (build: string) => [`${build} 检查通过，可以上线`, `${build}: all checks passed, ready to activate`],
    override: ['临时链接已建立，两小时内有效', 'Override link made, valid for two hours'],
    overrideWithoutSite: [
      '临时链接已建立，两小时内有效：把下面这段加到任意页面地址之后',
      'Override link made, valid for two hours. Append this to the address of any page:',
    ],
    copy: ['复制', 'Copy'],
    copied: ['已复制', 'Copied'],
    copyFailed: ['没能复制，请长按上面的内容', 'Not copied: select the text above'],
    close: ['知道了', 'OK'],
  },
  justNow: ['刚刚', 'just now'],
  list: (items: readonly string[]) => [items.join('、'), items.join(', ')],
  listAndMore: (items: string, more: number) => [
    `${items}，另有 ${number(more)} 个`,
    `${items} and ${number(more)} more`,
  ],
  sentences: (...items: string[]) => [items.join('。'), items.join('. ')],
  /** A text with a note, if there is one. */
  aside: (text: string, note: string) => [`${text}${note && `（${note}）`}`, `${text}${note && ` (${note})`}`],
  titled: (title: string, text: string) => [`${title}：${text}`, `${title}: ${text}`],
  verb: (verb: string) => named(VERBS, verb),
  /** By HTTP status, 0 without a response. The server's lines are shown below. */
  refusal: (status: number): Pair => REFUSALS[status] ?? ['操作没有成功', 'That did not work.'],
  failure: (failure: string) => named(FAILURES, failure),
  signInFailure: (failure: string): Pair =>
    SIGN_IN_FAILURES[failure] ?? [
      '登录没有成功，发布台的日志里有原因',
      'Signing in failed. The console’s log says why.',
    ],
} satisfies Wording;
