import type { GenericSchema, InferOutput } from 'valibot';
import { readAs } from '../../contract';

/** Decodes responses and events; logs each unreadable field once per page. */
function createDecoder() {
  const reported = new Set<string>();
  return <Schema extends GenericSchema>(
    schema: Schema,
    value: unknown,
    from: string,
  ): InferOutput<Schema> | undefined => {
    const unread = new Map<string, number>();
    const decoded = readAs(schema, value, (field) => unread.set(field, (unread.get(field) ?? 0) + 1));
    for (const [field, count] of unread) {
      if (reported.has(`${from} ${field}`)) continue;
      reported.add(`${from} ${field}`);
      console.warn(`${from}: ${field} could not be read, ${count} left out`);
    }
    return decoded;
  };
}

export const decode = createDecoder();
