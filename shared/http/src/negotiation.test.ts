import { describe, expect, test } from '@rstest/core';
import { encodingFor, isFresh } from './negotiation.ts';

describe('the encoding of an answer', () => {
  test.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['BR', 'br'],
    ['x-gzip-like, brotli', 'identity'],
    ['br;q=0', 'identity'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0.000,gzip;q=0.0', 'identity'],
    ['br ; q=0 , GZIP', 'gzip'],
    ['identity;q=1, *;q=0', 'identity'],
    ['*', 'br'],
    ['*;q=0', 'identity'],
    ['br;q=0, *', 'gzip'],
    ['gzip;q=1, br;q=0.5', 'gzip'],
    ['gzip;q=0.5, identity', 'identity'],
    ['identity;q=0', 'identity'],
  ])('for "%s" is %s', (accept, encoding) => {
    // the second call uses the cache
    expect([encodingFor(accept), encodingFor(accept)]).toEqual([encoding, encoding]);
  });
});

describe('a reader who has', () => {
  test.each([
    ['"a-br"', true],
    ['W/"a-br"', true],
    ['"x", "a-br"', true],
    ['"x",W/"a-br" ,"y"', true],
    ['*', true],
    ['"a"', false],
    ['a-br', false],
    ['"x", "y"', false],
    ['', false],
  ])('%s: fresh is %s', (match, expected) => {
    expect(isFresh({ 'if-none-match': match }, '"a-br"')).toBe(expected);
    // `fetch` adds this header to such a request
    expect(isFresh({ 'if-none-match': match, 'cache-control': 'no-cache' }, '"a-br"')).toBe(expected);
  });

  test('nothing is sent everything', () => {
    expect(isFresh({}, '"a"')).toBe(false);
  });
});
