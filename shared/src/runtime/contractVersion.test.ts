import { CONTRACT_VERSION } from '@liaozhai/shared/contract';
import { expect, test } from '@rstest/core';
import * as runtime from './index';

/** Hash of the exported names of this version, so that no change goes without a new version. */
const digestOf = (names: string[]): number =>
  [...names.sort().join()].reduce((sum, sign) => (sum * 31 + (sign.codePointAt(0) ?? 0)) % 1_000_000_007, 7);

test('the contract version matches the names of the runtime’s exports', () => {
  // an added name raises the minor version, a removed one the major; then update the hash here
  expect({ version: CONTRACT_VERSION, names: digestOf(Object.keys(runtime)) }).toEqual({
    version: '2.2.0',
    names: 959213075,
  });
});
