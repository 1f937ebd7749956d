import { backendSegments, type GateFile, STORAGE_KEYS } from '@liaozhai/shared/contract';
import type { Browser, BrowserContext, Route } from 'playwright';
import { instrumentContext, type Visit } from './pageWatch.ts';

const PHONE = { viewport: { width: 390, height: 844 }, serviceWorkers: 'block' } as const;

/** Kind of visitor that opens pages: signed in or not. */
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

/** Returns the mocked response of a call, by its path or, on another origin, its address; null without a mock. */
type Answers = (method: string, address: string) => Answer | null;

const DEFAULT_ANSWERS: Pick<GateFile, 'answers'> = {
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
  return (calledMethod, address) =>
    answers.find(({ method, pattern }) => method === calledMethod && pattern.test(address))?.answer ?? null;
}

/** Returns the entries of `localStorage` for a signed-in member. */
function memberStorage(answers: Answers): Record<string, string> {
  const body = answers('GET', '/api/v1/user')?.body;
  const data = body instanceof Object && 'data' in body ? body.data : body;
  const user = { ...MEMBER, ...(data instanceof Object ? data : {}) };
  return {
    [STORAGE_KEYS.user]: JSON.stringify(user),
    [STORAGE_KEYS.owner]: String(user.id),
    [STORAGE_KEYS.login]: String(user.username),
  };
}

const BACKEND_SEGMENTS: readonly string[] = backendSegments;
const isOfBackend = (pathname: string) => BACKEND_SEGMENTS.includes(pathname.split('/')[1] ?? '');

/** Origins that the pages of a visit may call. */
interface Reach {
  origin: string;
  /** Other origins that the pages' policy allows. */
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

/** Mocks calls to other origins, so that pages in the gate never reach real servers. */
async function mockOtherOrigins(context: BrowserContext, answers: Answers, reach: Reach): Promise<void> {
  const origins = reach.connect.map((each) => new URL(each).origin);
  const isOtherOrigin = (url: URL) => origins.includes(url.origin);
  // a script or a tap may lead to another site
  await context.route(
    (url) => url.origin !== reach.origin,
    (route) => route.abort(),
  );
  // Playwright applies the route that was added last
  await context.route(isOtherOrigin, (route) => fulfil(route, answers, reach));
  if (origins.some((each) => each.startsWith('ws')))
    await context.routeWebSocket(isOtherOrigin, (socket) => socket.close());
}

/** Signs a member in. Its calls are mocked and reach no backend, so that pages change no real data. */
async function signIn(context: BrowserContext, reach: Reach, answers: Answers): Promise<void> {
  const { origin } = reach;
  await context.addCookies([{ name: 'XSRF-TOKEN', value: 'gate', url: origin }]);
  await context.addInitScript((entries) => {
    for (const [key, value] of Object.entries(entries)) localStorage.setItem(key, value);
  }, memberStorage(answers));
  const isCall = ({ pathname }: URL) =>
    isOfBackend(pathname) || ['GET', 'POST'].some((method) => answers(method, pathname) !== null);
  await context.route(
    (url) => url.origin === origin && isCall(url),
    (route) => fulfil(route, answers, reach),
  );
}

/**
 * Makes the context of a visit. A guest's calls go to the set's server. A member's calls are mocked by the gate file of the visit's build, then by those of others. Only the
 * first file can define the member.
 */
export function contextOpener(browser: Browser, reach: Reach, files: ReadonlyMap<string, GateFile | null>) {
  return async ({ as, by }: Pick<Visit, 'as' | 'by'>): Promise<BrowserContext> => {
    const context = await browser.newContext(PHONE);
    await instrumentContext(context);
    const otherFiles = [...files].filter(([id]) => id !== by).map(([, file]) => file);
    const answers = answersOf(as === 'member' ? [files.get(by) ?? null, DEFAULT_ANSWERS, ...otherFiles] : []);
    if (as === 'member') await signIn(context, reach, answers);
    await mockOtherOrigins(context, answers, reach);
    return context;
  };
}
