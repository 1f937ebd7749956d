import { expect, test } from '@rstest/core';
import { FileStore } from '../store/fileStore.ts';
import { temporaryFolder } from '../testing/openTestStore.ts';
import { gateFileOf } from './gateFile.ts';

test('a stored gate.json is read; one of another form counts as none, so that it stops no other team', async () => {
  const folder = await temporaryFolder();
  const store = new FileStore(folder.path);
  const stored = async (version: string, text: string) => {
    await store.create(`builds/gifts/${version}-0123456789ab/gate.json`, text);
    const files = { 'gate.json': { integrity: '', size: text.length } };
    return gateFileOf(store, { id: `gifts@${version}+0123456789ab`, files });
  };
  expect(await stored('1.0.0', '{"unopened":{"wrap":"needs a parcel"}}')).toEqual({
    answers: {},
    unopened: { wrap: 'needs a parcel' },
  });
  expect(await stored('1.0.3', '\uFEFF{}')).toEqual({ answers: {}, unopened: {} });
  expect(await stored('1.0.1', '{"pages":{}}')).toBeNull();
  expect(await stored('1.0.2', '{')).toBeNull();
  await folder.remove();
});
