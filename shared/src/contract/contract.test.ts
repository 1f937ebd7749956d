import { describe, expect, test } from '@rstest/core';
import * as v from 'valibot';
import {
  announcedSchema,
  buildDescriptionSchema,
  capabilitiesSchema,
  channelFields,
  cursorPageSchema,
  dictionarySchema,
  instantSchema,
  latestSchema,
  liveChannelSchema,
  matchRoute,
  messageEventSchema,
  messageSchema,
  orderSchema,
  ordersSchema,
  readAs,
  satisfiesContract,
  sentSchema,
  signedInSchema,
  singleSchema,
  slotProblem,
  storySchema,
  textSchema,
  transactionSchema,
} from '.';

describe('the route of a pathname', () => {
  const routes = ['/explore', '/story/:id', '/story/list', '/gifts/:id?', '/help/*'].map((path) => ({ path }));

  test('fixed words come before parameters, in any order', () => {
    expect(matchRoute(routes, '/story/list')?.path).toBe('/story/list');
    expect(matchRoute(routes, '/story/nie-xiaoqian')?.path).toBe('/story/:id');
  });

  test('optional and open ends match, other depths do not', () => {
    expect(matchRoute(routes, '/gifts')?.path).toBe('/gifts/:id?');
    expect(matchRoute(routes, '/help/a/b')?.path).toBe('/help/*');
    expect(matchRoute(routes, '/story')).toBeUndefined();
    expect(matchRoute(routes, '/story/a/b')).toBeUndefined();
  });

  test.each([
    ['/explore', '/explore', '/explore/*'],
    ['/explore', '/explore', '/:page/*'],
    ['/explore', '/explore', '/:page/:part?/:piece?'],
    ['/story/nie-xiaoqian', '/story/:id', '/story/*/chat'],
    ['/story/nie-xiaoqian', '/story/:id', '/:page/:id/:part?'],
    ['/gifts/new', '/gifts/:id?', '/gifts/*'],
    ['/gifts/new', '/gifts/*', '/:page/*'],
    ['/gifts', '/gifts/:id?', '/gifts/*'],
  ])('%s is of %s, not of %s, which has more parts', (pathname, path, longer) => {
    const both = [path, longer].map((each) => ({ path: each }));
    expect(matchRoute(both, pathname)?.path).toBe(path);
    expect(matchRoute(both.reverse(), pathname)?.path).toBe(path);
  });
});

test('a remote runs on a runtime of the same major version that is not older', () => {
  expect(satisfiesContract('^1.2.0', '1.2.0')).toBe(true);
  expect(satisfiesContract('^1.2.0', '1.3.0')).toBe(true);
  expect(satisfiesContract('^1.2.1', '1.2.0')).toBe(false);
  expect(satisfiesContract('^1.2.0', '2.2.0')).toBe(false);
  expect(['1.2.0', '2.0.0', '2.1.0', '3.0.0'].map((host) => satisfiesContract('^1.2.0 || ^2.1', host))).toEqual([
    true,
    false,
    true,
    false,
  ]);
});

describe('a page of a list', () => {
  const parse = (body: unknown) => readAs(cursorPageSchema(v.object({ id: v.number() })), body);
  const items = [{ id: 1 }];

  test.each([
    ['of a resource', { data: items, links: {}, meta: { next_cursor: 'n' } }, 'n'],
    ['in the raw form', { data: items, next_cursor: 'n' }, 'n'],
    ['that is the last', { data: items, meta: { next_cursor: null } }, null],
    ['as a bare list', items, null],
    ['with an invalid entry', { data: [null, ...items, { id: 'x' }] }, null],
    ['whole under data, by cursorPaginate()', { data: { data: items, next_cursor: 'n', next_page_url: '' } }, 'n'],
    ['whole under data, by paginate()', { data: { current_page: 1, data: items, next_page_url: null } }, null],
    ['in an envelope of its own', { code: 0, msg: 'ok', data: { data: items, meta: { next_cursor: 'n' } } }, 'n'],
    ['under data next to its meta', { data: { items }, meta: { next_cursor: 'n' } }, 'n'],
    ['of an admin kit', { code: 0, data: { list: { 0: items[0], 2: null }, total: 1 } }, null],
    ['of MyBatis', { code: 200, data: { records: items, total: 1, size: 20 } }, null],
    ['of Spring', { content: items, totalPages: 1, last: true }, null],
    ['of Sequelize', { count: 1, rows: items }, null],
    ['of Mongoose', { docs: items, hasNextPage: false }, null],
    ['of Django', { count: 1, next: null, results: items }, null],
    ['of Django, before another', { next: 'http://in.example/v1/stories?page=2', results: items }, '?page=2'],
    [
      'whole under data, by paginate(), before another',
      { data: { data: items, next_page_url: '/x?page=2' } },
      '?page=2',
    ],
    ['of a resource by paginate()', { data: items, links: { next: '/x?q=a&page=2#x' }, meta: {} }, '?q=a&page=2'],
    ['with links of paginate() and a cursor', { data: items, links: [{ url: null }], next_cursor: 'n' }, 'n'],
    ['with its pages counted', { data: items, meta: { current_page: 1, last_page: 3 } }, '?page=2'],
    ['with its pages counted, as text', { data: { items, page: '2', total_pages: '3' } }, '?page=3'],
    ['with its pages counted, the last', { data: items, meta: { current_page: 3, last_page: 3 } }, null],
    ['with its pages counted, empty', { data: items, current_page: 1, last_page: 0 }, null],
    ['with a link that has no query', { data: items, links: { next: '/x/2' }, next: 2 }, null],
  ])('%s', (_, body, nextCursor) => {
    expect(parse(body)).toEqual({ items, nextCursor });
  });

  test.each([
    { code: 0, msg: 'ok', data: null },
    { data: null, meta: { next_cursor: null } },
    { code: 200, data: { list: null, total: 0 } },
  ])('is empty where Go sends its rows as null: %j', (body) => {
    expect(parse(body)).toEqual({ items: [], nextCursor: null });
  });

  test.each([
    null,
    '<html>',
    {},
    { data: null },
    { data: null, message: '出错了' },
    { data: {} },
    { data: { id: 1 } },
    { data: 'x', items: 7 },
    7,
  ])('is refused in another shape: %j', (body) => {
    expect(parse(body)).toBeUndefined();
  });

  test('as a bare list is read by calls with further fields, too', () => {
    expect(readAs(latestSchema, [{ id: 'm' }])).toMatchObject({ data: [{ id: 'm' }] });
    expect(readAs(ordersSchema, [{ id: 'o' }])).toMatchObject({ data: [{ id: 'o' }] });
    expect(readAs(announcedSchema, { 0: { id: 'g', points: 20 } })).toMatchObject({ data: [{ id: 'g' }] });
    expect(readAs(capabilitiesSchema, ['invites'])?.names).toEqual(['invites']);
  });

  test('is read from data by calls with further fields, too', () => {
    const rows = (row: object) => ({ data: { data: [row], current_page: 1 } });
    expect(readAs(latestSchema, { data: { ...rows({ id: 'm' }).data, meta: { version: 3 } } })).toMatchObject({
      data: [{ id: 'm' }],
      meta: { version: 3 },
    });
    expect(readAs(ordersSchema, { ...rows({ id: 'o' }), meta: { method: '微信' } })).toMatchObject({
      data: [{ id: 'o' }],
      meta: { method: '微信' },
    });
    expect(readAs(announcedSchema, rows({ id: 'g', points: 20 }))?.data).toMatchObject([{ id: 'g' }]);
    expect(readAs(capabilitiesSchema, { data: { items: ['invites'] } })?.names).toEqual(['invites']);
  });
});

test('a single entity is found bare or wrapped, also in an envelope of its own', () => {
  const schema = singleSchema(v.object({ id: v.number() }));
  for (const body of [{ id: 1 }, { data: { id: 1 } }, { code: 0, msg: 'ok', data: { data: { id: 1 } } }])
    expect(readAs(schema, body)).toEqual({ id: 1 });
  expect(readAs(schema, null)).toBeUndefined();
});

test('the signed-in user is read from every form that Laravel writes', () => {
  const user = { id: '7', name: '宁采臣' };
  for (const body of [user, { data: user }, { user }, { user: { data: user } }, { data: { user } }])
    expect(readAs(signedInSchema, body)?.user).toMatchObject(user);
  for (const body of [{ user, type: 'email' }, { data: user, type: 'email' }, { data: { user, type: 'email' } }])
    expect(readAs(signedInSchema, body)?.type).toBe('email');
  for (const body of [{}, null, '<html>', { user: null }, { user: {} }])
    expect(readAs(signedInSchema, body)).toBeUndefined();
});

describe('what the API answers', () => {
  test('ids may be numbers, optional fields missing, null or of another type', () => {
    expect(v.parse(storySchema, { id: 7, title: '聂小倩', tags: null, price_per_message: 'free', extra: 1 })).toEqual({
      id: '7',
      title: '聂小倩',
      tags: [],
      characters: [],
    });
  });

  test('enumerated values may be in capitals, padded or another framework’s word', () => {
    expect(v.parse(messageSchema, { id: 1, role: 'USER', status: 'Streaming' })).toMatchObject({
      role: 'user',
      status: 'streaming',
    });
    expect(v.parse(messageSchema, { id: 1, role: 'human', status: ' completed ' })).toMatchObject({
      role: 'user',
      status: 'completed',
    });
    expect(v.parse(orderSchema, { id: 1, status: 'PAID' }).status).toBe('paid');
    expect(v.parse(transactionSchema, { id: 1, type: 'RECHARGE' }).type).toBe('recharge');
  });

  test('an invalid entry of a list is omitted', () => {
    const story = { id: 's', title: '画皮', characters: [{ id: 1, name: '王生' }, null, { name: 'without id' }] };
    expect(v.parse(storySchema, story).characters.map(({ name }) => name)).toEqual(['王生']);
  });

  test.each([undefined, null, '', '<html>', 0, [], {}, { data: {} }, { message: {} }])(
    'a body of another shape is refused: %j',
    (body) => {
      for (const schema of [latestSchema, sentSchema, messageSchema])
        expect(v.safeParse(schema, body).success).toBe(false);
    },
  );

  test('an event carries its message in an envelope or flat', () => {
    expect(v.parse(messageEventSchema, { version: 3, message: { id: 'm', body: '好' } }).message?.id).toBe('m');
    expect(v.parse(messageEventSchema, { id: 'm', body: '好' }).id).toBe('m');
  });
});

test.each([
  ['my.entries', null],
  ['explore.tiles', null],
  ['gifts.member', null],
  ['my.entrys', 'my.entries'],
  ['myEntries', 'my.entries'],
  ['message.menus', 'message.menu'],
  ['gift.member', 'gifts.member'],
  ['explore.tile', 'explore.tiles'],
  ['', 'legal'],
])('a remote with the route gifts that fills the slot "%s" meant %s', (name, meant) => {
  expect(slotProblem(name, [{ name: 'gifts' }])?.match(/did you mean "([^"]*)"/)?.[1] ?? null).toBe(meant);
});

test('a build with an invalid path pattern is refused with place and rule', () => {
  const description = {
    ...{ kind: 'remote', name: 'gifts', label: '礼物', version: '1.0.0', sourceHash: '0123456789ab' },
    ...{ federation: '2.9.2', shared: { provides: {}, requires: {} }, entry: 'remoteEntry.js', contract: '^1.0.0' },
    ...{
      global: 'gifts_1',
      chunkGlobal: 'chunks_gifts_1',
      exposes: ['./remote'],
      module: { js: [], css: [] },
      slots: [],
    },
  };
  const route = {
    name: 'gifts',
    title: '礼物',
    requiresAuth: false,
    keepAlive: false,
    outsideShell: false,
    js: [],
    css: [],
  };
  const parse = (path: string) => v.safeParse(buildDescriptionSchema, { ...description, routes: [{ ...route, path }] });
  expect(parse('/gifts/:id').success).toBe(true);
  const refused = parse('gifts/../my');
  expect(refused.issues?.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`)).toEqual([
    'routes.0.path: must be a path pattern such as /story/:id',
  ]);
});

describe('documents that are signed or hashed', () => {
  const accepts = (schema: v.GenericSchema, value: unknown) => v.safeParse(schema, value).success;

  test('builds with names of object properties are preserved', () => {
    const builds = { constructor: 'constructor@1.0.0', prototype: 'prototype@1.0.0', toString: 'x' };
    expect(v.parse(dictionarySchema(v.string(), v.string()), builds)).toEqual(builds);
  });

  test('a list is not a dictionary, and a wrong key or value is reported with its place', () => {
    const schema = v.object({ files: dictionarySchema(textSchema(3), v.number()) });
    const problems = (files: unknown) =>
      v.safeParse(schema, { files }).issues?.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`);
    expect(problems([])).toEqual(['files: must be an object']);
    expect(problems({ a: 1, long: 2 })).toEqual(['files.long: must have 0 to 3 characters']);
    expect(problems({ a: '1' })).toEqual(['files.a: Invalid type: Expected number but received "1"']);
  });

  test('an instant exists and is in UTC with seconds', () => {
    for (const text of ['2026-11-21T00:00:00Z', '2024-02-29T23:59:59.123456Z'])
      expect(accepts(instantSchema, text)).toBe(true);
    for (const text of [
      '2026-02-29T00:00:00Z',
      '2026-11-21 00:00:00Z',
      '2026-11-21T24:00:00Z',
      '2026-11-21T00:00Z',
      '2026-11-21T00:00:00+08:00',
    ])
      expect(accepts(instantSchema, text)).toBe(false);
  });

  test('characters are counted, not their UTF-16 units', () => {
    expect(accepts(textSchema(30), '🦊'.repeat(30))).toBe(true);
    expect(accepts(textSchema(30), '🦊'.repeat(31))).toBe(false);
  });
});

test('an open page reads every channel document that the release system writes', () => {
  const document = {
    ...{ format: 1, channel: 'production', seq: 8, nonce: 'n', lastGood: {}, killed: ['gifts@1.0.0+a'], digests: {} },
    ...{ stable: { set: 'a'.repeat(40), builds: [], since: '2026-11-21T00:00:00.000Z', by: 'fox' }, candidate: null },
    ...{ previous: null, expires: '2026-11-22T00:00:00.000Z', sig: 's' },
  };
  const { channel, seq, stable, killed } = v.parse(v.object(channelFields), document);
  expect(v.parse(liveChannelSchema, document)).toMatchObject({ channel, seq, killed, stable: { set: stable?.set } });
});

test('capabilities of a server are read from the forms that PHP writes', () => {
  const answer = {
    data: { '0': 'invites', '2': 'orders', '3': 'of-tomorrow' },
    rules: { sign_up_gift: '100.00', check_in_rewards: ['10', 12], invite_reward: { inviter: '50' } },
  };
  expect(readAs(capabilitiesSchema, answer)).toEqual({
    names: ['invites', 'orders'],
    rules: { signUpGift: 100, checkInRewards: [10, 12], inviteReward: { inviter: 50 } },
  });
});
