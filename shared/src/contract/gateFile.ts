import * as v from 'valibot';
import { dictionarySchema, textSchema } from './releases.ts';

/** A remote's settings for the release gate, next to its `package.json`. The build contains it; no page requests it. */
export const GATE_FILE = 'gate.json';

const CALL = /^(GET|POST|PUT|PATCH|DELETE) (https?:\/\/[\w.-]+(:\d+)?)?(\/(?!builds\/)[\w.~:-]+)+$/;
const callSchema = v.pipe(
  v.string(),
  v.regex(
    CALL,
    'must be a method and a path such as "GET /api/v1/gifts/:id", or an address of another origin, without a query',
  ),
);
const statusSchema = v.pipe(v.number(), v.integer(), v.minValue(200), v.maxValue(599));

export const gateFileSchema = v.strictObject({
  /** Responses for the gate's browser. Other calls get 503. */
  answers: v.optional(
    dictionarySchema(
      callSchema,
      v.strictObject({ status: v.optional(statusSchema, 200), body: v.optional(v.unknown(), null) }),
    ),
    {},
  ),
  /** Slots and late chunks that the gate cannot open, with the reason. */
  unopened: v.optional(dictionarySchema(textSchema(120, 1), textSchema(300, 1)), {}),
});

export type GateFile = v.InferOutput<typeof gateFileSchema>;
