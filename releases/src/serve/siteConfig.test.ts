import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@rstest/core';
import { temporaryFolder } from '../testing/openTestStore.ts';
import { readSiteConfig } from './siteConfig.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder.remove());

function configured(content: string) {
  const file = join(folder.path, 'site.json');
  writeFileSync(file, content);
  return readSiteConfig(file, 'HOST_CONFIG');
}

const whole = {
  brand: { name: '夜航船' },
  rechargePackages: [{ id: 'p60', points: 60, priceCents: 600, label: '尝鲜' }],
  paymentProvider: { name: '某付', checkoutUrl: '/pay' },
  support: { operator: '工作室', email: 'help@example.org', hours: '全天', wechat: 'liaozhai' },
  legal: { terms: '/t', privacy: 'https://example.org/p', version: '2' },
  realtime: { key: 'k', host: 'ws.example.org', port: 8080, channel: 'private-users.{id}' },
  devTools: true,
  rules: { storyPrices: { short: 2 }, ofAnotherBackend: 1 },
};

test('a complete configuration is read, also with a byte order mark', () => {
  expect(configured(JSON.stringify(whole))).toEqual(whole);
  expect(configured(`\uFEFF${JSON.stringify(whole)}`)).toEqual(whole);
  expect(configured('{}')).toEqual({});
});

test.each<[string, unknown]>([
  ['0', [whole]],
  ['document', '夜航船'],
  ['document', null],
  ['rechargePackage', { rechargePackage: [] }],
  ['rechargePackages.0.points', { rechargePackages: [{ id: 'p60', points: '60', priceCents: 600 }] }],
  ['rechargePackages.0.priceCents', { rechargePackages: [{ id: 'p60', points: 60, priceCents: 6.5 }] }],
  ['paymentProvider.checkoutUrl', { paymentProvider: { name: '某付', checkoutURL: '/pay' } }],
  ['support.emial', { support: { emial: 'help@example.org' } }],
  ['support.operator', { support: { operator: '' } }],
  ['legal.term', { legal: { term: '/t' } }],
  ['realtime.port', { realtime: { port: '8080' } }],
  ['realtime.channel', { realtime: { channel: 'private-users' } }],
  ['realtime.appKey', { realtime: { appKey: 'k' } }],
  ['devTools', { devTools: 'yes' }],
  ['rules', { rules: 'dear' }],
])('an invalid %s is refused by name', (field, wrong) => {
  expect(() => configured(JSON.stringify(wrong))).toThrow(
    expect.objectContaining({ kind: 'refused', details: expect.arrayContaining([expect.stringContaining(field)]) }),
  );
});

test('a missing or malformed file is reported with a cure', () => {
  expect(() => readSiteConfig(join(folder.path, 'none.json'), 'HOST_CONFIG=none.json')).toThrow(
    /^HOST_CONFIG=none\.json cannot be read \(ENOENT/,
  );
  expect(() => readSiteConfig(folder.path, 'HOST_CONFIG')).toThrow(/^HOST_CONFIG cannot be read \(EISDIR/);
  expect(() => configured('{ "realtime": ')).toThrow(
    expect.objectContaining({
      message: expect.stringMatching(/^HOST_CONFIG is damaged: it is not JSON/),
      cure: expect.stringContaining('Correct'),
    }),
  );
});
