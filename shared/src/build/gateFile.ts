import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { GATE_FILE, gateFileSchema } from '../contract/gateFile.ts';

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`${GATE_FILE} is not JSON (${(cause as Error).message}): correct it`);
  }
}

/** Returns the text of a remote's file for the release gate, `{}` with defaults if missing. Throws with every problem if invalid. */
export function gateFileText(root: string): string {
  const file = join(root, GATE_FILE);
  const parsed = v.safeParse(gateFileSchema, existsSync(file) ? parse(readFileSync(file, 'utf8')) : {});
  if (parsed.success) return `${JSON.stringify(parsed.output)}\n`;
  const problems = parsed.issues.map((issue) => `${v.getDotPath(issue) ?? 'the file'}: ${issue.message}`);
  throw new Error(`${GATE_FILE} cannot be read by the release gate: correct it\n${problems.join('\n')}`);
}
