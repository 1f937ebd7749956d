import { Socket } from 'node:net';
import { describe, expect, test } from '@rstest/core';
import { originAt, type Source, sourceOf } from './source.ts';

const peer: Source = { ip: '', host: 'app.example', scheme: 'http' };
const behindProxy = (headers: Record<string, string>) =>
  sourceOf({ headers: { host: 'app.example', ...headers }, socket: new Socket() }, true);

describe('behind a proxy', () => {
  test.each<[string, string, Partial<Source>]>([
    ['for', '192.0.2.1', { ip: '192.0.2.1' }],
    ['for', '198.51.100.7, 192.0.2.1', { ip: '192.0.2.1' }],
    ['for', '2001:db8::1', { ip: '2001:db8::1' }],
    // with a port, as Azure's and Amazon's gateways may send it
    ['for', '192.0.2.1:4711', { ip: '192.0.2.1' }],
    ['for', '198.51.100.7:1, [2001:db8::1]:4711', { ip: '2001:db8::1' }],
    ['for', '[2001:db8::1]', { ip: '2001:db8::1' }],
    ...['unknown', '_hidden', '999.1.1.1', '192.0.2.1:x', '[192.0.2.1', ',', ''].map(
      (address): [string, string, Partial<Source>] => ['for', address, {}],
    ),
    ['proto', 'https', { scheme: 'https' }],
    ['proto', 'HTTPS', { scheme: 'https' }],
    ['proto', 'https, http', {}],
    ['proto', 'wss', {}],
    ['host', 'inner, App.example:8443', { host: 'app.example:8443' }],
    ['host', '[2001:db8::1]:8443', { host: '[2001:db8::1]:8443' }],
    ...['a b', 'a/b', 'a@b', 'a:99999', 'a:', '1.2.3.4.5', '999.1.1.1', '[:::::]', 'xn--', '0x100000000'].map(
      (host): [string, string, Partial<Source>] => ['host', host, {}],
    ),
  ])('X-Forwarded-%s: %s', (name, value, expected) => {
    expect(behindProxy({ [`x-forwarded-${name}`]: value })).toEqual({ ...peer, ...expected });
  });
});

test.each([
  ['127.0.0.1', 'http://127.0.0.1:80'],
  ['0.0.0.0', 'http://127.0.0.1:80'],
  ['::1', 'http://[::1]:80'],
])('a server on %s is at %s', (address, origin) => expect(originAt(address, 80)).toBe(origin));
