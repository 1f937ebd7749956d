import { expect, rs, test } from '@rstest/core';
import { BRAND } from '../contract';
import { onTestEnd } from '../testing';
import { parseHostConfig } from './hostConfig';

const nothing = {
  brand: BRAND,
  rechargePackages: [],
  paymentProvider: null,
  support: {},
  legal: {},
  realtime: { key: '{key}', channel: 'private-App.Models.User.{id}' },
  rules: {},
  vitals: { sample: 0 },
  spans: false,
  devTools: false,
};

test('a site that configures nothing has the defaults', () => {
  expect(parseHostConfig(undefined)).toEqual(nothing);
  expect(parseHostConfig('{}')).toEqual(nothing);
});

test('configured values are used', () => {
  const config = {
    brand: { name: '兰若', seal: '兰', slogan: '一寺一灯', icp: '鲁ICP备1号' },
    rechargePackages: [{ id: 'p60', points: 60, priceCents: 600, label: '多送' }],
    paymentProvider: { name: '某付', checkoutUrl: 'https://pay.example/' },
    support: { operator: '兰若书局', email: 'a@b.example' },
    legal: { terms: 'https://lanruo.example/terms', version: '2' },
    realtime: { key: 'k', host: 'ws.example', port: 443, channel: 'private-u.{id}' },
    rules: { signUpGift: 100 },
    vitals: { sample: 0.5 },
    spans: true,
    devTools: false,
  };
  expect(parseHostConfig(JSON.stringify(config))).toEqual(config);
});

test('an invalid part has its default, and the rest is used', () => {
  const config = {
    rechargePackages: [{ id: 1 }],
    realtime: { key: 5, port: 'x' },
    support: { email: 7, hours: '9–21' },
    spans: 'yes',
  };
  expect(parseHostConfig(JSON.stringify(config))).toEqual({ ...nothing, support: { hours: '9–21' } });
});

test('malformed JSON causes a warning and the defaults', () => {
  const warned = rs.spyOn(console, 'warn').mockImplementation(() => {});
  onTestEnd(() => warned.mockRestore());
  expect(parseHostConfig('{oops')).toEqual(nothing);
  expect(warned).toHaveBeenCalledTimes(1);
});
