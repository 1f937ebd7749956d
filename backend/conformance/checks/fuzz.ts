import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { type Call, callNames, routeOf } from '../calls.ts';
import { type Check, checksOf, Deviation, laravelProblem, shown } from '../check.ts';
import { type Operation, operations } from '../openApiOperations.ts';
import type { Visitor, VisitorAnswer } from '../visitor.ts';
import type { World } from '../world.ts';

interface FuzzedCall {
  call: Call;
  method: string;
  /** `:x` is replaced by an arbitrary segment */
  path: string;
}

/** Calls that get no odd input. */
const spared: Call[] = [
  'PUT /v1/stories/{id}/favorite',
  'GET /v1/favorites',
  'GET /v1/conversations?q',
  'DELETE /v1/user/sessions',
  'GET /v1/user/minor',
  'PUT /v1/user/minor',
  'POST /v1/user/minor/use',
  'POST /v1/user/minor/unlock',
  'POST /v1/user/minor/reset',
  'GET /v1/invites/{code}',
  'POST /v1/invites/gifts/announced',
  'GET /media/avatars.json',
  'GET /v1/capabilities',
  'GET /v1/wechat/signature',
  'WS /app/{key}',
  'every call',
];

const fuzzedCalls: FuzzedCall[] = [
  ...callNames
    .filter((call) => !spared.includes(call))
    .map((call) => {
      const [method, path] = routeOf(call, ':x');
      return { call, method, path };
    }),
  { call: 'POST /v1/payments/webhook/{provider}', method: 'POST', path: '/payments/webhook/sandbox' },
  { call: 'every call', method: 'POST', path: '/no-such-call' },
];

/** Returns the names of the fields or parameters of all calls. */
const namesIn = (part: (operation: Operation) => object | undefined) => [
  ...new Set(Object.values(operations).flatMap((operation) => Object.keys(part(operation) ?? {}))),
];

const FIELDS = namesIn(({ body }) => body?.entries);
const PARAMETERS = namesIn(({ query }) => query);

interface OddRequest {
  parameters: Record<string, string>;
  segment: string;
  body: string;
}

/** @param knownIds existing ids, which reach more code than others */
function oddRequests(knownIds: string[], call: Call): fc.Arbitrary<OddRequest> {
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
  // without a login no account is created with an odd name
  const fields = FIELDS.filter((field) => field !== 'login' || call !== 'POST /v1/register');
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
  const requests = fc.sample(oddRequests([id, storyId], fuzzedCall.call), world.target.runs);
  const problems: string[] = [];
  for (const [index, odd] of requests.entries()) {
    const visitor = await fuzzer(world, fuzzedCall, index);
    const answer = visitor && (await send(visitor, fuzzedCall, odd));
    // the problems found so far count
    if (!answer || answer.status === 429) break;
    const problem = laravelProblem(answer);
    const sent = fuzzedCall.method === 'GET' ? { ...odd.parameters, ':x': odd.segment } : odd.body;
    if (problem) problems.push(`${typeof sent === 'string' ? sent.slice(0, 200) : shown(sent)} → ${problem}`);
  }
  if (problems.length > 0) throw new Deviation(`${problems.length} of ${requests.length}, as ${problems[0]}`);
}

const oddRequestChecks: Check[] = fuzzedCalls.map((fuzzedCall) => ({
  call: fuzzedCall.call,
  name: 'refuses odd input in Laravel’s shape, and never breaks (5xx)',
  otherwise: 'sends no such thing',
  run: (world) => fuzz(world, fuzzedCall),
}));

const survivalChecks = checksOf('every call', {
  async 'works as before after all that odd input'(world) {
    (await world.visit('/stories')).expectStatus(200);
    (await world.mine.get('/user')).expectStatus(200);
  },
});

export const fuzzChecks = [...oddRequestChecks, ...survivalChecks];
