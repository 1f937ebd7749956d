import { CONSENT_VERSION } from '@liaozhai/shared/contract';
import { type Check, checksOf, Deviation, expectThat, shown, tolerated } from '../check.ts';
import { expectFields, idOf, User, unwrap } from '../entities.ts';
import { announcedRules, userOf, type World } from '../world.ts';

const GUESSES = 12;

/** Hint for the most common reason for a missing session. */
const whichPage = ({ target }: World) => `is ${target.origin} the page that it keeps sessions for (--origin)?`;

const guess = async (world: World, name: string) =>
  (await world.visitor()).post('/login', { login: name, password: '000000-' });

export const signInChecks: Check[] = [
  ...checksOf('GET /sanctum/csrf-cookie', {
    async 'sets a token that scripts may read'(world) {
      const visitor = await world.visitor();
      (await visitor.get('//sanctum/csrf-cookie')).expectSuccess();
      const line = visitor.cookieLines.get('XSRF-TOKEN') ?? 'no cookie XSRF-TOKEN';
      expectThat(/^XSRF-TOKEN=/.test(line) && !/httponly/i.test(line), line);
    },
  }),
  ...checksOf('POST /v1/register', {
    async 'signs up whom the page’s own form describes'(world) {
      const { answer } = await world.registration('mine');
      const isLost = answer.status === 419 || answer.status >= 500;
      if (isLost) throw new Deviation(`${shown(answer)}: ${whichPage(world)}`, answer.status);
      answer.expectSuccess();
      User.expectReadable(userOf(answer));
    },
    'answers 201 with {user, type}, type username': tolerated(async (world) => {
      const { answer } = await world.registration('mine');
      answer.expectStatus(201);
      const { user, type } = answer.entity;
      expectThat(user !== undefined && type === 'username', answer);
    }, 'takes any success for one; any type but email closes the popup'),
    'gives the new account its name and the gift that the rules name': tolerated(async (world) => {
      const { form, answer, visitor } = await world.registration('mine');
      const { balance } = userOf(answer);
      const { sign_up_gift = balance } = await announcedRules(visitor);
      expectFields('User', userOf(answer), { name: form.name, balance: sign_up_gift });
    }, 'shows the user of the answer'),
    async 'leaves the new account signed in'(world) {
      const { visitor, id } = await world.member('mine');
      const answer = await visitor.get('/user');
      if (answer.status === 401) throw new Deviation(`${shown(answer)}: ${whichPage(world)}`, 401);
      answer.expectStatus(200);
      expectThat(idOf(answer.entity) === id, 'somebody else');
    },
    'keeps the session’s cookie from scripts and other sites': tolerated(async (world) => {
      const { visitor } = await world.member('mine');
      const lines = [...visitor.cookieLines.values()].filter((line) => !line.startsWith('XSRF-TOKEN='));
      const lax = lines.filter((line) => !/httponly/i.test(line) || !/samesite=(lax|strict)/i.test(line));
      expectThat(lines.length > 0 && lax.length === 0, lax[0]?.replace(/=[^;]*/, '=…') ?? 'no cookie');
    }, 'works; a script that got in could take the session along'),
    'sets cookies that a browser keeps and sends to every call': tolerated(async (world) => {
      const { visitor } = await world.member('mine');
      const { hostname, protocol } = new URL(world.target.origin);
      const lost = [...visitor.cookieLines.values()].find((line) => {
        const attribute = (name: string) => new RegExp(`; *${name}(?:=([^;]*))?(?:;|$)`, 'i').exec(line);
        const domain = attribute('domain')?.[1]?.replace(/^\./, '').toLowerCase();
        const isSecure = attribute('secure') !== null;
        return (
          (isSecure && protocol === 'http:') ||
          (!isSecure && /^none$/i.test(attribute('samesite')?.[1] ?? '')) ||
          (attribute('path')?.[1] ?? '/') !== '/' ||
          (domain !== undefined && domain !== hostname && !hostname.endsWith(`.${domain}`))
        );
      });
      expectThat(lost === undefined, lost?.replace(/=[^;]*/, '=…') ?? '');
    }, 'says 登录没能保持; Secure alone is right where the page is opened over https'),
    'refuses an empty form with 422 at login, password and name': tolerated(async (world) => {
      const answer = await (await world.visitor()).post('/register', {});
      for (const field of ['login', 'password', 'name']) answer.expectFieldErrors(field);
    }, 'does not send one; shows the server’s message'),
    'refuses a name that is in use with 422 at login': tolerated(async (world) => {
      const { login } = await world.member('mine');
      const form = { login, password: '246810', name: '重名' };
      (await (await world.visitor()).post('/register', form)).expectFieldErrors('login');
    }, 'shows the server’s message, or 注册失败'),
    'keeps the version of the terms that was agreed to, where it says so': tolerated(async (world) => {
      if (!(await world.announces('account.consent'))) return;
      const { answer } = await world.registration('mine');
      const { consent_version, consented_at } = unwrap((answer.body as { user?: unknown }).user);
      expectThat(consent_version === CONSENT_VERSION && consented_at !== null, answer);
    }, 'works; nobody can tell later what was agreed to'),
  }),
  ...checksOf('POST /v1/login', {
    async 'signs in and returns the user'(world) {
      const mine = await world.member('mine');
      const visitor = await world.visitor();
      const answer = (await visitor.post('/login', { login: mine.login, password: mine.password })).expectSuccess();
      expectThat(idOf(userOf(answer)) === mine.id, answer);
      const [{ name }, { name: own }] = [userOf(answer), (await visitor.get('/user')).expectStatus(200).entity];
      expectThat(name === own, `${name} at the sign-in, ${own} with the user`);
    },
    'begins a new session and ends the one before': tolerated(async (world) => {
      const { visitor, login, password } = await world.member('spare');
      const before = world.sameSessionVisitor({ visitor, login, password, id: '' });
      (await visitor.post('/login', { login, password })).expectSuccess();
      const [old, fresh] = [await before.get('/user'), await visitor.get('/user')];
      const statuses = `${old.status} to the old one, ${fresh.status} to the new`;
      expectThat(old.status === 401 && fresh.status === 200, statuses);
    }, 'works; a session that somebody else knew before the sign-in is signed in too'),
    'refuses a wrong password with 422 at login or password, not with 401': tolerated(async (world) => {
      (await guess(world, (await world.member('mine')).login)).expectFieldErrors('login', 'password');
    }, 'takes 401 for a session that ran out: the popup turns from sign-in to sign-up'),
    'does not tell a name that is unknown from a wrong password': tolerated(async (world) => {
      const realLogin = await guess(world, (await world.member('mine')).login);
      const unknown = await guess(world, 'conformance0');
      expectThat(shown(realLogin) === shown(unknown), `${shown(realLogin)} · ${shown(unknown)}`);
    }, 'shows what the server says; names can be found out'),
  }),
  ...checksOf('POST /v1/logout', {
    async 'ends the session for good, and no other'(world) {
      const mine = await world.member('mine');
      const session = await world.signIn(mine);
      const keptCookies = world.sameSessionVisitor({ ...mine, visitor: session });
      (await session.post('/logout')).expectSuccess();
      const statuses = [await session.get('/user'), await keptCookies.get('/user'), await mine.visitor.get('/user')];
      const statusList = statuses.map(({ status }) => status).join();
      expectThat(statusList === '401,401,200', `${statusList} for it, for its old cookies, and for the other session`);
    },
  }),
  ...checksOf('POST /v1/forgot-password', {
    'takes an address, and answers alike for any': tolerated(async (world) => {
      const visitor = await world.visitor();
      const answer = await visitor.post('/forgot-password', { email: 'conformance-nobody@example.org' });
      answer.expectSuccess();
      const other = await visitor.post('/forgot-password', { email: 'conformance-nobody-else@example.org' });
      expectThat(shown(answer) === shown(other), `${shown(answer)} · ${shown(other)}`);
    }, 'says that a link is on its way if the address is known'),
    'refuses what is no address with 422 at email': tolerated(async (world) => {
      (await (await world.visitor()).post('/forgot-password', { email: 'nobody' })).expectFieldErrors('email');
    }, 'does not send one'),
  }),
  ...checksOf('POST /v1/reset-password', {
    'refuses a link of nobody’s with 422 at email or token': tolerated(async (world) => {
      const form = { token: '0'.repeat(43), email: 'conformance-nobody@example.org' };
      const passwords = { password: '975310', password_confirmation: '975310' };
      const answer = await (await world.visitor()).post('/reset-password', { ...form, ...passwords });
      answer.expectFieldErrors('email', 'token');
    }, 'shows the server’s message'),
  }),
];
/** Runs last, since it uses up the address's rate limit. */
export const lastChecks: Check[] = [
  ...checksOf('POST /v1/login', {
    [`meets a guesser with 429 and Retry-After within ${GUESSES} guesses`]: tolerated(async (world) => {
      const { login: name } = await world.member('spare');
      const thief = await world.visitor({ isHasty: true });
      for (let attempt = 1; attempt <= GUESSES; attempt += 1) {
        const answer = await thief.post('/login', { login: name, password: `guess-${attempt}` });
        if (answer.status !== 429) continue;
        return expectThat(Number(answer.headers.get('retry-after')) > 0, '429 without Retry-After');
      }
      throw new Deviation(`${GUESSES} wrong passwords and no 429`);
    }, 'works; nothing holds up who guesses passwords'),
  }),
];
