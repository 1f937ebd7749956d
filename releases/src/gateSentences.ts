/** A sentence in English and in Chinese. */
export type Sentence = readonly [english: string, chinese: string];

const LAZILY = ['load parts of it lazily', '请把一部分改为按需加载'] as const;
const FORBIDS = 'the policy forbids them';

/** What the gate finds in builds, and what is wrong with the store's documents. */
export const GATE_SENTENCES = {
  // the gate
  gateRefused: ['the gate refused this set', '这些构建没有通过检查'],
  gateCure: [
    'Mend and publish again. A manager can switch against these findings at the command line: --force with --why.',
    '请修正后重新发布。管理者可以在命令行上写明理由，不顾检查结果上线（--force --why）',
  ],
  unfit: ['these builds do not fit each other', '这些构建互不兼容'],
  unfitCure: [
    'To switch all the same, use --force with --why.',
    '管理者可以在命令行上写明理由，仍然切换（--force --why）',
  ],
  finding: ['{check}: {problem}', '{check}：{problem}'],
  ofBuild: ['{build}: {problem}', '{build}：{problem}'],
  unjudged: ['could not be judged: {cause}', '无法判断：{cause}'],
  storedMissing: ['{file} is missing: publish the same build again', '缺少 {file}，请重新发布同样的构建'],
  storedChanged: [
    `{file} is not what was published: publish it again as a new version`,
    `{file} 与发布时不同，请作为新版本重新发布`,
  ],
  servedAs: [
    '{file} would be served as {type}, not {expected}: rename it to end in .{kind}',
    '{file} 会以 {type} 提供，应为 {expected}，请改名为以 .{kind} 结尾',
  ],
  servedStatus: ['{file} is served with status {status}', '{file} 的状态码是 {status}'],
  servedHeader: ['{file} is served with {header}: {value}', '{file} 的响应头 {header} 是 {value}'],
  exposesNothing: [
    'exposes no "./remote": expose src/remote.ts under that name',
    '没有对外提供 "./remote"，请以这个名称提供 src/remote.ts',
  ],
  moduleUnnamed: ['names no script of its exposed module in module.js', 'module.js 里没有写明对外模块的脚本'],
  nothingToOpen: ['has neither a route nor a slot, so nobody could open it', '没有页面也没有插槽，谁也打不开它'],
  labelBlank: [
    'its label shows nothing: name the part of the app in it',
    '它的 label 没有可见的字，请写明是应用的哪一部分',
  ],
  globalMissing: [
    'its {file} does not contain the {field} "{name}" that its description names',
    '它的 {file} 里没有说明中写的 {field}「{name}」',
  ],
  hashesTooLarge: [
    'its {count} scripts and stylesheets put {kib} KiB of hashes into every page, the budget is {limit}: merge small chunks',
    '它的 {count} 个脚本和样式会给每个页面加上 {kib} KiB 的校验值，预算是 {limit}，请合并小分块',
  ],
  codeTooLarge: [
    'its code weighs {kib} KiB br in all, the budget is {limit}: leave out libraries, or split the remote',
    '它的代码共 {kib} KiB br，预算是 {limit}，请去掉一些库，或拆分模块',
  ],
  entryTooLarge: [
    `the entry {file} has {kib} KiB to parse, the budget is {limit}: ${LAZILY[0]}`,
    `入口 {file} 要解析 {kib} KiB，预算是 {limit}，${LAZILY[1]}`,
  ],
  partTooLarge: [
    `{part} weighs {kib} KiB br, the budget is {limit}: ${LAZILY[0]}`,
    `{part}有 {kib} KiB br，预算是 {limit}，${LAZILY[1]}`,
  ],
  hostScript: ['the host script', '主程序脚本'],
  pageTemplate: ['the page template', '页面模板'],
  entry: ['the entry {file}', '入口 {file} '],
  partNeeds: ['everything "{name}" needs', '「{name}」需要的全部文件'],
  templateMissing: ['{file} is missing from the store', '存储里没有 {file}'],
  templateMark: ['{file} must hold {mark} exactly once', '{file} 里必须恰好有一处 {mark}'],
  templateDoctype: ['{file} must begin with <!doctype html>', '{file} 必须以 <!doctype html> 开头'],
  templateScripts: [
    '{file} must hold the loader and, at most, the appearance as inline scripts, not {count}',
    '{file} 的内联脚本只能是加载器，最多再加外观脚本，现在有 {count} 个',
  ],
  templateSource: [
    '{file} must not name a script by address: the loader appends the host',
    '{file} 不能写明脚本地址，主程序由加载器加载',
  ],
  templateHandlers: [
    `{file} must not hold inline event handlers: ${FORBIDS}`,
    '{file} 不能有内联事件处理，安全策略不允许',
  ],
  templateStyles: [`{file} must not hold style attributes: ${FORBIDS}`, '{file} 不能有 style 属性，安全策略不允许'],
  coreTooNew: [
    "an entry of federation {own} cannot take the host's core of {host}: build it without experiments.externalRuntime, or with another version",
    '用联邦 {own} 构建的入口不能使用主程序 {host} 的核心，请不用 experiments.externalRuntime 构建，或换一个版本',
  ],
  carriesUnfit: [
    'carries {library} {version}, which its own range {range} refuses: set requiredVersion to a range that allows it',
    '自带 {library} {version}，不在它自己要求的 {range} 之内，请把 requiredVersion 设为包含它的范围',
  ],
  needsUnshared: [
    'needs {library} {range}, which the host does not share: bundle it, or release a host that shares it',
    '需要 {library} {range}，主程序不提供，请把它打包进来，或先发布提供它的主程序',
  ],
  needsOther: [
    'needs {library} {range}, the host shares {version}: widen the range, or release a host that has it',
    '需要 {library} {range}，主程序提供的是 {version}，请放宽范围，或先发布有它的主程序',
  ],
  needsContract: [
    'needs shared/runtime {range}, the host has {version}: release the host first',
    '需要 shared/runtime {range}，主程序是 {version}，请先发布主程序',
  ],
  needsFormerContract: [
    'needs shared/runtime {range}, the host has {version}: build it again for that host, and switch what belongs together in one command',
    '需要 shared/runtime {range}，主程序是 {version}，请按这个主程序重新构建，并在命令行上一起上线（activate 可以写几个构建）',
  ],
  catchesAll: ['route {path} would catch every address: name the paths', '页面 {path} 会占用所有地址，请写明路径'],
  starInside: [
    'route {path} has * before its end, where it stands for itself: end the path with it',
    '页面 {path} 的 * 不在末尾，只表示星号本身，请把它放在末尾',
  ],
  ofServer: ['route {path} belongs to the server: choose another', '页面 {path} 属于服务器，请换一个'],
  likeAFile: [
    'route {path} looks like a file to web servers: leave out the dot',
    '页面 {path} 会被当作文件，请去掉点号',
  ],
  manyOptional: [
    'route {path} has more than {most} optional parts: split it',
    '页面 {path} 的可选部分多于 {most} 个，请拆开',
  ],
  taken: ['{place} belongs to {owner} already: choose another', '{place}已经属于{owner}，请换一个'],
  route: ['route {path}', '页面 {path} '],
  routeName: ['route name "{name}"', '页面名「{name}」'],
  slot: ['slot "{name}"', '插槽「{name}」'],
  slotNamed: ['slot {slotName}', '插槽 {slotName}'],
  forMembers: ['{path} (members)', '{path}（会员）'],
  theHost: ['the host', '主程序'],
  sameGlobals: [
    'container and chunks share the global {name}: give each its own',
    '容器和分块共用全局变量 {name}，请各用一个',
  ],
  sameFiles: [
    'has the very files of {build}, only its version is another: keep that one, or publish what you changed',
    '与 {build} 的文件完全相同，只是版本不同，请保留那一个，或发布你的改动',
  ],
  globalOfBrowser: [
    'global "{name}" is a part of the browser, which the page would lose: put the version into the name and build again',
    '全局变量「{name}」是浏览器自带的，页面会因此失去它，请把版本写进名字后重新构建',
  ],
  globalOfRemote: [
    'global "{name}" is the name of {build}, which others import by it: put the version into the name',
    '全局变量 {name} 与 {build} 同名，别的模块引用它时会找错，请在容器名里加上版本',
  ],
  sharesGlobal: [
    "shares a global with {build}: give each build's container (`name`) and chunks (`output.uniqueName`) names of their own, made of its version or the hash of its sources",
    '与 {build} 共用一个全局变量，请用版本或源码的校验值给每个构建的容器（name）和分块（output.uniqueName）单独命名',
  ],
  onPageAs: ['on {path} as a {visitor} {seen}', '{visitor}打开 {path} 时，{seen}'],
  onPage: ['on {path} {seen}', '打开 {path} 时，{seen}'],
  guest: ['guest', '游客'],
  member: ['member', '会员'],
  tapped: ['{seen} after a tap on "{name}"', '{seen}（点了「{name}」之后）'],
  held: ['{seen} after a long press on "{name}"', '{seen}（长按「{name}」之后）'],
  scrolled: ['{seen} after a scroll to the end', '{seen}（滚动到底之后）'],
  violated: ['the content security policy was violated: {what}', '违反了内容安全策略：{what}'],
  failedWith: ['a build failed: the page reported {failure}: {message}', '有构建失败，页面报告{failure}：{message}'],
  failed: ['a build failed: the page reported {failure}', '有构建失败，页面报告{failure}'],
  threw: ['an error was thrown: {message}', '抛出了错误：{message}'],
  pageAnswered: ['the page answered {status}', '页面的状态码是 {status}'],
  answered: ['{path} answered {status}', '{path} 的状态码是 {status}'],
  unchecked: [
    "{path} went past the host's asset loader, unchecked and loaded twice: name it by the href of a link element",
    '{path} 绕过了主程序的资源加载器，没有校验，还加载了两次，请写在 link 元素的 href 里',
  ],
  neverRan: ['its entry did not run: the page never saw its container', '它的入口没有运行，页面上一直没有它的容器'],
  neverCame: [
    'its module never came: await nothing at the top of a module that may not come, and import other remotes by import() only',
    '它的代码一直没有加载完，请不要在代码顶层等待可能不来的东西，引用别的模块只用 import()',
  ],
  blank: ['the page stayed blank', '页面一直是空白'],
  stuck: ['the page answered nothing any more: a script of it never ends', '页面不再响应，有脚本一直没有结束'],
  dialog: [
    '{name}() interrupts visitors while the page loads: show its text in the page',
    '页面打开时调用了 {name}()，会打断读者，请把内容写在页面里',
  ],
  manyEntries: [
    'the page writes to the history again and again: Safari throws after 100 times',
    '页面不停地写入浏览记录，Safari 在 100 次后会报错',
  ],
  reloads: ['the page reloads again and again: reload it once at most', '页面不停地重新加载自己，请最多重新加载一次'],
  changedScriptRan: [
    '{path} ran with changed bytes: let the host load it, by the src of a script element',
    '{path} 被改动后仍然运行，请写在 script 元素的 src 里，由主程序加载',
  ],
  changedStyleHeld: [
    '{path} took effect with changed bytes: let the host load it, by the href of a link element',
    '{path} 被改动后仍然生效，请写在 link 元素的 href 里，由主程序加载',
  ],
  unopened: [
    'no page opened {parts}: answer what their pages ask for in {file}, or name them there under "unopened" with the reason',
    '没有页面打开过 {parts}，请在 {file} 里写明这些页面要的答复，或在其中的 "unopened" 写明不打开的理由',
  ],

  // documents and builds of the store
  theChannel: ['channel {channel}', '通道 {channel} '],
  theState: ['audit/{channel}/{seq}.json', '记录里的 audit/{channel}/{seq}.json '],
  theAgenda: ['the agenda of {channel}', '{channel} 的计划'],
  theWebhooks: ['the list of webhooks of {channel}', '{channel} 的通知列表'],
  theRecord: ['build.json of {build}', '{build} 的 build.json '],
  theSet: ['set {hash}', '集合 {hash} '],
  theClaim: ['versions/{claim} of {store}', '{store}里的 versions/{claim} '],
  notJson: ['{what} is damaged: it is not JSON ({cause})', '{what}已损坏，不是 JSON（{cause}）'],
  documentDamaged: ['{what} is damaged', '{what}已损坏'],
  documentUnsigned: ["{what} is not signed by this store's key", '{what}没有用这个存储的密钥签名'],
  documentNewer: [
    '{what} was written by a newer version, and has what this one does not know',
    '{what}由更新的版本写成，里面有这个版本不认识的内容',
  ],
  documentNewerCure: [
    'Update this command line, console or server, or do it by a newer one. Nothing was changed: leave the document as it is.',
    '请更新发布台。什么都没有改变，请让它保持原样',
  ],
  documentOfAnother: ['{what} holds the document of {other}', '{what}里是 {other} 的内容'],
  keptChanging: ['{what} kept changing', '{what}一直在变'],
  againCure: ['Try again.', '请再试一次'],
  channelCure: [
    'Restore the newest good state: see "A damaged channel" in docs/deploying/bad-days.md.',
    '请恢复最近的完好状态，见 docs/deploying/bad-days.md 的「A damaged channel」',
  ],
  agendaCure: [
    'Nothing scheduled goes on without it, rolling back and stopping do. Restore agendas/ (on a file system .generations/agendas/ as well) from a copy of the store, or remove it and set windows and schedules again.',
    '没有它，计划不再前进；仍能回退和中止。请从存储的副本恢复 agendas/（文件存储还有 .generations/agendas/），或删除它，重新设定冻结期和计划',
  ],
  webhooksCure: [
    'Restore webhooks/ (on a file system .generations/webhooks/ as well) from a copy of the store, or remove it and add them again.',
    '请从存储的副本恢复 webhooks/（文件存储还有 .generations/webhooks/），或删除它，重新新增',
  ],
  claimCure: [
    'Restore it from a copy of the store, or remove it and publish the build again.',
    '请从存储的副本恢复它，或删除它，重新发布这个构建',
  ],
  setMissing: ['set {hash} is missing from {store}', '{store}里没有集合 {hash}'],
  setChanged: ['set {hash} was changed after it was made', '集合 {hash} 在建立之后被改动过'],
  otherStateCure: ['Roll back to another state.', '请回退到另一个状态'],
  otherBuild: ['{build} is not the build the channel was signed with', '{build} 不是通道签名时的那个构建'],
  rollBackCure: ['Roll back.', '请回退'],
  otherHash: ['build.json of {build} does not match its own hash', '{build} 的 build.json 与它自己的校验值不符'],
  publishNewCure: ['Publish the build again as a new version.', '请作为新版本重新发布这个构建'],
  publishAgainCure: ['Publish the build again.', '请重新发布这个构建'],
  goneMeanwhile: ['{builds} is not in {store} any more', '{store}里已经没有 {builds}'],
  goneMeanwhileCure: ['Publish it again, then switch.', '请重新发布，再切换'],
  notPublished: ['{build} is not in {store}', '{store}里没有 {build}'],
  notPublishedCure: ['List what is there with `builds {name}`, or publish it.', '请在「构建」里看有哪些，或发布它'],
  noBuildId: ['"{text}" is not a build id', '「{text}」不是构建的名称'],
  noBuildIdCure: [
    'Build ids look like stories@1.4.2 or stories@1.4.2+3f9c1a7b20de. List them with `builds`, or make one with `publish <dir>`.',
    '例如 stories@1.4.2 或 stories@1.4.2+3f9c1a7b20de；本机的文件夹要先发布',
  ],
  twoHosts: ['a set has one host build, and {build} is a second one', '一个集合只有一个主程序，{build} 是第二个'],
  twoHostsCure: ['Name only one of them.', '请只选一个'],
  noHost: ['a set needs a host build', '集合里没有主程序'],
  noHostCure: [
    'Publish the host and name it too: `activate host@… stories@… …`.',
    '请发布主程序，并在命令行上一起上线（activate 可以写几个构建）',
  ],
  storeFailed: ['{store} failed: {problem}', '{store}出错：{problem}'],
  folderCure: ['Check that the folder exists, has room and is yours to write.', '请检查文件夹是否存在、有空间、可写'],
  bucketCure: [
    'Check the bucket, AWS_ENDPOINT_URL_S3 and the credentials (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY).',
    '请检查存储桶、AWS_ENDPOINT_URL_S3 和凭据（AWS_ACCESS_KEY_ID、AWS_SECRET_ACCESS_KEY）',
  ],
  unwritten: ['{store} could not write {file}', '{store}没能写入 {file}'],
  unwrittenCure: ['Try again, and look at the store.', '请再试一次，并检查存储'],
} as const satisfies Record<string, Sentence>;
