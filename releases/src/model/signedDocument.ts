import * as v from 'valibot';
import { newer, refused } from '../errors.ts';
import { say } from '../sentences.ts';
import { issuesOf, jsonOrNull, parseJson } from './build.ts';
import { isSignedDocument, unknownFields } from './signing.ts';

interface Expected {
  /** Name of the document in refusals. */
  what: string;
  cure: string;
  channel: string;
  publicKey: string;
}

/** Parses a signed document of a channel, and verifies form and signature. Throws refused. */
export function parseSigned<Document extends { channel: string }>(
  source: string,
  schema: v.GenericSchema<unknown, Document>,
  { what, cure, channel, publicKey }: Expected,
): Document {
  const value = parseJson(source, what, cure);
  const parsed = v.safeParse(schema, value);
  const isOurs = isSignedDocument(value, publicKey);
  if (!parsed.success) {
    const issues = issuesOf(parsed.issues);
    throw isOurs ? newer(what, issues) : refused(say('documentDamaged', { what }), cure, issues);
  }
  if (parsed.output.channel !== channel)
    throw refused(say('documentOfAnother', { what, other: parsed.output.channel }), cure);
  if (!isOurs) throw refused(say('documentUnsigned', { what }), cure);
  return parsed.output;
}

/** Throws refused for unknown fields: rewriting would lose them, and they may be rules of a later release. */
export function assertKnown(source: string, document: object, what: string, ignored = ''): void {
  const { [ignored]: _, ...fields }: Record<string, unknown> = JSON.parse(source);
  const unknown = unknownFields(fields, document);
  if (unknown.length > 0) throw newer(what, unknown);
}

/** Parses an optional document; null if it is missing, damaged or not signed by this key. */
export function signedOrNull<Document>(
  source: Buffer | string | null | undefined,
  schema: v.GenericSchema<unknown, Document>,
  publicKey: string,
): Document | null {
  const parsed = v.safeParse(schema, jsonOrNull(source?.toString() ?? ''));
  return parsed.success && isSignedDocument(parsed.output, publicKey) ? parsed.output : null;
}
