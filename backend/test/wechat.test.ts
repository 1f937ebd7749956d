import { createHash } from 'node:crypto';
import { expect, test } from '@rstest/core';
import { ConfigError, readEnv } from '../src/env.ts';
import { wechatSignature } from '../src/wechat.ts';
import { startWechat } from './fakeWechat.ts';
import { openBackend } from './testBackend.ts';

const clock = { now: Date.parse('2026-11-25T08:00:00Z') };
const wechat = await startWechat();
const backend = await openBackend({ APP_ORIGIN: 'https://app.example', ...wechat.settings }, () => clock.now);
type Signed = { data: { app_id: string; timestamp: number; nonce_str: string; signature: string } };
const sign = (url: string) => backend.client().get<Signed>(`/wechat/signature?url=${encodeURIComponent(url)}`);
const page = 'https://app.example/story/nie-xiaoqian?chat=1';

test('the signature matches WeChat’s documentation', () => {
  const ticket = 'sM4AOVdWfPE4DxkXGEs8VMCPGGVi4C3VM0P37wVUCFvkVAy_90u5h9nbSlYy3-Sl-HhTdfl2fzFy1AOcHKP7qg';
  const signature = wechatSignature(ticket, 'Wm3WZYTPz0wzccnW', 1414587457, 'http://mp.weixin.qq.com?params=value');
  expect(signature).toBe('0f9de62fce790f9a083d5c99e95740ceb90c27ed');
});

test('a page is signed without its fragment; the ticket is shared until it expires', async () => {
  const answers = await Promise.all([sign(page), sign(`${page}#top`), sign(page)]);
  for (const { status, body } of answers) {
    expect(status).toBe(200);
    const { app_id, timestamp, nonce_str, signature } = body.data;
    expect([app_id, timestamp]).toEqual(['wx0123456789abcdef', clock.now / 1000]);
    const signed = `jsapi_ticket=ticket-2&noncestr=${nonce_str}&timestamp=${timestamp}&url=${page}`;
    expect(signature).toBe(createHash('sha1').update(signed).digest('hex'));
  }
  expect(wechat.asked).toEqual(['POST /cgi-bin/stable_token', 'GET /cgi-bin/ticket/getticket']);
  clock.now += 6_800_000;
  await sign(page);
  expect(wechat.asked).toHaveLength(2);
  clock.now += 200_000;
  await sign(page);
  expect(wechat.asked).toHaveLength(4);
});

test('the capability is announced', async () => {
  const { body } = await backend.client().get<{ data: string[] }>('/capabilities');
  expect(body.data).toContain('wechat.share');
});

test.each(['https://elsewhere.example/explore', 'https://app.example.evil.example/', 'javascript:alert(1)', '', 'x'])(
  '%s is refused, since it is not a page of the product',
  async (url) => {
    expect((await sign(url)).status).toBe(422);
  },
);

test('a refusal by WeChat results in 503 for a minute', async () => {
  clock.now += 7_200_000;
  wechat.said.refusal = { errcode: 40164, errmsg: 'invalid ip, not in whitelist' };
  const before = wechat.asked.length;
  const refused = await sign(page);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '60']);
  await sign(page);
  expect(wechat.asked).toHaveLength(before + 1);
  wechat.said.refusal = null;
  clock.now += 61_000;
  expect((await sign(page)).status).toBe(200);
});

test('without an Official Account the call is missing; an incomplete one is refused at the start', async () => {
  const plain = await openBackend();
  expect((await plain.client().get('/wechat/signature?url=x')).status).toBe(404);
  expect((await plain.client().get<{ data: string[] }>('/capabilities')).body.data).not.toContain('wechat.share');
  expect(() => readEnv({ WECHAT_APP_ID: 'wx1' })).toThrow(ConfigError);
  expect(() => readEnv({ WECHAT_APP_SECRET: 'x' })).toThrow('WECHAT_APP_ID: missing');
});
