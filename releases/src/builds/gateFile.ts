import { GATE_FILE, type GateFile, gateFileSchema } from '@liaozhai/shared/contract';
import * as v from 'valibot';
import { nullIfRefused } from '../errors.ts';
import { type BuildRecord, buildFolder } from '../model/build.ts';
import { parseAs, parseJson } from '../model/documents.ts';
import type { Store } from '../store/store.ts';

const gateSchema = v.pipe(
  v.unknown(),
  v.check((value) => !Array.isArray(value), 'must be an object'),
  gateFileSchema,
);

/** Parses a remote's instructions for the gate; null if the build has none. Throws refused with every problem. */
export function readGateFile(source: Buffer | null | undefined): GateFile | null {
  if (!source) return null;
  const cure = 'Correct it and build again.';
  const value = parseJson(source.toString('utf8'), GATE_FILE, cure);
  return parseAs(gateSchema, value, `${GATE_FILE} is not what the gate reads`, cure);
}

/** Reads the gate file of a stored build. An unknown form counts as missing, so that it does not block other teams. */
export async function gateFileOf(
  store: Store,
  { id, files }: Pick<BuildRecord, 'id' | 'files'>,
): Promise<GateFile | null> {
  if (!(GATE_FILE in files)) return null;
  return store
    .read(`${buildFolder(id)}/${GATE_FILE}`)
    .then(readGateFile)
    .catch(nullIfRefused);
}
