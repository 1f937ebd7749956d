import { randomUUID } from 'node:crypto';
import { nameSchema } from '@liaozhai/shared/contract';
import * as v from 'valibot';
import type { Reader, Writer } from '../channel/writer.ts';
import { messageOf, newer, refused } from '../errors.ts';
import { say } from '../sentences.ts';
import { isSignedDocument, signedJson, unknownFields } from './signing.ts';

/** Returns one line per validation problem, with the path of the value. */
export const issuesOf = (issues: readonly v.BaseIssue<unknown>[]): string[] =>
  issues.map((issue) => {
    const isUnknown = issue.type === 'strict_object' && issue.expected === 'never';
    const isMissing = /object$/.test(issue.type) && issue.received === 'undefined';
    const problem = isUnknown ? 'is not a known field' : isMissing ? 'is missing' : issue.message;
    return `${v.getDotPath(issue) || 'document'}: ${problem}`;
  });

/** Parses JSON. Throws refused, naming the document. */
export function parseJson(source: string, what: string, cure = ''): unknown {
  try {
    // editors on Windows begin a file with a byte order mark
    return JSON.parse(source.replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw refused(say('notJson', { what, cause: messageOf(cause).replace(/\s+/g, ' ') }), cure);
  }
}

/** Parses a value by a schema. Throws refused with `message` and every problem. */
export function parseAs<Value>(
  schema: v.GenericSchema<unknown, Value>,
  value: unknown,
  message: string,
  cure: string,
): Value {
  const parsed = v.safeParse(schema, value);
  if (parsed.success) return parsed.output;
  throw refused(message, cure, issuesOf(parsed.issues));
}

/** Parses a JSON document by a schema. Throws refused with every problem. */
export const parseDocument = <Value>(
  schema: v.GenericSchema<unknown, Value>,
  source: string,
  what: string,
  cure: string,
): Value => parseAs(schema, parseJson(source, what, cure), say('documentDamaged', { what }), cure);

/** Parses JSON; null if it is damaged. */
export function jsonOrNull(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    return null;
  }
}

/** Parses an optional JSON document by a schema; null if it is missing or damaged. */
export function parseOrNull<Value>(
  schema: v.GenericSchema<unknown, Value>,
  source: Buffer | string | null | undefined,
): Value | null {
  const parsed = v.safeParse(schema, jsonOrNull(source?.toString() ?? ''));
  return parsed.success ? parsed.output : null;
}

/** Parses an optional document; null if it is missing, damaged or not signed by this key. */
export function signedOrNull<Document>(
  source: Buffer | string | null | undefined,
  schema: v.GenericSchema<unknown, Document>,
  publicKey: string,
): Document | null {
  const document = parseOrNull(schema, source);
  return isSignedDocument(document, publicKey) ? document : null;
}

/** Parses a signed document of a channel, and verifies form and signature. Throws refused, naming it `what`. */
export function parseSigned<Document extends { channel: string }>(
  source: string,
  schema: v.GenericSchema<unknown, Document>,
  { what, cure, channel, publicKey }: Record<'what' | 'cure' | 'channel' | 'publicKey', string>,
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

const headSchema = v.object({
  format: v.literal(1),
  channel: nameSchema,
  /** Makes every document's bytes unique. Of an agenda it begins with the number of the newest log entry that it includes. */
  nonce: v.string(),
  sig: v.string(),
});

/** A signed pointer `<folder>/<channel>.json`. A missing one counts as `empty`. */
export function signedPointer<Contents>(
  folder: 'agendas' | 'webhooks',
  contents: v.GenericSchema<unknown, Contents>,
  empty: Contents,
) {
  const keyOf = (channel: string) => `${folder}/${channel}.json`;
  const schema = v.intersect([headSchema, contents]);
  const parse = (source: string, { channel, key: { publicKey } }: Pick<Reader, 'channel' | 'key'>) => {
    const [what, cure] =
      folder === 'agendas'
        ? [say('theAgenda', { channel }), say('agendaCure')]
        : [say('theWebhooks', { channel }), say('webhooksCure')];
    const document = parseSigned(source, schema, { what, cure, channel, publicKey });
    assertKnown(source, document, what);
    return { contents: v.parse(contents, document), nonce: document.nonce };
  };
  return {
    /** Throws refused if the document is damaged or unsigned. */
    async read(reader: Reader): Promise<{ contents: Contents; nonce: string; tag: string | null }> {
      const pointer = await reader.store.readPointer(keyOf(reader.channel));
      return pointer
        ? { ...parse(pointer.body, reader), tag: pointer.tag }
        : { contents: empty, nonce: '0:', tag: null };
    },
    /** Returns the text of a new document. Throws refused if readers would refuse it. */
    sign({ channel, key }: Writer, next: object, prefix = ''): string {
      const text = signedJson({ format: 1, channel, nonce: `${prefix}${randomUUID()}`, ...next }, key);
      parse(text, { channel, key });
      return text;
    },
    /** `false` = another writer was faster. */
    swap: ({ store, channel }: Writer, text: string, tag: string | null) =>
      store.swapPointer(keyOf(channel), text, tag),
  };
}
