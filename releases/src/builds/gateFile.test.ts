import { expect, test } from '@rstest/core';
import { FileStore } from '../store/fileStore.ts';
import { temporaryFolder } from '../testing/openTestStore.ts';
import { gateFileOf, readGateFile } from './gateFile.ts';

test('a stored gate.json is read; an invalid one is ignored', async () => {
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

test('a misspelt field of a gate.json is reported as unknown, and a list is refused', () => {
  const read = () => readGateFile(Buffer.from('{"answer":{},"answers":{"GET /api/x":{"code":204}}}'));
  const details = ['answer: is not a known field', 'answers.GET /api/x.code: is not a known field'];
  expect(read).toThrow(expect.objectContaining({ details: expect.arrayContaining(details) }));
  expect(() => readGateFile(Buffer.from('[]'))).toThrow('gate.json is not what the gate reads');
});
