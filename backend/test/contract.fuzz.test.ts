import { describe, expect, test } from '@rstest/core';
import fc from 'fast-check';
import { laravelProblem } from '../conformance/check.ts';
import { openBackend } from './testBackend.ts';

// Fuzzes the calls of this server only. Those of the contract are fuzzed in ../conformance/checks/fuzz.ts.
const runs = Number(process.env.FC_RUNS ?? 40);
const backend = await openBackend();

describe('contract.fuzz', () => {
  const segment = fc
    .string({ unit: 'binary', minLength: 1, maxLength: 30 })
    .map((text) => encodeURIComponent(text.replace(/[\ud800-\udfff./]/g, 'x')));
  /** Properties of every plain object. */
  const inherited = ['constructor', '__proto__', '__defineGetter__', 'toString'];

  for (const path of [':x/fox.svg', 'avatars/:x.svg', 'characters/:x.svg', 'covers/:x.svg']) {
    test(`GET /api/media/${path}`, async () => {
      const visitor = backend.client();
      await fc.assert(
        fc.asyncProperty(segment, async (part) => {
          const answer = await visitor.get(`//api/media/${path.replace(':x', part)}`);
          expect(answer.status === 200 || laravelProblem(answer) === null).toBe(true);
        }),
        { numRuns: runs, examples: inherited.map((name) => [name]) },
      );
    });
  }

  test('a body over 64 kB is refused with 413, with and without a length header', async () => {
    const reader = await backend.reader();
    const long = JSON.stringify({ body: 'x'.repeat(66_000) });
    const withLength = await reader.post('/messages', long);
    const init = {
      method: 'POST',
      body: new Blob([long]).stream(),
      duplex: 'half',
      headers: {
        'X-XSRF-TOKEN': reader.cookies.get('XSRF-TOKEN') ?? '',
        Cookie: reader.cookieHeader(),
        'Content-Type': 'application/json',
      },
    };
    const chunked = await fetch(`${backend.url}/api/v1/messages`, init as RequestInit);
    expect([withLength.status, chunked.status]).toEqual([413, 413]);
    expect(laravelProblem(withLength)).toBeNull();
  });
});
