import { randomUUID } from 'node:crypto';
import { isRouteMissing } from '@liaozhai/shared/contract';
import { type Call, isRequired, routeOf } from '../calls.ts';
import { type Check, checksOf, Deviation, expectThat, laravelProblem, shown, tolerated, Untried } from '../check.ts';
import { idOf, recordOf } from '../entities.ts';
import { pathOf, type Visitor, type VisitorAnswer } from '../visitor.ts';
import {
  conversationIdOf,
  createdId,
  currentUser,
  FOREIGN_SITE,
  requestChannel,
  sendMessage,
  type World,
} from '../world.ts';

const ELSEWHERE = { Origin: FOREIGN_SITE, Referer: `${FOREIGN_SITE}/` };

type Targets = Awaited<ReturnType<typeof targetsOf>>;

/** An attempt to access another user's resource. */
interface Attempt {
  call: Call;
  /** name of the target, if the call has several */
  target?: string;
  /** The victim's resources exist before the attempt. */
  send(attacker: Visitor, victim: Targets): Promise<VisitorAnswer>;
  /** Whether the response itself leaks data. */
  gives(answer: VisitorAnswer): boolean;
}

const isSuccess = ({ status }: VisitorAnswer) => status < 300;
const hasItems = (answer: VisitorAnswer) => isSuccess(answer) && answer.items.length > 0;
const withKey = () => ({ client_id: randomUUID() });

/** Requests one of the victim's resources by its id, with a form if the call changes something. */
const attemptById = (call: Call, target: keyof Targets, form?: () => object, gives = isSuccess): Attempt => ({
  call,
  send: (attacker, victim) => attacker.send(...routeOf(call, encodeURIComponent(victim[target])), form?.()),
  gives,
});

/** Requests something of the victim's conversation. */
const attemptIn = (call: Call, query = '', gives = hasItems): Attempt => ({
  call,
  send(attacker, { conversation_id }) {
    const [method, path] = routeOf(call);
    if (method !== 'GET') return attacker.send(method, path, { conversation_id, ...withKey() });
    return attacker.get(`${path}?${query}conversation_id=${encodeURIComponent(conversation_id)}`);
  },
  gives,
});

/** The deletion is last, since its success would remove the target. */
const attempts: Attempt[] = [
  attemptIn('GET /v1/messages/latest'),
  {
    call: 'POST /v1/messages',
    send: async (attacker, { conversation_id }) => (await sendMessage(attacker, { conversation_id })).answer,
    gives: () => false,
  },
  attemptIn('POST /v1/messages/continue', '', isSuccess),
  attemptById('POST /v1/messages/{id}/cancel', 'replyId', () => ({})),
  attemptById('POST /v1/messages/{id}/regenerate', 'replyId', withKey),
  attemptById('POST /v1/messages/{id}/variant', 'replyId', () => ({ variant: 1 })),
  attemptById('POST /v1/messages/{id}/edit', 'lineId', () => ({ body: '他人所改', ...withKey() })),
  attemptById('POST /v1/messages/{id}/report', 'replyId', () => ({ reason: 'other', words: '对照测试' })),
  attemptIn('POST /v1/messages/suggestion', '', isSuccess),
  attemptById('GET /v1/messages/suggestion/{id}', 'suggestionId'),
  attemptIn('GET /v1/messages/search', 'q=%E9%97%A8&'),
  attemptIn('GET /v1/messages/days'),
  attemptById('GET /v1/orders/{id}', 'orderId'),
  attemptById('POST /v1/support/tickets/{id}/read', 'ticketId', () => ({})),
  ...(['private', 'presence'] as const).map(
    (kind): Attempt => ({
      call: 'POST /broadcasting/auth',
      target: `a ${kind} channel`,
      send: (attacker, { userId }) => requestChannel(attacker, '1.2', `${kind}-App.Models.User.${userId}`),
      gives: isSuccess,
    }),
  ),
  attemptById('POST /v1/conversations/{id}/restart', 'conversation_id', withKey),
  attemptById('DELETE /v1/conversations/{id}', 'conversation_id', undefined, () => false),
];

/** Returns the ids of those resources of the victim that the call needs. */
async function targetsOf(world: World, call: Call) {
  const { id: conversation_id, visitor } = await world.conversation();
  const { id: userId } = await world.member('mine');
  const suggestionId = call === 'GET /v1/messages/suggestion/{id}' ? await world.suggestionId() : '';
  const orderId = call === 'GET /v1/orders/{id}' ? createdId((await world.order()).answer) : '';
  const ticketId = call === 'POST /v1/support/tickets/{id}/read' ? createdId((await world.ticket()).answer) : '';
  const messages = await world.settled(visitor, conversation_id);
  const [lineId, replyId] = [messages[0], messages.at(-1)].map(idOf) as [string, string];
  return { conversation_id, lineId, replyId, suggestionId, orderId, ticketId, userId };
}

/** Makes the attempt and compares the target before and after. */
async function trial(world: World, { call, send }: Attempt): Promise<{ answer: VisitorAnswer; harm: string | null }> {
  const targets = await targetsOf(world, call);
  const { visitor: attacker } = await world.member('theirs');
  const stateBefore = await stateOf(world.mine, targets.conversation_id);
  const answer = await send(attacker, targets);
  const ownConversationId = conversationIdOf(answer);
  if (call === 'POST /v1/messages' && isSuccess(answer) && ownConversationId)
    await world.settled(attacker, ownConversationId);
  const isChanged = await hasChanged(world.mine, targets.conversation_id, stateBefore);
  return { answer, harm: isChanged ? 'what the other one has was changed' : null };
}

/** Throws `Untried` if two responses differ without a change. */
async function hasChanged(visitor: Visitor, conversationId: string, stateBefore: string): Promise<boolean> {
  const stateAfter = await stateOf(visitor, conversationId);
  if (stateAfter === stateBefore) return false;
  if (stateAfter !== (await stateOf(visitor, conversationId))) throw new Untried('no two answers are the same');
  return true;
}

/** Returns all data of a member as text. */
async function stateOf(visitor: Visitor, conversationId: string): Promise<string> {
  const paths = [
    pathOf`/messages/latest?conversation_id=${conversationId}`,
    '/user',
    '/conversations',
    '/transactions',
  ];
  const answers: string[] = [];
  for (const path of paths) answers.push((await visitor.get(path)).text);
  return answers.join('\n');
}

const foreignAccessChecks: Check[] = attempts.flatMap((attempt, index) => {
  const what = attempt.target ?? 'anything';
  const runOnce = (world: World) => world.createOnce(`attempt ${index}`, () => trial(world, attempt));
  const name = `neither gives nor changes ${what} of another user’s`;
  return checksOf(attempt.call, {
    async [name](world) {
      const { answer, harm } = await runOnce(world);
      if (harm ?? attempt.gives(answer)) throw new Deviation(`${harm ?? 'it gave'}: ${shown(answer)}`);
    },
    [`refuses ${what} of another user’s with 403 or 404`]: tolerated(
      async (world) => (await runOnce(world)).answer.expectStatus(403, 404),
      'never asks for it',
    ),
  });
});

/** Lists of a reader's own data. */
const lists: [call: Call, path: string, make: (world: World) => Promise<unknown>][] = [
  ['GET /v1/conversations', '/conversations', (world) => world.conversation()],
  ['GET /v1/transactions', '/transactions', (world) => world.conversation()],
  ['GET /v1/orders', '/orders', (world) => world.order()],
  ['GET /v1/support/tickets', '/support/tickets', (world) => world.ticket()],
];

const foreignListChecks: Check[] = lists.map(([call, path, make]) => ({
  call,
  name: 'lists what is the reader’s own, and nothing of another user’s',
  async run(world) {
    const isMade = await make(world).then(
      () => true,
      (cause) => !(cause instanceof Untried),
    );
    const [mine, theirs] = [await world.member('mine'), await world.member('theirs')];
    const [ownAnswer, otherAnswer] = [await mine.visitor.get(path), await theirs.visitor.get(path)];
    ownAnswer.expectStatus(200);
    otherAnswer.expectStatus(200);
    const ids = ownAnswer.items.map(idOf);
    expectThat(ids.length > 0 || !isMade, 'nothing of the reader’s own');
    const foreign = otherAnswer.page.items.map(idOf).find((id) => ids.includes(id));
    expectThat(foreign === undefined, `${foreign} is in the lists of two users`);
  },
}));

const keyChecks = checksOf('POST /v1/messages', {
  async 'gives out no stored answer for another user’s key'(world) {
    const { sent, storyId } = await world.conversation();
    const { answer } = await sendMessage(world.theirs, { ...sent.content, story_id: storyId });
    if (isSuccess(answer)) await world.settled(world.theirs, conversationIdOf(answer));
    const [theirs, mine] = [answer, sent.answer].map(({ entity }) => idOf(entity.message));
    expectThat(!isSuccess(answer) || theirs !== mine, answer);
  },
});

/** Calls with empty forms, which do no harm if they succeed. */
const writes: Call[] = [
  'POST /v1/messages',
  'POST /v1/messages/suggestion',
  'POST /v1/messages/continue',
  'POST /v1/messages/{id}/cancel',
  'POST /v1/messages/{id}/regenerate',
  'POST /v1/messages/{id}/variant',
  'POST /v1/messages/{id}/edit',
  'POST /v1/conversations/{id}/restart',
  'DELETE /v1/conversations/{id}',
  'PUT /v1/user',
  'PUT /v1/user/password',
  'POST /v1/check-in',
  'POST /v1/orders',
  'POST /v1/support/tickets',
  'POST /v1/support/tickets/{id}/read',
  'POST /broadcasting/auth',
  'POST /v1/email/verification-notification/resend',
];

const tokenChecks: Check[] = writes.map((call) => ({
  call,
  name: 'refuses a change without the token with 419',
  otherwise: 'always sends the token; without that check only SameSite keeps other sites out',
  async run(world) {
    (await world.spare.send(...routeOf(call), {}, { 'X-XSRF-TOKEN': '' })).expectStatus(419);
  },
}));

/** Sends a form of another site with the member's browser: with cookies, but without a token. */
async function fromElsewhere(world: World): Promise<VisitorAnswer> {
  return world.spare.put('/user', { name: '他人所改' }, { ...ELSEWHERE, 'X-XSRF-TOKEN': '' });
}

const siteChecks = [
  ...checksOf('every call', {
    async 'changes nothing for another site'(world) {
      const answer = await fromElsewhere(world);
      const { name } = await currentUser(world.spare);
      expectThat(!isSuccess(answer) && name !== '他人所改', answer);
    },
    'refuses another site with 419': tolerated(
      async (world) => (await fromElsewhere(world)).expectStatus(419),
      'asks from its own page only; a backend that knows no session from elsewhere refuses as well',
    ),
    'refuses another site even with the right token': tolerated(async (world) => {
      (await world.spare.put('/user', { name: '他人所改' }, ELSEWHERE)).expectStatus(401, 403, 419);
    }, 'asks from its own page only; the token alone keeps other sites out'),
    async 'lets no other site read what it answers'(world) {
      const { headers } = await world.spare.get('/user', ELSEWHERE);
      const [to, withCookies] = ['origin', 'credentials'].map((name) => headers.get(`access-control-allow-${name}`));
      expectThat(to !== FOREIGN_SITE || withCookies !== 'true', `Access-Control-Allow-Origin: ${to}, with cookies`);
    },
    'refuses the token of another session with 419': tolerated(async (world) => {
      const [spare, theirs] = [await world.member('spare'), await world.member('theirs')];
      const foreign = decodeURIComponent(theirs.visitor.cookies.get('XSRF-TOKEN') ?? '');
      (await spare.visitor.put('/user', {}, { 'X-XSRF-TOKEN': foreign })).expectStatus(419);
    }, 'sends the token of its own'),
    async 'changes nothing when it is only read'(world) {
      const { id, visitor } = await world.conversation();
      const stateBefore = await stateOf(visitor, id);
      for (const path of readPaths(id)) await visitor.get(path);
      expectThat(!(await hasChanged(visitor, id, stateBefore)), 'a GET changed something');
    },
    'gives 404 and a message for a missing one': tolerated(async (world) => {
      const answer = (await world.visit('/no-such-call')).expectStatus(404);
      expectThat(isRouteMissing(404, recordOf(answer.body)), answer);
    }, 'requests only what is in this list'),
  }),
  ...checksOf('POST /v1/login', {
    'refuses another site with 419': tolerated(async (world) => {
      const { login } = await world.member('mine');
      const headers = { ...ELSEWHERE, 'X-XSRF-TOKEN': '' };
      const visitor = await world.visitor();
      (await visitor.post('/login', { login, password: '000000-' }, headers)).expectStatus(419);
    }, 'asks from its own page only'),
  }),
];

const readPaths = (conversationId: string) => [
  '/stories',
  '/conversations',
  pathOf`/conversations/${conversationId}`,
  '/check-in',
  '/logout',
  '/messages',
  '/messages/continue',
  '/messages/suggestion',
  '/user/password',
  '/email/verification-notification/resend',
];

const privateCalls: Call[] = [
  ...writes.filter((call) => call !== 'POST /broadcasting/auth'),
  'POST /v1/logout',
  'GET /v1/user',
  'GET /v1/conversations',
  'GET /v1/messages/latest',
  'GET /v1/messages/suggestion/{id}',
  'GET /v1/transactions',
  'GET /v1/orders',
  'GET /v1/support/tickets',
  'GET /v1/orders/{id}',
];

const visitorChecks: Check[] = privateCalls.map((call) => ({
  call,
  name: 'answers 401 to a visitor, and no redirect',
  // the page opens its sign-in popup only at 401
  ...(isRequired(call) ? {} : { otherwise: 'asks to sign in before; a session that ran out is not noticed here' }),
  async run(world) {
    const [method, path] = routeOf(call);
    const query = call === 'GET /v1/messages/latest' ? '?story_id=1' : '';
    const body = method === 'GET' ? undefined : {};
    const answer = (await (await world.visitor()).send(method, path + query, body)).expectStatus(401);
    const problem = laravelProblem(answer);
    if (problem) throw new Deviation(problem);
  },
}));

export const accessChecks = [
  ...visitorChecks,
  ...foreignListChecks,
  ...keyChecks,
  ...tokenChecks,
  ...siteChecks,
  ...foreignAccessChecks,
];
