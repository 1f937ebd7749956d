// `pnpm openapi`: writes backend/openapi.json, the strict contract, from the schemas of the conformance checks.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import { type Call, callNames } from './calls.ts';
import * as entities from './entities.ts';
import { type Json, json, type Operation, operations, ref } from './openApiOperations.ts';

const { Entity, text, time, whole } = entities;

const Rules = v.partial(
  v.object({
    sign_up_gift: whole,
    story_prices: v.record(text, whole),
    continue_price: whole,
    suggestion_price: whole,
    check_in_rewards: v.array(whole),
    invite_reward: v.object({ inviter: whole, invitee: whole }),
  }),
);

const parts: Record<string, v.GenericSchema> = {
  ...Object.fromEntries(
    Object.entries(entities).flatMap(([name, entity]) => (entity instanceof Entity ? [[name, entity.agreed]] : [])),
  ),
  Invitation: v.object({
    name: text,
    avatar: v.nullable(text),
    rewards: v.object({ inviter: whole, invitee: whole }),
  }),
  Rules,
  AccountEmail: v.object({
    email: v.nullable(text),
    verified_at: v.nullable(time),
    pending: v.nullable(v.object({ email: text, sent_at: time })),
  }),
  Refusal: v.object({ message: text, code: v.optional(text) }),
  Conflict: v.object({ message: text, code: text, price: v.optional(whole), rules: v.optional(Rules) }),
  InvalidFields: v.object({ message: text, errors: v.record(text, v.array(text)) }),
};

const refusal = (description: string, schema = 'Refusal'): Json => ({
  description,
  content: { 'application/json': { schema: ref(schema) } },
});

function operationOf(method: string, path: string, operation: Operation): Json {
  const { summary, answer, query = {}, body, capability, isPublic, isPaid } = operation;
  const [status, responseSchema] = answer;
  const segments = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  return {
    summary,
    ...(capability && { 'x-capability': capability }),
    tags: [path.split('/').find((part) => !['', 'api', 'v1'].includes(part))],
    security: isPublic ? [] : [{ session: [], ...(method !== 'GET' && { token: [] }) }],
    parameters: [
      ...segments.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
      ...Object.entries(query).map(([name, schema]) => ({
        name,
        in: 'query',
        required: schema.type !== 'optional',
        schema: json(schema),
      })),
    ],
    ...(body && { requestBody: { required: true, content: { 'application/json': { schema: json(body) } } } }),
    responses: {
      [status]: {
        description: responseSchema ? 'Done' : 'Done, without a body',
        ...(responseSchema && { content: { 'application/json': { schema: responseSchema } } }),
      },
      ...(!isPublic && { 401: refusal('Not signed in') }),
      ...(segments.length > 0 && { 404: refusal('Missing, or somebody else’s') }),
      ...(isPaid && { 409: refusal('Conflict; `price_changed` where it costs more than `price`', 'Conflict') }),
      ...(method !== 'GET' && { 419: refusal('The CSRF token is missing or old') }),
      ...(body && { 422: refusal('Fields that cannot be accepted', 'InvalidFields') }),
      429: {
        ...refusal('Too many requests'),
        headers: { 'Retry-After': { description: 'Seconds', schema: { type: 'integer' } } },
      },
    },
  };
}

/** Returns the contract as OpenAPI 3.1. The page also reads the more tolerant forms that docs/api.md lists. */
export function openApi(): Json {
  const paths: Record<string, Json> = {};
  for (const [call, operation] of Object.entries(operations)) {
    const [method = '', pathOfCall = ''] = call.split(' ');
    const path = /^\/(v1|media)\//.test(pathOfCall) ? `/api${pathOfCall}` : pathOfCall;
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(method, path, operation) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Liaozhai API',
      version: '1.0.0',
      description: 'Calls with `x-capability` are optional: a server announces them by `GET /api/v1/capabilities`.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(parts).map(([name, schema]) => [name, json(schema)])),
      securitySchemes: {
        session: { type: 'apiKey', in: 'cookie', name: 'laravel_session', description: 'Sanctum’s session cookie' },
        token: { type: 'apiKey', in: 'header', name: 'X-XSRF-TOKEN', description: 'The decoded cookie XSRF-TOKEN' },
      },
    },
  };
}

/** Calls that a page does not make, or that have another name here. */
const undocumentedCalls: Call[] = [
  'GET /v1/conversations?q',
  'POST /v1/payments/webhook/{provider}',
  'POST /broadcasting/user-auth',
  'WS /app/{key}',
  'every call',
];

/** Returns the calls of the contract that the document lacks. */
export const missingCalls = (): string[] =>
  callNames.filter((call) => !(call in operations) && !undocumentedCalls.includes(call));

export const openApiText = (): string => `${JSON.stringify(openApi(), null, 2)}\n`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(join(import.meta.dirname, '../openapi.json'), openApiText());
}
