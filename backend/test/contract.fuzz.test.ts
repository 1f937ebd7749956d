import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@rstest/core';
import fc from 'fast-check';
import type { Client } from './client.ts';
import { openBackend } from './testBackend.ts';
import type { ErrorDto } from './wire.ts';

const runs = Number(process.env.FC_RUNS ?? 40);
const backend = await openBackend();
const reader = await backend.reader();
await reader.say({ story_id: 'nie-xiaoqian' });
await backend.settled();
const conversation = (await reader.latest({ story_id: 'nie-xiaoqian' })).meta.conversation_id ?? '';

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
    conversation,
    'nie-xiaoqian',
    randomUUID(),
  ),
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.string(), { maxLength: 3 }),
  fc.object({ maxDepth: 2 }),
);

const fields = [
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
  'current_password',
  'password_confirmation',
  'socket_id',
  'channel_name',
  'invite_code',
];
const form = fc.dictionary(fc.constantFrom(...fields), odd, { maxKeys: 8 });
const payload = fc.oneof(
  { weight: 5, arbitrary: form },
  { weight: 1, arbitrary: fc.jsonValue() },
  { weight: 1, arbitrary: fc.string() },
);
const search = fc.dictionary(
  fc.constantFrom('cursor', 'after', 'before', 'limit', 'type', 'story_id', 'conversation_id', 'expires', 'signature'),
  fc.string({ unit: 'binary', maxLength: 40 }),
);
const segment = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 30 })
  .map((text) => encodeURIComponent(text.toString().replace(/[\ud800-\udfff./]/g, 'x')));
/** What every plain object answers to. */
const inherited = ['constructor', '__proto__', '__defineGetter__', 'toString'];

const reads = [
  '/stories',
  '/stories/:x',
  '/messages/latest',
  '/messages/suggestion/:x',
  '/conversations',
  '/user',
  '/email/verify/:x/:x',
  '/transactions',
  '//api/media/:x/fox.svg',
  '//api/media/avatars/:x.svg',
  '//api/media/characters/:x.svg',
  '//api/media/covers/:x.svg',
  '//sanctum/csrf-cookie',
];
const writes = [
  'POST /messages',
  'POST /messages/suggestion',
  'POST /messages/continue',
  'DELETE /conversations/:x',
  'PUT /user',
  'PUT /user/password',
  'POST /login',
  'POST /register',
  'POST /logout',
  'POST /email/verification-notification/resend',
  'POST /check-in',
  'POST //broadcasting/auth',
  'POST //broadcasting/user-auth',
  'POST /nothing',
];

/** Every refusal speaks Laravel: a message, and with 422 the fields as well. */
function expectLaravel({ status, body }: { status: number; body: unknown }): void {
  expect(status).toBeLessThan(500);
  if (status < 400) return;
  const { message, errors } = body as ErrorDto;
  expect(message).toEqual(expect.any(String));
  if (status !== 422) return;
  const fieldErrors = Object.entries(errors ?? {});
  expect(fieldErrors.length).toBeGreaterThan(0);
  for (const [, messages] of fieldErrors) expect(messages.every((text) => typeof text === 'string')).toBe(true);
}

/** Whoever logs out has a session of their own. */
const fuzzer = async (call: string): Promise<Client> => {
  if (call === 'POST /logout') return backend.reader();
  const client = backend.client();
  for (const [name, value] of reader.cookies) client.cookies.set(name, value);
  return client;
};

describe('contract.fuzz', () => {
  for (const path of reads) {
    test(`GET ${path}`, async () => {
      await fc.assert(
        fc.asyncProperty(search, segment, async (params, part) => {
          const filled = `${path.replaceAll(':x', part)}?${new URLSearchParams(params)}`;
          expectLaravel(await reader.get(filled));
        }),
        { numRuns: runs, examples: inherited.map((name) => [{}, name]) },
      );
    });
  }

  for (const call of writes) {
    test(call, { timeout: 120_000 }, async () => {
      const [method = '', path = ''] = call.split(' ');
      await fc.assert(
        fc.asyncProperty(payload, segment, async (body, part) => {
          const client = await fuzzer(call);
          expectLaravel(
            await client.send(
              method,
              path.replaceAll(':x', part),
              typeof body === 'string' ? body : JSON.stringify(body),
            ),
          );
        }),
        { numRuns: runs },
      );
    });
  }

  test('more than 64 kB is refused with 413, with and without a length header', async () => {
    const long = JSON.stringify({ body: 'x'.repeat(66_000) });
    const withLength = await reader.post<ErrorDto>('/messages', long);
    const { 'X-XSRF-TOKEN': token, Cookie } = {
      'X-XSRF-TOKEN': reader.cookies.get('XSRF-TOKEN') ?? '',
      Cookie: reader.cookieHeader(),
    };
    const stream = new Blob([long]).stream();
    const init = {
      method: 'POST',
      body: stream,
      duplex: 'half',
      headers: { 'X-XSRF-TOKEN': token, Cookie, 'Content-Type': 'application/json' },
    };
    const chunked = await fetch(`${backend.url}/api/v1/messages`, init as RequestInit);
    expect([withLength.status, chunked.status]).toEqual([413, 413]);
    expectLaravel(withLength);
  });

  test('the server is as it was', async () => {
    const fresh = await backend.reader();
    expect((await fresh.say({ story_id: 'hua-pi' })).status).toBe(201);
    await backend.settled();
  });
});
