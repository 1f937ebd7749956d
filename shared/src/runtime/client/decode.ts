import type { GenericSchema, InferOutput } from 'valibot';
import { readAs } from '../../contract';

/** Decodes responses and events; logs each unreadable field once per page. */
function createDecoder() {
  const reportedFields = new Set<string>();
  return <Schema extends GenericSchema>(
    schema: Schema,
    value: unknown,
    source: string,
  ): InferOutput<Schema> | undefined => {
    const unreadableFields = new Map<string, number>();
    const decoded = readAs(schema, value, (field) =>
      unreadableFields.set(field, (unreadableFields.get(field) ?? 0) + 1),
    );
    for (const [field, count] of unreadableFields) {
      if (reportedFields.has(`${source} ${field}`)) continue;
      reportedFields.add(`${source} ${field}`);
      console.warn(`${source}: ${field} could not be read, ${count} left out`);
    }
    return decoded;
  };
}

export const decode = createDecoder();
