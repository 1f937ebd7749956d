import { Hono } from 'hono';
import * as v from 'valibot';
import type { UserRow } from '../db/schema.ts';
import { type AppEnv, type Http, userOf } from '../http/http.ts';
import { invalid, restarting } from '../http/httpError.ts';
import { type Outcome, once, requiredKey } from '../http/idempotency.ts';
import { readInput, validate } from '../http/input.ts';
import type { Services } from '../services.ts';
import { assertMayUse } from '../users/minor.ts';
import { seeUse } from '../users/minorRoutes.ts';
import { findUser } from '../users/user.ts';
import { daysOf, daysQuery, findMessages, findQuery, latestMessages, latestQuery } from './message.ts';
import {
  cancelForm,
  cancelReply,
  chooseVariant,
  continueForm,
  continueReply,
  regenerateReply,
  variantForm,
} from './replyActions.ts';
import { presentReport, reportForm, reportReply } from './reports.ts';
import { editForm, editMessage, messageForm, sendMessage } from './sendMessage.ts';
import { findSuggestion, presentSuggestion, requestSuggestion, suggestionForm } from './suggestions.ts';

/** Everything below `/v1/messages`. */
export function chatRoutes(services: Services): Hono<AppEnv> {
  const { env } = services;
  return new Hono<AppEnv>()
    .post('/', (c) =>
      charged(c, services, env.RATE_LIMIT_MESSAGES, messageForm, (user, form, key) =>
        sendMessage(services, user, form, key),
      ),
    )
    .post('/continue', (c) =>
      charged(c, services, env.RATE_LIMIT_MESSAGES, continueForm, (user, form) => continueReply(services, user, form)),
    )
    .post('/suggestion', (c) =>
      charged(c, services, env.RATE_LIMIT_WRITES, suggestionForm, (user, form) =>
        requestSuggestion(services, user, form),
      ),
    )
    .post('/:id/cancel', async (c) => {
      const user = userOf(c);
      services.limits.take(`write:${user.id}`, env.RATE_LIMIT_WRITES);
      const form = validate(cancelForm, await readInput(c));
      return c.json(await cancelReply(services, user, c.req.param('id'), form));
    })
    .post('/:id/regenerate', (c) =>
      charged(c, services, env.RATE_LIMIT_MESSAGES, v.object({}), (user) =>
        regenerateReply(services, user, c.req.param('id')),
      ),
    )
    .post('/:id/edit', (c) =>
      charged(c, services, env.RATE_LIMIT_MESSAGES, editForm, (user, form) =>
        editMessage(services, user, c.req.param('id'), form),
      ),
    )
    .post('/:id/variant', async (c) => {
      const user = userOf(c);
      services.limits.take(`write:${user.id}`, env.RATE_LIMIT_WRITES);
      const form = validate(variantForm, await readInput(c));
      return c.json(services.db.transaction(() => chooseVariant(services, user, c.req.param('id'), form)));
    })
    .get('/latest', (c) => {
      const user = userOf(c);
      const wanted = validate(latestQuery, c.req.query());
      if (!wanted.conversation_id && !wanted.story_id) throw invalid({ conversation_id: ['对话不能为空'] });
      return c.json(latestMessages(services, user, wanted));
    })
    .get('/search', (c) => c.json(findMessages(services, userOf(c), validate(findQuery, c.req.query()))))
    .get('/days', (c) => c.json(daysOf(services, userOf(c), validate(daysQuery, c.req.query()))))
    .post('/:id/report', async (c) => {
      const user = userOf(c);
      services.limits.take(`write:${user.id}`, env.RATE_LIMIT_WRITES);
      const form = validate(reportForm, await readInput(c));
      const { isNew, report } = reportReply(services, user, c.req.param('id'), form);
      return c.json({ data: presentReport(report) }, isNew ? 201 : 200);
    })
    .get('/suggestion/:id', (c) => {
      const suggestion = findSuggestion(services, userOf(c), c.req.param('id'));
      if (suggestion.status === 'pending') c.header('Retry-After', '1');
      return c.json({ data: presentSuggestion(suggestion) });
    });
}

/** A call that costs points: signed in, within the limit, valid, and carried out once per key. */
async function charged<Schema extends v.GenericSchema>(
  c: Http,
  services: Services,
  perMinute: number,
  schema: Schema,
  work: (user: UserRow, form: v.InferOutput<Schema>, key: string) => Outcome,
): Promise<Response> {
  if (services.runs.isDraining) throw restarting();
  const user = userOf(c);
  const call = c.req.path.replace(c.req.param('id') ?? '', ':id');
  services.limits.take(`${call}:${user.id}`, perMinute);
  const input = await readInput(c);
  const form = validate(schema, input);
  const key = requiredKey(c, input);
  return once(c, services, key, form, () => {
    seeUse(services, user.id);
    assertMayUse(findUser(services, user.id), services.clock());
    return work(user, form, key);
  });
}
