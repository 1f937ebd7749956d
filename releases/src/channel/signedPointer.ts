import { randomUUID } from 'node:crypto';
import { nameSchema } from '@liaozhai/shared/contract';
import * as v from 'valibot';
import { assertKnown, parseSigned } from '../model/signedDocument.ts';
import { signedJson } from '../model/signing.ts';
import { say } from '../sentences.ts';
import type { Reader, Writer } from './writer.ts';

const headSchema = v.object({
  format: v.literal(1),
  channel: nameSchema,
  /** Makes every document's bytes unique. */
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
  const parse = (source: string, { channel, key: { publicKey } }: Pick<Reader, 'channel' | 'key'>): Contents => {
    const [what, cure] =
      folder === 'agendas'
        ? [say('theAgenda', { channel }), say('agendaCure')]
        : [say('theWebhooks', { channel }), say('webhooksCure')];
    const document = parseSigned(source, schema, { what, cure, channel, publicKey });
    assertKnown(source, document, what);
    return v.parse(contents, document);
  };
  return {
    /** Throws refused if the document is damaged or unsigned. */
    async read(reader: Reader): Promise<{ contents: Contents; tag: string | null }> {
      const pointer = await reader.store.readPointer(keyOf(reader.channel));
      return pointer ? { contents: parse(pointer.body, reader), tag: pointer.tag } : { contents: empty, tag: null };
    },
    /** Returns the text of a new document. Throws refused if readers would refuse it. */
    sign({ channel, key }: Writer, next: object): string {
      const text = signedJson({ format: 1, channel, nonce: randomUUID(), ...next }, key);
      parse(text, { channel, key });
      return text;
    },
    /** `false` = another writer was faster. */
    swap: ({ store, channel }: Writer, text: string, tag: string | null) =>
      store.swapPointer(keyOf(channel), text, tag),
  };
}
