import { beforeEach, describe, expect, rs, test } from '@rstest/core';
import { getAdapter } from 'axios';
import {
  accountEmailSchema,
  checkInSchema,
  conversationSchema,
  cursorPageSchema,
  endpoints,
  messageSchema,
  ordersSchema,
  singleSchema,
  storySchema,
  ticketSchema,
  transactionSchema,
  userSessionSchema,
} from '../../contract';
import * as wire from '../../contract/wire';
import { fakeApi, type Handlers, offline, onTestEnd } from '../../testing';
import { pageInfo } from '../hostConfig';
import { retryPolicy } from '../retryPolicy';
import { setCurrentOwner } from '../storage/owner';
import { apiUrl, replaceAdapter, request, socketId } from './request';
import { onUnauthenticated, signInEpoch } from './unauthenticated';

beforeEach(() => {
  // removes the random delay of retries
  const random = rs.spyOn(Math, 'random').mockReturnValue(0);
  onTestEnd(() => random.mockRestore());
});

function api(handlers: Handlers) {
  const { requests, restore } = fakeApi(handlers);
  onTestEnd(restore);
  return requests;
}

/** Returns the responses in order; the last one repeats. */
const inTurn = (...answers: unknown[]) => {
  let turn = 0;
  return () => {
    const answer = answers[Math.min(turn++, answers.length - 1)];
    if (answer instanceof Error) throw answer;
    return answer;
  };
};

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => Promise.reject(new Error('did not fail')),
    (cause: unknown) => cause,
  );

function count401s() {
  let heard = 0;
  onTestEnd(
    onUnauthenticated(() => {
      heard += 1;
    }),
  );
  return () => heard;
}

test('returns the body of the response', async () => {
  api({ 'GET /v1/stories': { data: [1] } });
  expect(await request({ url: '/v1/stories' })).toEqual({ data: [1] });
});

test('asks for JSON below /api, with cookies, within 10 s', async () => {
  const requests = api({ 'GET /v1/user': {} });
  await request({ url: '/v1/user' });
  expect(requests[0]?.headers).toMatchObject({ accept: 'application/json', 'x-requested-with': 'XMLHttpRequest' });
  onTestEnd(replaceAdapter(async (config) => ({ data: config, status: 200, statusText: '', headers: {}, config })));
  expect(await request({ url: '/v1/user' })).toMatchObject({ baseURL: '/api', timeout: 10_000, withCredentials: true });
});

test('returns the URL of a call for other clients', () => {
  expect(apiUrl('/v1/conversations/7')).toBe(`${location.origin}/api/v1/conversations/7`);
});

test('gives each request one id for all its attempts, and reports it on a server failure', async () => {
  const warned = rs.spyOn(console, 'warn').mockImplementation(() => {});
  onTestEnd(() => warned.mockRestore());
  const failed = { status: 503, body: {}, headers: { 'x-request-id': 'server-0123' } };
  const requests = api({ 'GET /v1/user': failed, 'GET /v1/stories': {} });
  const error = await failure(request({ url: '/v1/user' }));
  await request({ url: '/v1/stories' });
  expect(error).toEqual({ kind: 'server', status: 503, requestId: 'server-0123' });
  expect(pageInfo().problems?.[0]).toBe('server-0123');
  expect(warned.mock.calls).toEqual([['GET /v1/user: 503, request server-0123']]);
  const ids = requests.map(({ headers }) => headers['x-request-id']);
  expect(ids).toHaveLength(4);
  expect([new Set(ids.slice(0, 3)).size, new Set(ids).size]).toEqual([1, 2]);
  for (const id of ids) expect(id).toMatch(/^[\w-]{36}$/);
});

test('reports its own id if the response has none, e.g. of a proxy', async () => {
  onTestEnd(() => rs.restoreAllMocks());
  rs.spyOn(console, 'warn').mockImplementation(() => {});
  const requests = api({ 'POST /v1/messages': { status: 500, body: {} } });
  const error = await failure(request({ url: '/v1/messages', method: 'POST' }));
  expect(error).toEqual({ kind: 'server', status: 500, requestId: requests[0]?.headers['x-request-id'] });
});

test('names the live socket to the server', async () => {
  const requests = api({ 'GET /v1/user': {} });
  await request({ url: '/v1/user' });
  socketId.set('3.14');
  onTestEnd(() => socketId.set(undefined));
  await request({ url: '/v1/user' });
  expect(requests.map(({ headers }) => headers['x-socket-id'])).toEqual([undefined, '3.14']);
});

test('sends the idempotency key and the token of the cookie', async () => {
  Reflect.set(document, 'cookie', 'XSRF-TOKEN=a%20token');
  const sent: { url: string; headers: Record<string, string> }[] = [];
  const fetching = rs.spyOn(globalThis, 'fetch').mockImplementation(async (input) => {
    const asked = input as Request;
    sent.push({ url: asked.url, headers: Object.fromEntries(asked.headers) });
    return new Response('{}', { headers: { 'content-type': 'application/json' } });
  });
  onTestEnd(() => fetching.mockRestore());
  onTestEnd(replaceAdapter((config) => getAdapter('fetch', config)(config)));
  await request({ method: 'POST', url: '/v1/messages', body: { body: '你好' }, idempotencyKey: 'key-1' });
  expect(sent).toHaveLength(1);
  expect(sent[0]?.url).toMatch(/\/api\/v1\/messages$/);
  expect(sent[0]?.headers).toMatchObject({ 'Idempotency-Key': 'key-1', 'X-XSRF-TOKEN': 'a token' });
});

test('calls in the page’s first minutes belong to its document’s trace, later ones have their own', async () => {
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  const sent: (string | undefined)[] = [];
  onTestEnd(
    replaceAdapter(async (config) => {
      sent.push(config.headers.get('traceparent')?.toString());
      return { data: {}, status: 200, statusText: '', headers: {}, config };
    }),
  );
  const ask = () => request({ url: '/v1/stories' });
  await ask();
  const timing: object = { serverTiming: [{ name: 'traceparent', description: traceparent }] };
  const named = rs.spyOn(performance, 'getEntriesByType').mockReturnValue([timing as PerformanceNavigationTiming]);
  const now = rs.spyOn(performance, 'now').mockReturnValue(599_000);
  onTestEnd(() => {
    named.mockRestore();
    now.mockRestore();
  });
  await ask();
  now.mockReturnValue(601_000);
  await ask();
  expect(sent).toEqual([undefined, traceparent, undefined]);
});

describe('401', () => {
  test('is reported to all listeners, and rejects', async () => {
    api({ 'GET /v1/user': { status: 401, body: { message: 'Unauthenticated.' } } });
    const heard = count401s();
    const error = await failure(request({ url: '/v1/user' }));
    expect(error).toEqual({ kind: 'unauthenticated' });
    expect(heard()).toBe(1);
  });

  test('of a log-out counts as success', async () => {
    api({ 'POST /v1/logout': { status: 401 } });
    const heard = count401s();
    expect(await failure(request({ method: 'POST', url: '/v1/logout' }))).toEqual({ kind: 'unauthenticated' });
    expect(heard()).toBe(0);
  });

  test('of a request made before the present sign-in is ignored', async () => {
    let answer = (_: unknown) => {};
    api({ 'GET /v1/user': () => new Promise((resolve) => (answer = resolve)) });
    const heard = count401s();
    const asked = failure(request({ url: '/v1/user' }));
    await Promise.resolve();
    await new Promise((resolve) => setTimeout(resolve));
    signInEpoch.next();
    answer({ status: 401 });
    expect(await asked).toEqual({ kind: 'unauthenticated' });
    expect(heard()).toBe(0);
  });
});

describe('a change that one user made', () => {
  const change = { method: 'POST', url: '/v1/orders', body: { package_id: 'p-1' } };
  const token = 'GET /sanctum/csrf-cookie';
  const switched = (answer: unknown) => () => {
    signInEpoch.next();
    return answer;
  };
  test('is not sent for another user who signs in during its refusal with 419', async () => {
    const requests = api({ [token]: {}, 'POST /v1/orders': switched({ status: 419 }) });
    const heard = count401s();
    expect(await failure(request(change))).toEqual({ kind: 'unauthenticated' });
    expect(requests.filter(({ url }) => url === '/v1/orders')).toHaveLength(1);
    expect(heard()).toBe(0);
  });

  test('is not sent for another user who signs in during the fetch of its token', async () => {
    let cookie = '';
    const cookies = rs.spyOn(document, 'cookie', 'get').mockImplementation(() => cookie);
    onTestEnd(() => cookies.mockRestore());
    const fetched = () => {
      cookie = 'XSRF-TOKEN=new';
      signInEpoch.next();
    };
    const requests = api({ [token]: fetched, 'POST /v1/orders': {} });
    expect(await failure(request(change))).toEqual({ kind: 'unauthenticated' });
    expect(requests.map(({ url }) => url)).toEqual(['/sanctum/csrf-cookie']);
  });

  test('is not sent for another user who signs in while it is queued', async () => {
    const requests = api({ 'POST /v1/orders': {} });
    const waiting = failure(request(change));
    signInEpoch.next();
    expect(await waiting).toEqual({ kind: 'unauthenticated' });
    expect(requests).toEqual([]);
  });
});

describe('a user who leaves before the response', () => {
  const answers = [
    { status: 200, body: { balance: 5 } },
    { status: 402, body: { code: 'insufficient_balance', required: 3, balance: 0 } },
    { status: 404 },
    { status: 500 },
    offline(),
  ];
  /** Sends a request as `before`, and returns its outcome if its response arrives as `after`. */
  async function outcomeFor(before: string | null, after: string | null, answer: unknown, isOptional = false) {
    setCurrentOwner(before);
    onTestEnd(() => setCurrentOwner(null));
    api({
      'POST /v1/messages': () => {
        setCurrentOwner(after);
        return inTurn(answer)();
      },
    });
    return request({ method: 'POST', url: '/v1/messages', isOptional }).catch((cause: unknown) => cause);
  }

  test.each([null, 'u-2'])('leaves neither data nor failures to %s', async (next) => {
    for (const answer of answers) expect(await outcomeFor('u-1', next, answer)).toEqual({ kind: 'unauthenticated' });
  });

  test.each([
    ['who stays', 'u-1', 'u-1', false],
    ['who was a guest', null, 'u-1', false],
    ['whose call concerns everybody', 'u-1', 'u-2', true],
  ] as const)('is not one %s', async (_, before, after, isOptional) => {
    expect(await outcomeFor(before, after, { status: 200, body: { balance: 5 } }, isOptional)).toEqual({ balance: 5 });
  });
});

test('a 401 of an optional call opens no popup', async () => {
  api({ 'GET /v1/capabilities': { status: 401 } });
  const heard = count401s();
  expect(await failure(request({ url: '/v1/capabilities', isOptional: true }))).toEqual({ kind: 'unauthenticated' });
  expect(heard()).toBe(0);
});

test('unreadable fields of a response are reported once, with call and field', async () => {
  const warned = rs.spyOn(console, 'warn').mockImplementation(() => {});
  onTestEnd(() => warned.mockRestore());
  api({ 'GET /v1/transactions': { data: [{ id: 1, created_at: 'gestern' }, { id: 2, created_at: '' }, {}] } });
  const schema = cursorPageSchema(transactionSchema);
  for (const _ of [1, 2])
    expect((await request({ url: '/v1/transactions', schema })).items.map(({ id }) => id)).toEqual(['1', '2']);
  expect(warned.mock.calls).toEqual([
    ['GET /v1/transactions: created_at could not be read, 2 left out'],
    ['GET /v1/transactions: row without id could not be read, 1 left out'],
  ]);
});

test.each([
  [endpoints.stories, storySchema],
  [endpoints.favorites, storySchema],
  [endpoints.conversations, conversationSchema],
  [endpoints.transactions, transactionSchema],
  [endpoints.tickets, ticketSchema],
  [endpoints.sessions, userSessionSchema],
  [endpoints.messageDays, messageSchema],
])('%s with unreadable rows only is not an empty list', async (url, entry) => {
  const warned = rs.spyOn(console, 'warn').mockImplementation(() => {});
  onTestEnd(() => warned.mockRestore());
  const refused = [[{}], { data: [null, {}] }, { data: { items: [{}] } }];
  const answers = [...refused, { data: [{}], meta: { next_cursor: 'n' } }, { data: [] }, []];
  api({ [`GET ${url}`]: inTurn(...answers) });
  const ask = () => request({ url, schema: cursorPageSchema(entry) });
  for (const _ of refused) expect(await failure(ask())).toEqual({ kind: 'server', status: 200 });
  expect(await ask()).toEqual({ items: [], nextCursor: 'n' });
  for (const _ of [1, 2]) expect(await ask()).toEqual({ items: [], nextCursor: null });
});

describe('a 422 of a call without user input', () => {
  const [asked, own] = [{ message_id: 'm', clientId: 'k', price: 1 }, ['这一段已经删去']];
  test.each([
    ['is no mistake of theirs', asked, { price: ['The price field must be an integer.'] }, { kind: 'server' }],
    ['has no words for ids', asked, { client_id: ['The client id has already been taken.'] }, { kind: 'server' }],
    ['may name no field', {}, undefined, { kind: 'server' }],
    ['keeps the server’s own words', asked, { id: own }, { kind: 'invalid', fields: { id: own } }],
    [
      'differs from one with words',
      { body: '' },
      { body: ['Bad.'] },
      { kind: 'invalid', fields: { body: ['填写有误'] } },
    ],
  ])('%s', async (_, body, errors, error) => {
    onTestEnd(() => rs.restoreAllMocks());
    rs.spyOn(console, 'warn').mockImplementation(() => {});
    api({ 'POST /v1/x': { status: 422, body: { message: 'The given data was invalid.', errors } } });
    expect(await failure(request({ method: 'POST', url: '/v1/x', body }))).toMatchObject(error);
  });
});

test('the next page of a server without cursors has its link’s query and the search', async () => {
  const page = (id: number, next_page_url: string | null) => ({ data: [{ id }], next_page_url });
  const requests = api({ 'GET /v1/stories': inTurn(page(1, 'http://inside/v1/stories?page=2'), page(2, null)) });
  const schema = cursorPageSchema(storySchema);
  const first = await request({ url: '/v1/stories', params: { q: '狐' }, schema });
  const params = { q: '狐', ...(first.nextCursor !== null && { cursor: first.nextCursor }) };
  expect((await request({ url: '/v1/stories', params, schema })).nextCursor).toBeNull();
  expect(requests[1]?.params).toEqual({ q: '狐', page: '2' });
});

test('ids beyond 2^53 remain distinct', async () => {
  api({ 'GET /v1/stories': '{"data":[{"id":9007199254740992},{"id":9007199254740993}]}' });
  const { items } = await request({ url: '/v1/stories', schema: cursorPageSchema(storySchema) });
  expect(items.map(({ id }) => id)).toEqual(['9007199254740992', '9007199254740993']);
});

describe('419', () => {
  const token = 'GET /sanctum/csrf-cookie';

  test('fetches a token and sends the same again, once', async () => {
    const requests = api({ [token]: { status: 204 }, 'POST /v1/check-in': inTurn({ status: 419 }, { awarded: 5 }) });
    const answer = await request({ method: 'POST', url: '/v1/check-in', body: { a: 1 }, idempotencyKey: 'k' });
    expect(answer).toEqual({ awarded: 5 });
    expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /v1/check-in',
      token,
      'POST /v1/check-in',
    ]);
    expect(requests[2]).toMatchObject({ body: { a: 1 }, headers: { 'idempotency-key': 'k' } });
  });

  test('is retried if the server has no token route', async () => {
    api({ [token]: { status: 404 }, 'POST /v1/check-in': inTurn({ status: 419 }, { awarded: 5 }) });
    expect(await request({ method: 'POST', url: '/v1/check-in' })).toEqual({ awarded: 5 });
  });

  test('is retried with the other token if there are two', async () => {
    const cookies = rs.spyOn(document, 'cookie', 'get').mockReturnValue('XSRF-TOKEN=stale; XSRF-TOKEN=good');
    onTestEnd(() => cookies.mockRestore());
    const check = ({ headers }: { headers: Record<string, string> }) =>
      headers['x-xsrf-token'] === 'good' ? { awarded: 5 } : { status: 419 };
    const requests = api({ [token]: { status: 204 }, 'POST /v1/check-in': check });
    expect(await request({ method: 'POST', url: '/v1/check-in' })).toEqual({ awarded: 5 });
    await request({ method: 'POST', url: '/v1/check-in' });
    expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(3);
  });

  test('twice is a failure', async () => {
    const requests = api({ [token]: {}, 'POST /v1/check-in': { status: 419 } });
    expect(await failure(request({ method: 'POST', url: '/v1/check-in' }))).toMatchObject({
      kind: 'server',
      status: 419,
    });
    expect(requests).toHaveLength(3);
  });

  test.each(['GET', 'POST'])('repeatedly, with new tokens each time, soon ends a %s', async (method) => {
    let given = 0;
    const cookies = rs.spyOn(document, 'cookie', 'get').mockImplementation(() => `XSRF-TOKEN=${given}`);
    onTestEnd(() => cookies.mockRestore());
    const refused = () => {
      given += 1;
      return given > 50 ? {} : { status: 419 };
    };
    const requests = api({ [token]: {}, 'GET /v1/check-in': refused, 'POST /v1/check-in': refused });
    expect(await failure(request({ method, url: '/v1/check-in' }))).toMatchObject({ kind: 'server', status: 419 });
    expect(requests.filter(({ url }) => url === '/v1/check-in').length).toBeLessThanOrEqual(3);
  });

  test('of several in parallel fetches one token', async () => {
    const first = inTurn({ status: 419 }, ['a']);
    const second = inTurn({ status: 419 }, ['b']);
    const requests = api({ [token]: {}, 'POST /first': first, 'POST /second': second });
    const both = ['/first', '/second'].map((url) => request({ method: 'POST', url }));
    expect(await Promise.all(both)).toEqual([['a'], ['b']]);
    expect(requests.filter(({ url }) => url === '/sanctum/csrf-cookie')).toHaveLength(1);
  });
});

describe('a page without a token', () => {
  const token = 'GET /sanctum/csrf-cookie';
  const forgetToken = () => Reflect.set(document, 'cookie', 'XSRF-TOKEN=; expires=Thu, 01 Jan 1970 00:00:00 GMT');
  const setToken = () => {
    Reflect.set(document, 'cookie', 'XSRF-TOKEN=new');
    return { status: 204 };
  };
  const urls = (requests: { url: string }[]) => requests.map(({ url }) => url);

  test('fetches one token before its first changes, and none for reads', async () => {
    const requests = api({ [token]: setToken, 'GET /v1/stories': {}, 'POST /first': {}, 'POST /second': {} });
    forgetToken();
    await request({ url: '/v1/stories' });
    await Promise.all(['/first', '/second'].map((url) => request({ method: 'POST', url })));
    const [read, fetched, ...changed] = urls(requests);
    expect([read, fetched]).toEqual(['/v1/stories', '/sanctum/csrf-cookie']);
    expect(changed.sort()).toEqual(['/first', '/second']);
  });

  test('requests a token only once if the server has none', async () => {
    const requests = api({ [token]: { status: 404 }, 'POST /first': {}, 'POST /second': {} });
    forgetToken();
    await request({ method: 'POST', url: '/first' });
    await request({ method: 'POST', url: '/second' });
    expect(urls(requests)).toEqual(['/sanctum/csrf-cookie', '/first', '/second']);
  });
});

describe('a request without an answer', () => {
  for (const [name, trouble] of [
    ['no network', offline()],
    ['502', { status: 502 }],
    ['503', { status: 503 }],
    ['504', { status: 504 }],
  ] as const) {
    test(`${name}: a GET is sent twice more`, async () => {
      const requests = api({ 'GET /v1/stories': inTurn(trouble, trouble, ['there']) });
      expect(await request({ url: '/v1/stories' })).toEqual(['there']);
      expect(requests).toHaveLength(3);
    });

    test(`${name}: a GET is not sent a fourth time`, async () => {
      const requests = api({ 'GET /v1/stories': inTurn(trouble) });
      await failure(request({ url: '/v1/stories' }));
      expect(requests).toHaveLength(3);
    });

    for (const method of ['POST', 'PUT', 'DELETE']) {
      test(`${name}: a ${method} is not sent again automatically`, async () => {
        const requests = api({ [`${method} /v1/thing`]: inTurn(trouble) });
        await failure(request({ method, url: '/v1/thing' }));
        expect(requests).toHaveLength(1);
      });
    }
  }

  for (const status of [400, 404, 422, 500]) {
    test(`${status} is an answer: a GET is not sent again`, async () => {
      const requests = api({ 'GET /v1/stories': { status } });
      await failure(request({ url: '/v1/stories' }));
      expect(requests).toHaveLength(1);
    });
  }

  test('waits a random time before it is sent again', async () => {
    rs.spyOn(Math, 'random').mockReturnValue(0.5);
    const times: number[] = [];
    const answer = () => {
      times.push(performance.now());
      throw offline();
    };
    api({ 'GET /v1/stories': answer });
    await failure(request({ url: '/v1/stories' }));
    const [first = 0, second = 0, third = 0] = times;
    expect(second - first).toBeGreaterThan(250);
    expect(third - second).toBeGreaterThan(500);
  });
});

test('an aborted request ends immediately and is not sent again', async () => {
  const requests = api({ 'GET /v1/stories': () => new Promise(() => {}) });
  const abort = new AbortController();
  const asked = failure(request({ url: '/v1/stories', signal: abort.signal }));
  await new Promise((resolve) => setTimeout(resolve));
  abort.abort();
  expect(((await asked) as Error).name).toBe('CanceledError');
  expect(requests).toHaveLength(1);
});

test.each(['\ufeff\ufeff', ' \n', '\ufeff\r\n\t'])('a response may begin with %j', async (start) => {
  api({ 'GET /v1/messages': { status: 200, body: `${start}{"data":{"id":"m"}}\n` } });
  expect(await request({ url: '/v1/messages', schema: singleSchema(messageSchema) })).toMatchObject({ id: 'm' });
});

describe('a response that is not the server’s', () => {
  const schema = singleSchema(messageSchema);
  const foreign = [
    '<html>请登录酒店网络</html>',
    '<script>if (top) { location = "/login" }</script>',
    '{"data":{"id":',
    'null',
    0,
    [],
    {},
    { data: [] },
    { data: { id: null } },
  ];

  test.each(foreign)('is a failed network: %j', async (body) => {
    api({ 'GET /v1/messages': { status: 200, body } });
    expect(await failure(request({ url: '/v1/messages', schema }))).toEqual({ kind: 'offline' });
  });

  test.each([
    '<br />\n<b>Notice</b>:  Undefined variable x in <b>/srv/a.php</b> on line <b>3</b><br />\n{"data":{"id":"m"}}',
    'PHP Warning:  Undefined array key "a" in /srv/a.php on line 3\n{"data":{"id":"m"}}',
    '{"data":{"id":"m"}}<br />\n<b>Deprecated</b>: …',
    '{"data":{"id":"m"}}\n<!-- 12 ms -->',
  ])('with something printed around it is a server failure: %j', async (body) => {
    onTestEnd(() => rs.restoreAllMocks());
    rs.spyOn(console, 'warn').mockImplementation(() => {});
    const requests = api({ 'GET /v1/messages': { status: 200, body }, 'POST /v1/messages': { status: 200, body } });
    const failed = expect.objectContaining({ kind: 'server', status: 200 });
    expect(await failure(request({ url: '/v1/messages', schema }))).toEqual(failed);
    expect(await failure(request({ method: 'POST', url: '/v1/messages', schema }))).toEqual(failed);
    expect(requests).toHaveLength(2);
  });

  test.each([['{"data":{"id":'], ['']])('that is truncated repeats a read: %j', async (cut) => {
    const requests = api({
      'GET /v1/messages': inTurn(cut, cut, { data: { id: 'm' } }),
      'POST /v1/messages': inTurn(cut, { data: { id: 'm' } }),
    });
    expect(await request({ url: '/v1/messages', schema })).toMatchObject({ id: 'm' });
    expect(await failure(request({ method: 'POST', url: '/v1/messages', schema }))).toEqual({ kind: 'offline' });
    expect(requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET', 'POST']);
  });

  test.each([singleSchema(accountEmailSchema), ordersSchema])(
    'with only a message is a failed network, also for calls with optional fields only',
    async (schema) => {
      api({ 'GET /v1/x': { message: '请先登录网络' } });
      expect(await failure(request({ url: '/v1/x', schema }))).toEqual({ kind: 'offline' });
    },
  );

  test('differs from no body at all, which a 204 has, and from a word alone', async () => {
    const calls = ['DELETE /v1/conversations/7', 'POST /v1/read', 'POST /v1/logout', 'POST /v1/cut'] as const;
    const [gone, read, logout, cut] = calls;
    api({ [gone]: { status: 204 }, [read]: 'OK', [logout]: ' <html>', [cut]: '{"data"' });
    expect(await request({ url: '/v1/conversations/7', method: 'DELETE' })).toBe('');
    // as Express and Spring do
    await request({ url: '/v1/read', method: 'POST' });
    for (const url of ['/v1/logout', '/v1/cut'])
      expect(await failure(request({ url, method: 'POST' }))).toEqual({ kind: 'offline' });
  });

  const words = ['OK', '操作成功', 'Password updated.', '"操作成功"', '"已存入 <草稿>"'];
  test.each(['', ...words, 'null', 'true', '1', '{}', '[]'])(
    'differs from a change that is confirmed by %j alone',
    async (body) => {
      api({ 'POST /v1/check-in': { status: 200, body }, 'GET /v1/check-in': { status: 200, body: 'true' } });
      const call = { url: '/v1/check-in', schema: singleSchema(checkInSchema) };
      expect(await request({ ...call, method: 'POST' })).toEqual({});
      expect(await failure(request(call))).toEqual({ kind: 'offline' });
    },
  );

  test.each([404, 410])('a deletion answered %i is done', async (status) => {
    api({ 'DELETE /v1/x': { status, body: { message: '已删除' } }, 'GET /v1/x': { status, body: {} } });
    await request({ url: '/v1/x', method: 'DELETE' });
    expect(await failure(request({ url: '/v1/x' }))).toMatchObject({ kind: status === 404 ? 'notFound' : 'gone' });
  });

  const schemas = Object.values(wire).filter((each): each is typeof messageSchema => typeof each === 'object');
  const stated = [
    { code: 500, message: '服务器开小差了' },
    { code: 500, message: '服务器开小差了', data: [] },
    { success: false, msg: '服务器开小差了' },
    { status: 'error', message: '服务器开小差了', data: null },
  ];

  test.each(stated)('with a failure in its body is a server failure for every call: %j', async (body) => {
    onTestEnd(() => rs.restoreAllMocks());
    rs.spyOn(console, 'warn').mockImplementation(() => {});
    api({ 'GET /v1/x': body, 'PUT /v1/x': body });
    const failed = expect.objectContaining({ kind: 'server', status: 500, message: '服务器开小差了' });
    expect(await failure(request({ method: 'PUT', url: '/v1/x' }))).toEqual(failed);
    for (const entity of schemas)
      for (const schema of [entity, singleSchema(entity), cursorPageSchema(entity)]) {
        expect(await failure(request({ url: '/v1/x', schema }))).toEqual(failed);
        retryPolicy.reset();
      }
  });

  test('cannot report something as missing', async () => {
    api({ 'GET /v1/stories/7': { status: 404, body: '<html>Not Found</html>' } });
    expect(await failure(request({ url: '/v1/stories/7' }))).toMatchObject({ kind: 'server', status: 404 });
  });
});
