import { afterEach, expect, test } from '@rstest/core';
import { devPolicy } from './devServer.ts';

afterEach(() => {
  delete process.env.CONNECT_ORIGINS;
  delete process.env.IMG_ORIGINS;
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
