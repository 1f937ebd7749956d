import { GATE_FILE, type GateFile, gateFileSchema } from '@liaozhai/shared/contract';
import * as v from 'valibot';
import { refused } from '../errors.ts';
import { type BuildRecord, buildFolder, issuesOf, parseJson } from '../model/build.ts';
import type { Store } from '../store/store.ts';

/** What a remote's build tells the gate; null for one without that file. Throws refused, naming every problem. */
export function readGateFile(source: Buffer | null | undefined): GateFile | null {
  if (!source) return null;
  const parsed = v.safeParse(gateFileSchema, parseJson(source.toString('utf8'), GATE_FILE));
  if (parsed.success) return parsed.output;
  throw refused(`${GATE_FILE} is not what the gate reads`, 'Correct it and build again.', issuesOf(parsed.issues));
}

/** The same of a stored build. */
export const gateFileOf = async (store: Store, { id, files }: BuildRecord): Promise<GateFile | null> =>
  GATE_FILE in files ? readGateFile(await store.read(`${buildFolder(id)}/${GATE_FILE}`)) : null;
