import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { Call } from '../calls.ts';
import { type Check, checksOf, Deviation, expectStatus, laravelProblem, shownValue } from '../check.ts';
import type { Visitor, VisitorAnswer } from '../visitor.ts';
import type { World } from '../world.ts';

interface FuzzedCall {
  call: Call;
  method: string;
  /** `:x` is replaced by an arbitrary segment */
  path: string;
  /** Fields that are never sent, so that no account is created with an odd name. */
  without?: string[];
}

const fuzzedCalls: FuzzedCall[] = [
  { call: 'GET /v1/stories', method: 'GET', path: '/stories' },
  { call: 'GET /v1/stories/{id}', method: 'GET', path: '/stories/:x' },
  { call: 'GET /v1/messages/latest', method: 'GET', path: '/messages/latest' },
  { call: 'GET /v1/messages/suggestion/{id}', method: 'GET', path: '/messages/suggestion/:x' },
  { call: 'GET /v1/messages/search', method: 'GET', path: '/messages/search' },
  { call: 'GET /v1/messages/days', method: 'GET', path: '/messages/days' },
  { call: 'POST /v1/messages/{id}/report', method: 'POST', path: '/messages/:x/report' },
  { call: 'GET /v1/conversations', method: 'GET', path: '/conversations' },
  { call: 'PUT /v1/conversations/{id}', method: 'PUT', path: '/conversations/:x' },
  { call: 'GET /v1/user', method: 'GET', path: '/user' },
  { call: 'GET /v1/email/verify/{id}/{hash}', method: 'GET', path: '/email/verify/:x/:x' },
  { call: 'GET /v1/transactions', method: 'GET', path: '/transactions' },
  { call: 'GET /v1/orders', method: 'GET', path: '/orders' },
  { call: 'GET /v1/orders/{id}', method: 'GET', path: '/orders/:x' },
  { call: 'GET /v1/support/tickets', method: 'GET', path: '/support/tickets' },
  { call: 'GET /sanctum/csrf-cookie', method: 'GET', path: '//sanctum/csrf-cookie' },
  { call: 'POST /v1/messages', method: 'POST', path: '/messages' },
  { call: 'POST /v1/messages/suggestion', method: 'POST', path: '/messages/suggestion' },
  { call: 'POST /v1/messages/continue', method: 'POST', path: '/messages/continue' },
  { call: 'POST /v1/messages/{id}/cancel', method: 'POST', path: '/messages/:x/cancel' },
  { call: 'POST /v1/messages/{id}/regenerate', method: 'POST', path: '/messages/:x/regenerate' },
  { call: 'POST /v1/messages/{id}/variant', method: 'POST', path: '/messages/:x/variant' },
  { call: 'POST /v1/messages/{id}/edit', method: 'POST', path: '/messages/:x/edit' },
  { call: 'POST /v1/conversations/{id}/restart', method: 'POST', path: '/conversations/:x/restart' },
  { call: 'DELETE /v1/conversations/{id}', method: 'DELETE', path: '/conversations/:x' },
  { call: 'PUT /v1/user', method: 'PUT', path: '/user' },
  { call: 'PUT /v1/user/password', method: 'PUT', path: '/user/password' },
  { call: 'GET /v1/user/email', method: 'GET', path: '/user/email' },
  { call: 'PUT /v1/user/email', method: 'PUT', path: '/user/email' },
  { call: 'POST /v1/user/email/resend', method: 'POST', path: '/user/email/resend' },
  { call: 'GET /v1/user/sessions', method: 'GET', path: '/user/sessions' },
  { call: 'DELETE /v1/user/sessions/{id}', method: 'DELETE', path: '/user/sessions/:x' },
  { call: 'POST /v1/user/deletion', method: 'POST', path: '/user/deletion' },
  { call: 'DELETE /v1/user/deletion', method: 'DELETE', path: '/user/deletion' },
  { call: 'POST /v1/login', method: 'POST', path: '/login' },
  { call: 'POST /v1/register', method: 'POST', path: '/register', without: ['login'] },
  {
    call: 'POST /v1/email/verification-notification/resend',
    method: 'POST',
    path: '/email/verification-notification/resend',
  },
  { call: 'POST /v1/forgot-password', method: 'POST', path: '/forgot-password' },
  { call: 'POST /v1/reset-password', method: 'POST', path: '/reset-password' },
  { call: 'POST /v1/check-in', method: 'POST', path: '/check-in' },
  { call: 'POST /v1/orders', method: 'POST', path: '/orders' },
  { call: 'POST /v1/support/tickets', method: 'POST', path: '/support/tickets' },
  { call: 'POST /v1/support/tickets/{id}/read', method: 'POST', path: '/support/tickets/:x/read' },
  { call: 'POST /v1/payments/webhook/{provider}', method: 'POST', path: '/payments/webhook/:x' },
  { call: 'POST /v1/payments/webhook/{provider}', method: 'POST', path: '/payments/webhook/sandbox' },
  { call: 'POST /broadcasting/auth', method: 'POST', path: '//broadcasting/auth' },
  { call: 'POST /broadcasting/user-auth', method: 'POST', path: '//broadcasting/user-auth' },
  { call: 'every call', method: 'POST', path: '/no-such-call' },
  { call: 'POST /v1/logout', method: 'POST', path: '/logout' },
];

const FIELDS = [
  'login',
  'password',
  'name',
  'gender',
  'avatar',
  'persona',
  'body',
  'client_id',
  'story_id',
  'conversation_id',
  'message_id',
  'suggestion_id',
  'count',
  'revision',
  'variant',
  'last_seq',
  'current_password',
  'password_confirmation',
  'email',
  'token',
  'socket_id',
  'channel_name',
  'invite_code',
  'package_id',
  'kind',
  'contact',
  'diagnostics',
  'read_version',
  'pinned',
  'shelved',
  'reason',
  'words',
];
const PARAMETERS = [
  'cursor',
  'q',
  'after',
  'before',
  'limit',
  'type',
  'story_id',
  'conversation_id',
  'expires',
  'signature',
];

interface OddRequest {
  parameters: Record<string, string>;
  segment: string;
  body: string;
}

/** @param knownIds existing ids, which reach more code than others */
function oddRequests(knownIds: string[], without: string[]): fc.Arbitrary<OddRequest> {
  const odd = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.constantFrom(
      '',
      '\u0000',
      '\ud800',
      '../../etc',
      "' or 1=1 --",
      '{key}',
      '9'.repeat(400),
      randomUUID(),
      ...knownIds,
    ),
    fc.integer(),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
    fc.array(fc.string(), { maxLength: 3 }),
    fc.object({ maxDepth: 2 }),
  );
  const fields = FIELDS.filter((field) => !without.includes(field));
  const form = fc.dictionary(fc.constantFrom(...fields), odd, { maxKeys: 8 });
  return fc.record({
    parameters: fc.dictionary(fc.constantFrom(...PARAMETERS), fc.string({ unit: 'binary', maxLength: 40 })),
    segment: fc.oneof(
      { weight: 4, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }).map(escapePath) },
      // properties of every plain object
      { weight: 1, arbitrary: fc.constantFrom('constructor', '__proto__', '__defineGetter__', 'toString') },
    ),
    body: fc.oneof(
      { weight: 5, arbitrary: form.map((value) => JSON.stringify(value)) },
      { weight: 1, arbitrary: fc.jsonValue().map((value) => JSON.stringify(value)) },
      { weight: 1, arbitrary: fc.string() },
    ),
  });
}

const escapePath = (text: string): string => encodeURIComponent(text.replace(/[\ud800-\udfff./]/g, 'x'));

async function send(visitor: Visitor, { method, path }: FuzzedCall, odd: OddRequest): Promise<VisitorAnswer> {
  const filledPath = path.replaceAll(':x', odd.segment);
  if (method === 'GET') return visitor.get(`${filledPath}?${new URLSearchParams(odd.parameters)}`);
  return visitor.send(method, filledPath, odd.body);
}

/** Waits for a rate limit only before the first request. Logging out needs a session for each request. */
async function fuzzer(world: World, { call }: FuzzedCall, index: number): Promise<Visitor | null> {
  const spare = await world.member('spare');
  const isHasty = index > 0;
  if (call !== 'POST /v1/logout') return world.sameSessionVisitor(spare, { isHasty });
  const visitor = await world.visitor({ isHasty });
  const { status } = await visitor.post('/login', { login: spare.login, password: spare.password });
  return status === 429 ? null : visitor;
}

async function fuzz(world: World, fuzzedCall: FuzzedCall): Promise<void> {
  const { id, storyId } = await world.conversation().catch(() => ({ id: '1', storyId: '1' }));
  const requests = fc.sample(oddRequests([id, storyId], fuzzedCall.without ?? []), world.target.runs);
  const problems: string[] = [];
  for (const [index, odd] of requests.entries()) {
    const visitor = await fuzzer(world, fuzzedCall, index);
    const answer = visitor && (await send(visitor, fuzzedCall, odd));
    // the problems found so far count
    if (!answer || answer.status === 429) break;
    const problem = laravelProblem(answer);
    const sent = fuzzedCall.method === 'GET' ? { ...odd.parameters, ':x': odd.segment } : odd.body;
    if (problem) problems.push(`${typeof sent === 'string' ? sent.slice(0, 200) : shownValue(sent)} → ${problem}`);
  }
  if (problems.length > 0) throw new Deviation(`${problems.length} of ${requests.length}, as ${problems[0]}`);
}

const oddRequestChecks: Check[] = fuzzedCalls.flatMap((fuzzedCall) =>
  checksOf(fuzzedCall.call, [
    {
      name: 'refuses odd input in Laravel’s shape, and never breaks (5xx)',
      otherwise: 'sends no such thing',
      run: (world) => fuzz(world, fuzzedCall),
    },
  ]),
);

const survivalChecks = checksOf('every call', [
  {
    name: 'works as before after all that odd input',
    async run(world) {
      expectStatus(await (await world.visitor()).get('/stories'), 200);
      expectStatus(await (await world.member('mine')).visitor.get('/user'), 200);
    },
  },
]);

export const fuzzChecks = [...oddRequestChecks, ...survivalChecks];
