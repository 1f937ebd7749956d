import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from '@rstest/core';

/** Starts a fake of WeChat's API for signatures, until the file's tests end. `settings` configure a backend for it. */
export async function startWechat() {
  const asked: string[] = [];
  const said = { refusal: null as object | null };
  const server = createServer(async (incoming, response) => {
    let body = '';
    for await (const chunk of incoming) body += chunk;
    const { pathname, searchParams } = new URL(incoming.url ?? '', 'http://wechat');
    asked.push(`${incoming.method} ${pathname}`);
    const answers: Record<string, () => object> = {
      '/cgi-bin/stable_token': () =>
        JSON.parse(body).secret === 'app-secret'
          ? { access_token: 'token-1', expires_in: 7200 }
          : { errcode: 40125, errmsg: 'invalid appsecret' },
      '/cgi-bin/ticket/getticket': () =>
        searchParams.get('access_token') === 'token-1' && searchParams.get('type') === 'jsapi'
          ? { errcode: 0, errmsg: 'ok', ticket: `ticket-${asked.length}`, expires_in: 7200 }
          : { errcode: 40001, errmsg: 'invalid credential' },
    };
    response.end(JSON.stringify(said.refusal ?? answers[pathname]?.() ?? {}));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterAll(() => void server.close());
  const settings = {
    WECHAT_APP_ID: 'wx0123456789abcdef',
    WECHAT_APP_SECRET: 'app-secret',
    WECHAT_API_ORIGIN: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  };
  return { asked, said, settings };
}
