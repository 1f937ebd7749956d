import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { isSameHost } from '@liaozhai/http/source';
import {
  escapeHtml,
  isLoopback,
  type LocalRemote,
  lineOf,
  localRemoteWord,
  parseLocalRemotes,
  ReleaseError,
  type Releases,
} from '@liaozhai/releases';
import { DAY_MS } from '@liaozhai/shared/contract';
import { type LocalChoice, localChoiceOf, setLocalChoice } from './cookies.ts';
import type { ServerEnv } from './env.ts';
import type { FrontContext } from './front.ts';

export interface LocalOptions {
  releases: Releases;
  env: Pick<ServerEnv, 'LOCAL_REMOTES'>;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** Name of the browser in permissions; the cookie cannot be derived from it. */
const browserOf = ({ secret }: LocalChoice) => sha256(secret).slice(0, 32);

/** Proves that the user agrees to what this browser was shown. */
const proofOf = ({ secret }: LocalChoice, words: readonly string[]) => sha256(`${secret} ${words.join(' ')}`);

const wordsOf = (remotes: readonly LocalRemote[]) => remotes.map(localRemoteWord);

/** Until when a browser may run these remotes from dev servers, as ISO date; null if it may not. */
async function allowedUntil(
  { releases, env }: LocalOptions,
  choice: LocalChoice,
  remotes: readonly LocalRemote[],
): Promise<string | null> {
  if (env.LOCAL_REMOTES === 'off') return null;
  const preview = await releases.previewFor(browserOf(choice));
  if (preview && wordsOf(remotes).every((word) => preview.remotes.includes(word))) return preview.expires;
  const isLoopbackOnly = remotes.every(({ origin }) => isLoopback(origin));
  return env.LOCAL_REMOTES === 'anyone' && isLoopbackOnly ? new Date(Date.now() + DAY_MS).toISOString() : null;
}

/** The remotes that this page runs from dev servers: agreed to in this browser, and still permitted. */
export async function localRemotesOf(context: FrontContext, options: LocalOptions) {
  const choice = localChoiceOf(context);
  if (!choice || choice.agreed.length === 0) return null;
  const local = readWords(choice.agreed);
  const expires = typeof local === 'string' ? null : await allowedUntil(options, choice, local);
  return expires === null || typeof local === 'string' ? null : { local, expires };
}

/** Withdraws the agreement; the permission stays, so that the user may agree again. */
export function withdrawLocalChoice(context: FrontContext) {
  const choice = localChoiceOf(context);
  if (choice) setLocalChoice(context, { ...choice, agreed: [] });
}

/** Returns the remotes, or why these words name none. */
function readWords(words: readonly string[]): LocalRemote[] | string {
  try {
    return parseLocalRemotes(words);
  } catch (cause) {
    if (cause instanceof ReleaseError) return lineOf(cause);
    throw cause;
  }
}

/** Whether an override names dev servers: an id of the store has no @. */
export const isLocalOverride = (override: string): boolean => override.includes('@');

const isEqual = (a: string, b: string) => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

/**
 * `?override=stories@http://localhost:3101`: asks the user before any of it runs, if this browser has the permission. A link
 * alone changes nothing.
 */
export async function answerLocalRequest(context: FrontContext, override: string, options: LocalOptions) {
  if (options.env.LOCAL_REMOTES === 'off') return answerPage(context, 403, '这里不运行本地代码', elsewhereInstructions);
  const remotes = readWords(override.split(','));
  if (typeof remotes === 'string') return answerPage(context, 400, '链接不对', [paragraph(remotes)]);
  const formerChoice = localChoiceOf(context);
  const choice = formerChoice ?? { secret: randomBytes(32).toString('hex'), agreed: [] };
  if (!formerChoice) setLocalChoice(context, choice);
  const words = wordsOf(remotes);
  const expires = await allowedUntil(options, choice, remotes);
  if (!expires) return answerPage(context, 403, '还没有允许', permissionInstructions(words, browserOf(choice)));
  const replaced = choice.agreed.filter((word) => !words.includes(word));
  const form = confirmationForm(words, replaced, expires, proofOf(choice, words));
  return answerPage(context, 200, '在这个浏览器里运行你自己的代码？', form);
}

/** Address of the same page without an override. Two leading slashes would name another site. */
export function withoutOverride(address: string): string {
  const { pathname, searchParams } = new URL(address);
  searchParams.delete('override');
  const query = searchParams.toString();
  return `${pathname.replace(/^\/+/, '/')}${query && `?${query}`}`;
}

/** Records the user's agreement. Another site cannot forge it: it lacks the cookie, the origin and the proof. */
export async function acceptLocalRequest(context: FrontContext, override: string, options: LocalOptions) {
  const isSameOrigin = isSameHost(context.req.header('origin'), context.get('source'));
  const choice = localChoiceOf(context);
  const remotes = readWords(override.split(','));
  if (!isSameOrigin || !choice || typeof remotes === 'string')
    return answerPage(context, 403, '没有运行', [paragraph('请重新打开链接。')]);
  const words = wordsOf(remotes);
  const { proof } = await context.req.parseBody().catch((): { proof?: unknown } => ({}));
  const isProofValid = typeof proof === 'string' && isEqual(proof, proofOf(choice, words));
  if (!isProofValid || !(await allowedUntil(options, choice, remotes)))
    return answerPage(context, 403, '没有运行', [paragraph('允许已经结束，或者链接变了。请重新打开链接。')]);
  setLocalChoice(context, { ...choice, agreed: words });
  return context.redirect(withoutOverride(context.req.url), 303);
}

/** Answers 410 to an expired or unknown `?override=<id>`: showing live builds would pass them off as the preview. */
export function answerExpiredOverride(context: FrontContext, live: string) {
  return answerPage(context, 410, '临时链接已失效', [
    paragraph(
      '这个链接到期了，或者里面的版本停用了、与现在运行的不再兼容，或者地址没有复制完整。它要给你看的版本没有打开。',
    ),
    heading('要看那个版本'),
    paragraph('向给你链接的人要一个新的。发布者在发布台，或者在自己的仓库里用命令行新建：'),
    copyableText('npm run release -- override 名字@版本 --for 2h'),
    paragraph('在产品自己的仓库里，npm run release -- 写作 pnpm release。'),
    heading('要看现在的版本'),
    `<p><a class="again" href="${escapeHtml(live)}">打开现在的版本</a></p>`,
  ]);
}

const paragraph = (text: string) => `<p>${escapeHtml(text)}</p>`;
const list = (words: readonly string[]) =>
  `<ul>${words.map((word) => `<li><code>${escapeHtml(word)}</code></li>`).join('')}</ul>`;
const leaveLink = '<a class="leave" href="/">不用了，回到首页</a>';

const copyableText = (text: string) =>
  `<div class="copied"><pre>${escapeHtml(text)}</pre><button type="button" class="copy">复制</button></div>`;
const heading = (text: string) => `<h2>${escapeHtml(text)}</h2>`;

/** Shown where the site runs no local code: other ways to preview a build. */
const elsewhereInstructions = [
  paragraph('这个网站没有打开本地预览（LOCAL_REMOTES=off），你的代码没有运行。'),
  heading('换一个站点'),
  paragraph('向发布管理者要一个打开了本地预览的站点，例如预发布站点，在它的地址后面用同一个链接。'),
  heading('或者先发布，再用链接看'),
  paragraph('发布不等于上线：没有链接的人看不到。在你的仓库里：'),
  copyableText('npm run release -- publish dist\nnpm run release -- override 名字@版本 --for 2h'),
  leaveLink,
];

/** Instructions for a team, which may have only its own repository, and for the release manager. */
const permissionInstructions = (words: readonly string[], browser: string) => {
  const request = [...words, browser].join(' ');
  return [
    paragraph('你的代码还没有运行：发布管理者要先为这个浏览器打开本地预览。'),
    list(words),
    heading('1. 把这一行发给发布管理者'),
    copyableText(request),
    heading('2. 管理者打开它'),
    paragraph('在发布台的「本地预览」里粘贴这一行，写上你的名字；或者用命令行：'),
    copyableText(`pnpm release preview open '${request}' --person 你的名字 --for 4h`),
    paragraph('在模块自己的仓库里，pnpm release 写作 npm run release --。'),
    heading('3. 打开之后，再看一次'),
    '<p><a class="again" href="">刷新这一页</a></p>',
    leaveLink,
  ];
};

/** `replaced`: dev servers of the former agreement, which this one ends. */
const confirmationForm = (words: readonly string[], replaced: readonly string[], expires: string, proof: string) => [
  paragraph('下面的代码不是发布的版本，没有经过检查。它能读到和做到你在这里能读到和做到的一切。'),
  list(words),
  ...(replaced.length > 0 ? [paragraph('这个浏览器现在运行的，会换成上面的：'), list(replaced)] : []),
  paragraph('只有当这是你自己的开发服务器，并且是你自己要求的，才继续。'),
  `<form method="post"><input type="hidden" name="proof" value="${proof}"><button>运行我的代码</button></form>`,
  paragraph(`到 ${expires.slice(0, 16).replace('T', ' ')}（UTC）为止，随时可以结束。`),
  leaveLink,
];

// the colours of shared/src/ui/tokens.css, light or dark as the system: nothing of the app is loaded here
const style = `:root{color-scheme:light dark;font:16px/1.6 system-ui,"PingFang SC","Noto Sans SC","Noto Sans CJK SC",sans-serif;
--paper:light-dark(#f7f3ea,#14120f);--surface:light-dark(#fffdf8,#1e1b17);--ink:light-dark(#1f1b16,#efe8da);--ink2:light-dark(#5c5347,#bdb2a0);
--line:light-dark(#e5ddcd,#332e27);--accent:light-dark(#b3392f,#e5766a);--on-accent:light-dark(#fff,#1c0f0d)}
body{margin:0;background:var(--paper);color:var(--ink)}main{max-width:40rem;margin:0 auto;padding:max(32px,8vh) 16px 48px;box-sizing:border-box}
h1{margin:0 0 12px;font:600 24px/1.35 "Songti SC","Noto Serif SC","Noto Serif CJK SC",serif}h2{margin:24px 0 4px;font-size:17px;line-height:1.35}p{margin:4px 0 8px;color:var(--ink2)}
code,pre{font:14px/1.6 ui-monospace,monospace;overflow-wrap:anywhere;white-space:pre-wrap}ul{padding-left:1.2em;margin:8px 0}
pre{margin:0;padding:12px 16px;user-select:all;-webkit-user-select:all}.copied{margin:8px 0;border:1px solid var(--line);border-radius:12px;background:var(--surface);overflow:hidden}
button,.again{min-height:44px;padding:0 24px;border:0;border-radius:22px;background:var(--accent);color:var(--on-accent);font:inherit;font-weight:600;cursor:pointer}
.again{display:inline-flex;align-items:center;text-decoration:none}.copy{display:block;width:100%;border-radius:0;border-top:1px solid var(--line);background:none;color:var(--accent)}
.leave{display:inline-block;padding:12px 0;color:var(--ink2)}`;

// the only script here; it copies text of the page
const script = `for(const button of document.querySelectorAll('.copy'))button.onclick=async()=>{
const text=button.previousElementSibling;try{await navigator.clipboard.writeText(text.textContent);button.textContent='已复制'}
catch{getSelection().selectAllChildren(text)}}`;

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const policy = [
  "default-src 'none'",
  `style-src ${hashOf(style)}`,
  `script-src ${hashOf(script)}`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** A standalone page: no code of the app or of a remote runs here that could press its button. */
function answerPage(context: FrontContext, status: 200 | 400 | 403 | 410, title: string, content: readonly string[]) {
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title>`;
  const html = `<!doctype html><html lang="zh-CN"><head>${head}<style>${style}</style></head><body><main><h1>${title}</h1>${content.join('')}</main><script>${script}</script></body></html>`;
  return context.html(html, status, {
    'content-security-policy': policy,
    'cache-control': 'no-store',
    // with `no-referrer`, browsers would send the form without its origin
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'cross-origin-opener-policy': 'same-origin',
  });
}
