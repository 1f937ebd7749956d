import { afterEach, describe, expect, rs, test } from '@rstest/core';
import { AxiosError, type InternalAxiosRequestConfig } from 'axios';
import { fakeApi, onTestEnd } from '../../testing';
import { claimEarlyBody } from './earlyRequest';
import { replaceAdapter, request } from './request';

const holder = globalThis as { __liaozhai?: unknown };

afterEach(() => {
  delete holder.__liaozhai;
});

function withEarly(response: Promise<Response>, url = '/api/v1/stories') {
  holder.__liaozhai = { early: { url, response } };
  const { requests, restore } = fakeApi({
    'GET /v1/stories': { from: 'network' },
    'POST /v1/stories': { from: 'post' },
  });
  onTestEnd(restore);
  return requests;
}

const json = (body: unknown, status = 200) => Promise.resolve(new Response(JSON.stringify(body), { status }));
const early = () => json({ from: 'loader' });

test('the request that the page began before us is used, once', async () => {
  const requests = withEarly(early());
  expect(await request({ url: '/v1/stories' })).toEqual({ from: 'loader' });
  expect(requests).toHaveLength(0);
  expect(await request({ url: '/v1/stories' })).toEqual({ from: 'network' });
  expect(requests).toHaveLength(1);
});

test.each([
  [422, { 'user.login': ['The login has already been taken.'] }],
  [400, [{ path: 'login', msg: 'login has already been taken' }]],
])('a %i results in errors at its fields', async (status, errors) => {
  const body = { message: 'The given data was invalid.', errors };
  const { restore } = fakeApi({ 'POST /v1/profile': { status, body } });
  onTestEnd(restore);
  const fields = { login: ['已被占用'] };
  await expect(request({ url: '/v1/profile', method: 'POST', body: { login: '宁' } })).rejects.toMatchObject({
    kind: 'invalid',
    fields,
  });
});

describe('a body is read by its bytes', () => {
  const utf8 = new TextEncoder().encode('{"name":"聂小倩"}');
  const quote = (name: number[]) => Uint8Array.of(...new TextEncoder().encode('{"name":"'), ...name, 0x22, 0x7d);
  const gbk = quote([0xc4, 0xf4, 0xd0, 0xa1, 0xd9, 0xbb]);
  const damaged = quote([0xe5, 0xe5, 0xb0, 0x8f]);

  /** Answers as XMLHttpRequest does: text by the declared charset, unless bytes are requested. */
  const answer = async (bytes: Uint8Array<ArrayBuffer>, type: string, status: number) => {
    const charset = /charset=(.+)/.exec(type)?.[1];
    const restore = replaceAdapter(async (config) => {
      const data = config.responseType === 'arraybuffer' ? bytes.buffer : new TextDecoder(charset).decode(bytes);
      const response = { data, status, statusText: '', headers: { 'content-type': type }, config };
      if (status === 200) return response;
      throw new AxiosError('', undefined, config, undefined, response);
    });
    onTestEnd(restore);
    return request({ url: '/v1/user' }).catch((error: unknown) => error);
  };

  test.each([
    ['UTF-8 declared as Latin-1', utf8, 'application/json; charset=ISO-8859-1'],
    ['UTF-8 in a page of Latin-1', utf8, 'text/html; charset=windows-1252'],
    ['UTF-8 without a charset', utf8, 'application/json'],
    ['GBK that is declared', gbk, 'application/json; charset=GBK'],
  ])('%s', async (_, bytes, type) => {
    expect(await answer(bytes, type, 200)).toEqual({ name: '聂小倩' });
    withEarly(Promise.resolve(new Response(bytes, { headers: { 'content-type': type } })));
    expect(await request({ url: '/v1/stories' })).toEqual({ name: '聂小倩' });
  });

  test('a damaged character costs only itself', async () => {
    expect(await answer(damaged, 'application/json; charset=utf8mb4', 200)).toEqual({ name: '\ufffd小' });
  });

  test('one that is not UTF-8 waits for axios', async () => {
    withEarly(Promise.resolve(new Response(gbk)));
    expect(await claimEarlyBody({ method: 'get', url: '/api/v1/stories' }, new Promise(() => {}))).toBeUndefined();
  });

  test('the words of a refusal, too', async () => {
    const words = new TextEncoder().encode('{"message":"今天已经签到过了"}');
    expect(await answer(words, 'application/json; charset=ISO-8859-1', 409)).toMatchObject({
      message: '今天已经签到过了',
    });
  });
});

describe('a redirect to the sign-in page', () => {
  const page = new TextEncoder().encode('<!doctype html><title>登录</title>').buffer;
  const sentTo = (responseURL: string, url: string, status: number) => {
    const restore = replaceAdapter(async (config) => {
      const response = { data: page, status, statusText: '', headers: {}, config, request: { responseURL } };
      if (status === 200) return response;
      throw new AxiosError('', undefined, config, undefined, response);
    });
    onTestEnd(restore);
    return request({ url }).catch((error: unknown) => error);
  };

  test.each([
    ['https://app.example/login', 200],
    ['https://app.example/login', 404],
    ['https://app.example/zh/sign-in/?next=%2Fapi', 200],
  ])('%s with %i counts as a 401', async (place, status) => {
    expect(await sentTo(place, '/v1/user', status)).toEqual({ kind: 'unauthenticated' });
  });

  test.each([
    ['https://login/api/v1/user', '/v1/user'],
    ['https://app.example/api/v1/login', '/v1/login'],
    ['https://app.example/api/v1/login-history', '/v1/login-history'],
  ])('%s does not', async (place, url) => {
    expect(await sentTo(place, url, 404)).toEqual({ kind: 'server', status: 404, requestId: expect.any(String) });
  });

  test('counts as one for the early request, too', async () => {
    const response = new Response('<!doctype html>', { status: 200 });
    Object.defineProperty(response, 'url', { value: 'https://app.example/login' });
    withEarly(Promise.resolve(response));
    await expect(request({ url: '/v1/stories' })).rejects.toEqual({ kind: 'unauthenticated' });
  });
});

test.each([
  { msg: '操作失败', data: [] },
  { message: '操作失败', data: [] },
  { detail: '操作失败', data: null },
  { ok: false, data: [] },
  { errcode: 40001, data: [] },
])('the early request’s %j is no list: axios says that it failed', async (body) => {
  withEarly(json(body));
  expect(await claimEarlyBody({ method: 'get', url: '/api/v1/stories' }, new Promise(() => {}))).toBeUndefined();
  await expect(request({ url: '/v1/stories' })).rejects.toMatchObject({ kind: 'server' });
});

test('other requests do not use the early request', async () => {
  withEarly(early());
  expect(await request({ url: '/v1/stories', params: { cursor: 'c' } })).toEqual({ from: 'network' });
  expect(await request({ url: '/v1/stories', method: 'POST' })).toEqual({ from: 'post' });
  expect(await request({ url: '/v1/stories' })).toEqual({ from: 'loader' });
});

test('its failure is handled like any other', async () => {
  withEarly(json({ message: '书架塌了' }, 500));
  await expect(request({ url: '/v1/stories' })).rejects.toMatchObject({
    kind: 'server',
    status: 500,
    message: '书架塌了',
  });
});

test('without a response the request is sent again', async () => {
  const requests = withEarly(Promise.reject(new TypeError('Failed to fetch')));
  expect(await request({ url: '/v1/stories' })).toEqual({ from: 'network' });
  expect(requests).toHaveLength(1);
});

test('it has the time limit of its request', async () => {
  withEarly(new Promise(() => {}));
  await expect(request({ url: '/v1/stories', timeoutMs: 20 })).rejects.toEqual({ kind: 'timeout' });
});

test('aborting ends the wait for it', async () => {
  withEarly(new Promise(() => {}));
  const abort = new AbortController();
  const asked = request({ url: '/v1/stories', signal: abort.signal });
  abort.abort();
  const cause = await asked.catch((error: unknown) => error as Error);
  expect((cause as Error).name).toBe('CanceledError');
});

describe('before axios has loaded', () => {
  async function freshClient(response: Promise<Response>) {
    withEarly(response);
    rs.resetModules();
    const fresh = await import('./request');
    const network = async (config: InternalAxiosRequestConfig) => ({
      data: { from: 'network' },
      status: 200,
      statusText: '',
      headers: {},
      config,
    });
    onTestEnd(fresh.replaceAdapter(network));
    return fresh;
  }

  test('a failure waits for it, and is handled like any other', async () => {
    const fresh = await freshClient(json({ message: '书架塌了' }, 500));
    const asked = fresh.request({ url: '/v1/stories' });
    await expect(asked).rejects.toMatchObject({ kind: 'server', status: 500, message: '书架塌了' });
  });

  test.each([{ code: 500 }, { success: false }, { status: 'error' }, { error: '书架塌了' }])(
    'a failure with status 200 is one too: %j',
    async (stated) => {
      const fresh = await freshClient(json({ message: '书架塌了', data: [], ...stated }));
      const asked = fresh.request({ url: '/v1/stories' });
      await expect(asked).rejects.toMatchObject({ kind: 'server', status: 500, message: '书架塌了' });
    },
  );

  test('a captive portal’s page is not a response: the network is probed', async () => {
    const fresh = await freshClient(Promise.resolve(new Response('<html>请先登录 Wi-Fi</html>')));
    expect(await fresh.request({ url: '/v1/stories' })).toEqual({ from: 'network' });
  });

  test('a response that takes longer than axios has the time limit of its request', async () => {
    const fresh = await freshClient(new Promise(() => {}));
    await expect(fresh.request({ url: '/v1/stories', timeoutMs: 20 })).rejects.toEqual({ kind: 'timeout' });
  });

  test('a response with an endless body has that time limit, too', async () => {
    const fresh = await freshClient(Promise.resolve(new Response(new ReadableStream())));
    await expect(fresh.request({ url: '/v1/stories', timeoutMs: 20 })).rejects.toEqual({ kind: 'timeout' });
  });

  test('wrappers of requests receive the response', async () => {
    const fresh = await freshClient(early());
    const seen: unknown[] = [];
    const undo = fresh.aroundRequests((next) => async (config) => {
      const answer = await next(config);
      seen.push(answer.data);
      return answer;
    });
    expect(await fresh.request({ url: '/v1/stories' })).toEqual({ from: 'loader' });
    undo();
    expect(await fresh.request({ url: '/v1/stories' })).toEqual({ from: 'network' });
    expect(seen).toEqual([{ from: 'loader' }]);
  });
});
