import { backendSegments, type GateFile, STORAGE_KEYS } from '@liaozhai/shared/contract';
import type { Browser, BrowserContext, Route } from 'playwright';
import { listenIn, type Visit } from './pageWatch.ts';

const PHONE = { viewport: { width: 390, height: 844 }, serviceWorkers: 'block' } as const;

/** Who opens pages: somebody signed in, or not. */
export type Visitor = 'guest' | 'member';

const MEMBER = {
  id: 'gate',
  name: '试读人',
  username: 'gate',
  avatar: '',
  gender: '',
  balance: 100,
  invite_code: 'GATE',
  persona: '',
  email_verified_at: null,
  checked_in_today: false,
  check_in_streak: 0,
  version: 1,
};

type Answer = GateFile['answers'][string];

/** What a call is answered, by its path or, on another origin, its address; null where no file says it. Earlier files come first. */
type Answers = (method: string, address: string) => Answer | null;

const ESSENTIAL: Pick<GateFile, 'answers'> = {
  answers: {
    'GET /api/v1/user': { status: 200, body: { data: MEMBER } },
    'GET /sanctum/csrf-cookie': { status: 204, body: null },
  },
};

function answersOf(files: readonly (Pick<GateFile, 'answers'> | null)[]): Answers {
  const answers = files.flatMap((file) =>
    Object.entries(file?.answers ?? {}).map(([call, answer]) => {
      const [method, address = ''] = call.split(' ');
      const pattern = new RegExp(`^${address.replaceAll('.', '\\.').replace(/\/:\w+/g, '/[^/]+')}$`);
      return { method, pattern, answer };
    }),
  );
  return (asked, address) =>
    answers.find(({ method, pattern }) => method === asked && pattern.test(address))?.answer ?? null;
}

/** The member as pages keep one. */
function storedMember(answers: Answers): Record<string, string> {
  const body = answers('GET', '/api/v1/user')?.body;
  const data = body instanceof Object && 'data' in body ? body.data : body;
  const user = { ...MEMBER, ...(data instanceof Object ? data : {}) };
  return {
    [STORAGE_KEYS.user]: JSON.stringify(user),
    [STORAGE_KEYS.owner]: String(user.id),
    [STORAGE_KEYS.login]: String(user.username),
  };
}

const backend: readonly string[] = backendSegments;
const isOfBackend = (pathname: string) => backend.includes(pathname.split('/')[1] ?? '');

/** Where the pages of a visit may call, and what they are answered there. */
interface Reach {
  /** of the set's server */
  origin: string;
  /** Other origins, which the pages' policy allows. */
  connect: readonly string[];
}

const NO_ANSWER: Answer = { status: 503, body: { message: '' } };

async function fulfil(route: Route, answers: Answers, { origin }: Reach): Promise<void> {
  const request = route.request();
  const url = new URL(request.url());
  const address = url.origin === origin ? url.pathname : url.origin + url.pathname;
  const { status, body } = answers(request.method(), address) ?? NO_ANSWER;
  await route.fulfill({
    status,
    contentType: 'application/json',
    headers: { 'access-control-allow-origin': origin, 'access-control-allow-credentials': 'true' },
    body: status === 204 ? '' : JSON.stringify(body),
  });
}

/** Answers calls to other origins here: what a page does in the gate reaches nobody's servers. */
async function answerElsewhere(context: BrowserContext, answers: Answers, reach: Reach): Promise<void> {
  const origins = reach.connect.map((each) => new URL(each).origin);
  const isElsewhere = (url: URL) => origins.includes(url.origin);
  await context.route(isElsewhere, (route) => fulfil(route, answers, reach));
  if (origins.some((each) => each.startsWith('ws')))
    await context.routeWebSocket(isElsewhere, (socket) => socket.close());
}

/** A guest, who is answered by the server of the set. */
async function openGuest(browser: Browser, reach: Reach): Promise<BrowserContext> {
  const context = await browser.newContext(PHONE);
  await listenIn(context);
  await answerElsewhere(context, () => null, reach);
  return context;
}

/** A member whose calls are answered here, and by no backend: what a page does as one changes nothing real. */
async function openMember(browser: Browser, reach: Reach, answers: Answers): Promise<BrowserContext> {
  const { origin } = reach;
  const context = await browser.newContext(PHONE);
  await listenIn(context);
  await context.addCookies([{ name: 'XSRF-TOKEN', value: 'gate', url: origin }]);
  await context.addInitScript((entries) => {
    for (const [key, value] of Object.entries(entries)) localStorage.setItem(key, value);
  }, storedMember(answers));
  const isCall = ({ pathname }: URL) =>
    isOfBackend(pathname) || ['GET', 'POST'].some((method) => answers(method, pathname) !== null);
  await context.route(
    (url) => url.origin === origin && isCall(url),
    (route) => fulfil(route, answers, reach),
  );
  // where a tap leads out of the product
  await context.route(
    (url) => url.origin !== origin,
    (route) => route.abort(),
  );
  // the route that was added last comes first
  await answerElsewhere(context, answers, reach);
  return context;
}

/**
 * Makes the context of a visit. A member is answered by the file of the build that it is made for, then by those of the others; who the
 * member is, the first alone says.
 */
export function contextOpener(browser: Browser, reach: Reach, files: ReadonlyMap<string, GateFile | null>) {
  return ({ as, by }: Pick<Visit, 'as' | 'by'>): Promise<BrowserContext> => {
    if (as === 'guest') return openGuest(browser, reach);
    const others = [...files].filter(([id]) => id !== by).map(([, file]) => file);
    return openMember(browser, reach, answersOf([files.get(by) ?? null, ESSENTIAL, ...others]));
  };
}
