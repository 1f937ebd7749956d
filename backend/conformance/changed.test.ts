import { describe, expect, test } from '@rstest/core';
import type { WebSocket } from 'ws';
import type { Call } from './calls.ts';
import {
  type Before,
  backend,
  type Change,
  failures,
  frontOf,
  header,
  json,
  refusal,
  socketFront,
  staysOpen,
} from './testing/changedBackend.ts';

// The tool reports each deviation, and reports nothing for the original.

interface Page {
  data: Record<string, unknown>[];
  meta: Record<string, unknown>;
}

const endedEarly = (kept: number) =>
  (({ data, meta }: Page) => ({ data: data.slice(0, kept), meta: { ...meta, next_cursor: null } })) as never;

/** Adds the rows of all former lists to each list. */
function leaking() {
  const seen: Record<string, unknown>[] = [];
  return ({ data, meta }: Page) => {
    if (!Array.isArray(data)) return { data, meta };
    seen.push(...data.filter(({ id }) => !seen.some((row) => row.id === id)));
    return { data: [...seen], meta };
  };
}
let looks = 0;
const turned = ({ data, meta }: Page) => {
  looks += 1;
  return { data: looks % 2 === 0 ? data.toReversed() : data, meta };
};
const doubled = ({ data, meta }: Page) => ({ data: [...data, data[0]], meta });

const stories = 'GET /v1/stories';
const every = 'every call';
const changed: [what: string, call: Call, name: RegExp, change: Change, before?: Before][] = [
  ['a feed that ends early', stories, /goes on by next_cursor/, json(/\/v1\/stories$/, endedEarly(4))],
  ['a ledger that ends early', 'GET /v1/transactions', /adds up/, json(/\/transactions/, endedEarly(1))],
  [
    'a tag that is ignored',
    stories,
    /have the tag|by its title/,
    () => ({}),
    (incoming) => {
      incoming.path = incoming.path.replace(/tag=[^&]*/, '');
    },
  ],
  [
    'a search that is ignored',
    stories,
    /by its title/,
    () => ({}),
    (incoming) => {
      incoming.path = incoming.path.replace(/\?q=[^&]*/, '');
    },
  ],
  ['401 without a message', 'GET /v1/user', /answers 401/, refusal(401, () => ({}))],
  ['401 with an empty message', 'GET /v1/user', /answers 401/, refusal(401, () => ({ message: '' }))],
  ['404 without a message', every, /says why/, refusal(404, () => ({ error: 'gone' }))],
  ['errors as bare texts', every, /says why/, refusal(422, (body) => ({ ...body, errors: { login: 'taken' } }))],
  ['errors as a list', every, /says why/, refusal(422, (body) => ({ ...body, errors: ['taken'] }))],
  [
    'errors as objects',
    every,
    /says why/,
    refusal(422, (body) => ({ ...body, errors: { login: [{ rule: 'unique' }] } })),
  ],
  [
    'another site that is let in',
    every,
    /another site/,
    () => ({}),
    (incoming) => {
      incoming.headers.origin = backend.url;
      incoming.headers.referer = `${backend.url}/`;
    },
  ],
  [
    'words that are trimmed and escaped',
    'POST /v1/messages',
    /exactly/,
    json(/\/messages/, (body) => JSON.parse(JSON.stringify(body).replaceAll('<b>', '&lt;b&gt;'))),
  ],
  [
    'words without their emoji',
    'POST /v1/messages',
    /exactly/,
    () => ({}),
    (incoming) => {
      incoming.body = incoming.body.replaceAll('👻', '?');
    },
  ],
  [
    'words of half width',
    'POST /v1/messages',
    /exactly/,
    () => ({}),
    (incoming) => {
      incoming.body = incoming.body.normalize('NFKC');
    },
  ],
  ['a public answer', every, /lets no cache/, header(/\/v1\/user$/, 'cache-control', 'public, max-age=60')],
  ['an answer for a minute', every, /lets no cache/, header(/\/messages\/latest/, 'cache-control', 'max-age=60')],
  ['an answer for shared caches', every, /lets no cache/, header(/\/v1\/stories/, 'cache-control', 's-maxage=5')],
  ['JSON as a page', every, /application\/json/, header(/\/v1\/user$/, 'content-type', 'text/html; charset=utf-8')],
  ['JSON without a type', every, /application\/json/, header(/\/v1\/stories/, 'content-type', '')],
  [
    'JSON in another encoding',
    every,
    /application\/json/,
    header(/\/v1\/user$/, 'content-type', 'application/json; charset=gbk'),
  ],
  [
    'a byte order mark',
    every,
    /byte order mark/,
    ({ body }, { url = '' }) => (url.includes('/v1/user') && body ? { body: `\uFEFF${body}` } : {}),
  ],
  [
    'suggestions as texts',
    'GET /v1/messages/suggestion/{id}',
    /in the end/,
    json(/suggestion/, (body) => JSON.parse(JSON.stringify(body).replace(/"items":\[.*?\]/, '"items":["去","留"]'))),
  ],
  [
    'suggestions without ids',
    'GET /v1/messages/suggestion/{id}',
    /in the end/,
    json(/suggestion/, (body) => JSON.parse(JSON.stringify(body).replace(/\{"id":"[^"]*","text"/g, '{"text"'))),
  ],
  [
    'portraits that are gone',
    'GET /media/avatars.json',
    /pictures/,
    json(/avatars\.json/, () => ['/api/media/none.svg']),
  ],
  [
    'portraits of the cast that are gone',
    'GET /media/avatars.json',
    /pictures/,
    json(/\/v1\/stories/, (body) =>
      JSON.parse(JSON.stringify(body).replace(/"avatar":"[^"]*"/g, '"avatar":"/none.png"')),
    ),
  ],
  [
    'a price that is not the one taken',
    'POST /v1/messages',
    /price/,
    json(/\/v1\/stories/, (body) =>
      JSON.parse(JSON.stringify(body).replace(/"price_per_message":\d+/g, '"price_per_message":1')),
    ),
  ],
  [
    'a cost that is not the price',
    'POST /v1/messages',
    /price/,
    json(/\/messages/, (body) => JSON.parse(JSON.stringify(body).replace(/"cost":\d+/g, '"cost":0'))),
  ],
  [
    'rules with another price',
    'POST /v1/messages/continue',
    /price/,
    json(/capabilities/, (body: { rules: object }) => ({ ...body, rules: { ...body.rules, continue_price: 0 } })),
  ],
  [
    'a check-in that says nothing of its points',
    'POST /v1/check-in',
    /awards/,
    json(/check-in/, (body) => JSON.parse(JSON.stringify(body).replace(/"awarded":\d+/, '"awarded":0'))),
  ],
  [
    'a ledger with the oldest row first',
    'GET /v1/transactions',
    /newest/,
    json(/\/transactions/, ({ data, meta }: Page) => ({ data: data.toReversed(), meta })),
  ],
  ['a clock eight hours ahead', 'POST /v1/messages', /clock/, header(/./, 'date', 'Thu, 01 Jan 1970 00:00:00 GMT')],
  ['an order of stories that changes', stories, /keeps its order/, json(/\/v1\/stories$/, turned)],
  ['a story twice on a page', stories, /goes on by/, json(/\/v1\/stories$/, doubled)],
  [
    'a version that stays',
    'PUT /v1/user',
    /version/,
    json(/\/v1\/user$/, (body) => JSON.parse(JSON.stringify(body).replace(/"version":\d+/, '"version":1'))),
  ],
  [
    'changes with a missing row',
    'GET /v1/messages/latest',
    /the later changes/,
    json(/after=/, ({ data, meta }: Page) => ({ data: data.slice(1), meta })),
  ],
  [
    'a last message that is another',
    'GET /v1/conversations',
    /said last/,
    json(/\/conversations$/, (body) => JSON.parse(JSON.stringify(body).replace(/("last_message":\{"id":)"/, '$1"0'))),
  ],
  ...(
    [
      ['GET /v1/conversations', /\/v1\/conversations$/],
      ['GET /v1/transactions', /\/v1\/transactions$/],
      ['GET /v1/orders', /\/v1\/orders$/],
      ['GET /v1/support/tickets', /\/v1\/support\/tickets$/],
    ] as const
  ).map(([call, path]): (typeof changed)[number] => [
    'rows of everybody',
    call,
    /nothing of another/,
    json(path, leaking()),
  ]),
  ...['Secure', 'Domain=elsewhere.example', 'Path=/sanctum'].map((attribute): (typeof changed)[number] => [
    `a cookie with ${attribute}`,
    'POST /v1/register',
    /browser keeps/,
    ({ headers }) => {
      const set = headers['set-cookie']?.map((line) => `${line.replace(/; Path=\//, '')}; ${attribute}`);
      return set ? { headers: { ...headers, 'set-cookie': set } } : {};
    },
  ]),
  [
    'answers for every site',
    every,
    /no other site read/,
    ({ headers }, { headers: { origin = '' } }) => ({
      headers: { ...headers, 'access-control-allow-origin': origin, 'access-control-allow-credentials': 'true' },
    }),
  ],
  ['a HEAD that fails', stories, /HEAD/, (_, { method }) => (method === 'HEAD' ? { status: 500, body: '' } : {})],
  ['capabilities that are null', 'GET /v1/capabilities', /names to a visitor/, json(/capabilities/, () => null)],
  ['a body in no encoding', 'GET /v1/user', /what a page needs/, header(/\/v1\/user$/, 'content-encoding', 'gzip')],
  [
    'user data that is no JSON',
    'POST /broadcasting/user-auth',
    /user_data/,
    json(/user-auth/, (body: object) => ({ ...body, user_data: 'me' })),
  ],
  ['portraits at no address', 'GET /media/avatars.json', /pictures/, json(/avatars\.json/, () => ['http://['])],
  ...(['id', 'login', 'email', 'phone'] as const).map((field): (typeof changed)[number] => [
    `an invitation with ${field}`,
    'GET /v1/invites/{code}',
    /nothing private/,
    json(/\/invites\//, ({ data }: { data: object }) => ({ data: { ...data, [field]: '1' } })),
  ]),
];

describe('a backend that differs in one thing', () => {
  for (const [what, call, name, change, before] of changed) {
    test(`${what} is named at ${call}`, async () => {
      // rules for every call are checked with the calls of a sign-up
      const calls: Call[] =
        call === every
          ? ['POST /v1/register', 'GET /v1/user', stories, 'GET /v1/stories/{id}', 'GET /v1/messages/latest']
          : [];
      const found = await failures({ url: await frontOf(change, before) }, call, ...calls);
      expect(found).toContainEqual({ call, name: expect.stringMatching(name) });
    });
  }

  test('and nothing is named of the unchanged one behind the same front', async () => {
    const calls = [...new Set(changed.map(([, call]) => call))];
    expect(await failures({ url: await frontOf(() => ({})) }, ...calls)).toEqual([]);
  });
});

const events = ['suggestion.ready', 'conversation.updated', 'conversation.deleted', 'conversation.restarted'];

const sockets: [what: string, name: RegExp, fromServer: (text: string, client: WebSocket) => string | null][] = [
  [
    'data as objects',
    /JSON text of its own/,
    (text) => {
      const frame = JSON.parse(text);
      return JSON.stringify(typeof frame.data === 'string' ? { ...frame, data: JSON.parse(frame.data) } : frame);
    },
  ],
  [
    'an end right after the greeting',
    /stays open/,
    (text, client) => {
      if (text.includes('connection_established')) setImmediate(() => client.close());
      return text;
    },
  ],
  [
    'a refusal that stays open',
    /unknown key/,
    (text, client) => {
      if (text.includes('4001')) staysOpen.add(client);
      return text;
    },
  ],
  [
    'frames that are no JSON',
    /JSON text of its own/,
    (text, client) => {
      client.send('hello');
      return text;
    },
  ],
  ...[...events, 'user.updated', 'session.ended'].map((event): (typeof sockets)[number] => [
    `silence about ${event}`,
    new RegExp(event),
    (text) => (text.includes(`"event":"${event}"`) ? null : text),
  ]),
  [
    'events by their class',
    /broadcastAs/,
    (text) => text.replace('"message.created"', '"App\\\\Events\\\\MessageCreated"'),
  ],
];

describe('a socket server that differs in one thing', () => {
  for (const [what, name, fromServer] of sockets) {
    test.concurrent(`${what} is named`, async () => {
      const found = await failures({ url: backend.url, socketUrl: await socketFront(fromServer) }, 'WS /app/{key}');
      expect(found).toContainEqual({ call: 'WS /app/{key}', name: expect.stringMatching(name) });
    });
  }
});
