import { describe, expect, test } from '@rstest/core';
import { AxiosError, AxiosHeaders, CanceledError, type InternalAxiosRequestConfig } from 'axios';
import { toApiError } from './errors';

const config = { method: 'post', headers: new AxiosHeaders(), data: '{"login":"宁采臣"}' };

const answered = (
  status: number,
  data: unknown = '',
  headers: Record<string, string> = {},
  of: InternalAxiosRequestConfig = config,
) =>
  new AxiosError('', undefined, of, undefined, {
    status,
    statusText: '',
    data,
    headers: new AxiosHeaders(headers),
    config: of,
  });

describe('a failed request has the kind of its cure', () => {
  const table: [string, AxiosError, object][] = [
    ['no network', new AxiosError('', 'ERR_NETWORK', config), { kind: 'offline' }],
    ['10 s are over', new AxiosError('', 'ECONNABORTED', config), { kind: 'timeout' }],
    ['the connection timed out', new AxiosError('', 'ETIMEDOUT', config), { kind: 'timeout' }],
    ['511 of a hotel’s gateway', answered(511, '<html>'), { kind: 'offline' }],
    ['511 in JSON', answered(511, { message: 'Sign in' }), { kind: 'offline' }],
    ['401', answered(401, { message: '请登录' }), { kind: 'unauthenticated', message: '请登录' }],
    [
      '402',
      answered(402, { code: 'insufficient_balance', required: 3, balance: 1 }),
      { kind: 'insufficientBalance', required: 3, balance: 1 },
    ],
    ['402 without figures', answered(402), { kind: 'insufficientBalance', required: 0, balance: 0 }],
    ['403', answered(403), { kind: 'forbidden' }],
    ['403 of 未成年人模式', answered(403, { code: 'minor_mode' }), { kind: 'minorMode' }],
    ['404', answered(404, { message: '没有这个故事' }), { kind: 'notFound', message: '没有这个故事' }],
    [
      '404 of a route that Laravel does not have',
      answered(404, { message: 'The route api/v1/check-in could not be found.' }),
      { kind: 'server', status: 404 },
    ],
    [
      '404 of a route that another backend does not have',
      answered(404, { message: '没有这个接口', code: 'route_missing' }),
      { kind: 'server', status: 404 },
    ],
    [
      '405 of a route that has other methods',
      answered(405, {
        message: 'The DELETE method is not supported for route api/v1/conversations/7. Supported methods: GET.',
      }),
      { kind: 'server', status: 405 },
    ],
    [
      '404 of a row that Laravel does not find',
      answered(404, { message: 'No query results for model [App\\Models\\Conversation] 7' }),
      { kind: 'notFound' },
    ],
    ['404 without more words', answered(404, { message: '' }), { kind: 'notFound' }],
    ['408', answered(408), { kind: 'timeout' }],
    ['409', answered(409, { code: 'busy' }), { kind: 'conflict', code: 'busy' }],
    ['409 at a price in text', answered(409, { price: '9.00' }), { kind: 'conflict', code: '', price: 9 }],
    ['409 at a price below 0', answered(409, { price: -9 }), { kind: 'conflict', code: '' }],
    ['409 while busy, next to a price', answered(409, { code: 'busy', price: 9 }), { kind: 'conflict', code: 'busy' }],
    ['410', answered(410), { kind: 'gone' }],
    [
      '422',
      answered(422, { message: '有误', errors: { login: ['已被占用'] } }),
      { kind: 'invalid', message: '有误', fields: { login: ['已被占用'] } },
    ],
    ['422 without fields', answered(422, { errors: null }), { kind: 'invalid', fields: {} }],
    ['429', answered(429, '', { 'retry-after': '17' }), { kind: 'tooOften', retryAfterSeconds: 17 }],
    ['429 that does not say', answered(429), { kind: 'tooOften', retryAfterSeconds: 60 }],
    ['429 with nonsense', answered(429, '', { 'retry-after': 'soon' }), { kind: 'tooOften', retryAfterSeconds: 60 }],
    ['500', answered(500, { message: 'Server Error' }), { kind: 'server', status: 500 }],
    ['503 as a page', answered(503, '<html>down</html>'), { kind: 'server', status: 503 }],
    ['419 for good', answered(419), { kind: 'server', status: 419 }],
  ];
  for (const [name, cause, expected] of table)
    test(name, () => {
      expect(toApiError(cause)).toEqual(expected);
    });

  test('429 until a date', () => {
    const inAMinute = new Date(Date.now() + 60_000).toUTCString();
    const error = toApiError(answered(429, '', { 'retry-after': inAMinute }));
    if (error.kind !== 'tooOften') throw new Error(error.kind);
    expect(error.retryAfterSeconds).toBeGreaterThan(57);
    expect(error.retryAfterSeconds).toBeLessThan(62);
  });
});

describe('a read without input', () => {
  const read = (params: object, status: number, data?: unknown) => {
    const { response } = answered(status, data, {}, { method: 'get', headers: new AxiosHeaders(), params });
    return toApiError(new AxiosError('', undefined, response?.config, undefined, response));
  };

  test.each([402, 422])('is neither invalid input nor a refused purchase, also with status %i', (status) => {
    expect(read({ cursor: 'x' }, status, { errors: {} })).toEqual({
      kind: 'server',
      status,
    });
  });

  test('is no more a refused purchase than an order, which is paid with money', () => {
    const config = { method: 'post', url: '/v1/orders', headers: new AxiosHeaders() };
    const { response } = answered(402, { message: '付款被拒绝' }, {}, config);
    expect(toApiError(new AxiosError('', undefined, response?.config, undefined, response))).toEqual({
      kind: 'server',
      status: 402,
      message: '付款被拒绝',
    });
  });

  test('differs from a search, whose input may be refused', () => {
    expect(read({ q: '狐' }, 422, { errors: { q: ['太短'] } })).toMatchObject({
      kind: 'invalid',
      fields: { q: ['太短'] },
    });
  });
});

test('returns an API error unchanged', () => {
  const error = { kind: 'offline' as const };
  expect(toApiError(error)).toBe(error);
});

test('throws other errors', () => {
  const defect = new TypeError('x is not a function');
  expect(() => toApiError(defect)).toThrow(defect);
  const aborted = new CanceledError();
  expect(() => toApiError(aborted)).toThrow(aborted);
});
