import { afterEach, expect, test } from '@rstest/core';
import { backendProxy, devPolicy, pageOrigins } from './devServer.ts';

afterEach(() => {
  delete process.env.CONNECT_ORIGINS;
  delete process.env.IMG_ORIGINS;
  delete process.env.BACKEND_URL;
  delete process.env.HOST_ORIGIN;
});

test('a remote alone may reach what the product allows, and no other origin', () => {
  expect(devPolicy()).toContain("img-src 'self' data:;");
  process.env.CONNECT_ORIGINS = 'https://api.partner.example,wss://live.partner.example';
  process.env.IMG_ORIGINS = 'https://img.partner.example';
  expect(devPolicy()).toMatch(
    /connect-src 'self'[^;]* https:\/\/api\.partner\.example wss:\/\/live\.partner\.example;/,
  );
  expect(devPolicy()).toContain("img-src 'self' data: https://img.partner.example;");
  process.env.CONNECT_ORIGINS = 'api.partner.example';
  expect(devPolicy).toThrow('CONNECT_ORIGINS: every entry must be an origin like https://cdn.example');
});

test.each(['staging.example', 'localhost:8000', 'https://staging.example/api', 'https://me:secret@staging.example'])(
  'BACKEND_URL=%s is refused with the expected form',
  (address) => {
    process.env.BACKEND_URL = address;
    expect(backendProxy).toThrow(`BACKEND_URL="${address}" must be an address like https://staging.example`);
  },
);

test('a trailing slash of BACKEND_URL is ignored', () => {
  process.env.BACKEND_URL = ' https://staging.example/ ';
  process.env.HOST_ORIGIN = 'https://app.example/';
  expect(Object.values(backendProxy()).map(({ target }) => target)).toContain('https://staging.example');
  expect(pageOrigins()).toContain('https://app.example');
});
