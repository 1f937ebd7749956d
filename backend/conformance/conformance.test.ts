import { describe, expect, test } from '@rstest/core';
import { startWechat } from '../test/fakeWechat.ts';
import { openBackend } from '../test/testBackend.ts';
import { attempt, checks } from './conform.ts';
import { createTransport } from './visitor.ts';
import { World } from './world.ts';

// Runs the checks of `pnpm conformance` against the reference backend, with the rate limits of production and with
// replies that are slow enough to be interrupted.
const wechat = await startWechat();
const backend = await openBackend({
  ...wechat.settings,
  STORYTELLER_START_DELAY_MS: '150',
  STORYTELLER_PIECE_DELAY_MS: '30',
  STORYTELLER_PIECE_CHARACTERS: '12',
  RATE_LIMIT_LOGIN: '5',
  RATE_LIMIT_REGISTER: '100',
});
const { url } = backend;
const target = {
  url,
  origin: url,
  socketUrl: url.replace('http', 'ws'),
  key: '{key}',
  runs: Number(process.env.FC_RUNS ?? 40),
};
const world = new World(target, createTransport());

describe('conformance', () => {
  for (const [index, check] of checks.entries()) {
    test(`${check.call} ${check.name}`, async () => {
      const isFirst = checks.findIndex(({ call }) => call === check.call) === index;
      const { outcome, came } = await attempt(check, world, isFirst);
      expect({ outcome, came }).toEqual({ outcome: 'holds', came: undefined });
    });
  }
});
