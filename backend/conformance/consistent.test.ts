import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@rstest/core';
import type { Call } from './calls.ts';
import { type Before, type Change, failures, frontOf, json, socketFront } from './testing/changedBackend.ts';

// Backends whose answers and events have the right form, and contradict each other or the documented behaviour.

type Row = Record<string, unknown>;
type Body = Record<'data' | 'meta' | 'message' | 'reply' | 'user' | 'rules', Row> & { conversation: { story: Row } };

/** Replaces fields of each row, or of another part of the responses. */
const set = (path: RegExp, fields: Row, part: (body: Body) => Row | Row[] = ({ data }) => data): Change =>
  json(path, (body: Body) => {
    for (const row of [part(body)].flat()) Object.assign(row, fields);
    return body;
  });
const meta = ({ meta }: Body) => meta;
const whole = (body: Body): Row => body;
const rules = ({ rules }: Body) => rules;

/** Changes the JSON body of a request. */
const sending =
  (path: RegExp, change: (body: Row) => Row): Before =>
  (incoming) => {
    if (path.test(incoming.path) && incoming.body.startsWith('{'))
      incoming.body = JSON.stringify(change(JSON.parse(incoming.body)));
  };
const without =
  (field: string) =>
  ({ [field]: _, ...body }: Row) =>
    body;
/** A backend that knows no keys. */
const forgetful =
  (path: RegExp): Before =>
  (incoming) => {
    if (!path.test(incoming.path)) return;
    const client_id = randomUUID();
    sending(path, (body) => ({ ...body, client_id }))(incoming);
    incoming.headers['idempotency-key'] = client_id;
  };
const status =
  (path: RegExp, code: number): Change =>
  (received, { url = '' }) =>
    path.test(url) && received.status < 300 ? { status: code } : {};
const same: Change = () => ({});

const SEND: Call = 'POST /v1/messages';
const LATEST: Call = 'GET /v1/messages/latest';
const LIST: Call = 'GET /v1/conversations';
const EVERY: Call = 'every call';
const sent = /\/messages$/;
const latest = /\/messages\/latest/;
const list = /\/conversations$/;
const tooHigh = { balance: 1_000_000 };

const changed: [what: string, call: Call, name: RegExp, change: Change, before?: Before][] = [
  ['a continuation with 200', EVERY, /status of the API/, status(/continue$/, 200)],
  ['a check-in with 201', EVERY, /status of the API/, status(/check-in$/, 201)],
  ['a reply elsewhere', SEND, /alike/, set(sent, { conversation_id: '9' }, ({ reply }) => reply)],
  ['a reply before its message', SEND, /alike/, set(sent, { seq: 0 }, ({ reply }) => reply)],
  ['a message of the other side', SEND, /alike/, set(sent, { role: 'assistant' }, ({ message }) => message)],
  ['a message without its key', SEND, /alike/, set(sent, { client_id: null }, ({ message }) => message)],
  ['another story', SEND, /alike/, set(sent, { id: 'x' }, ({ conversation }) => conversation.story)],
  ['a last seq of 0', LATEST, /describes in meta/, set(latest, { last_seq: 0 }, meta)],
  ['a version ahead', LIST, /said last/, set(latest, { version: 1e6 }, meta)],
  ['a version behind', LATEST, /describes in meta/, set(latest, { version: 1 }, meta)],
  ['a reply that never ends', LATEST, /describes in meta/, set(latest, { active_message_id: '9' }, meta)],
  ['more than there is', LATEST, /describes in meta/, set(latest, { has_more: true }, meta)],
  ['more variants than texts', LATEST, /describes in meta/, set(latest, { variant: 3, variants: 1 })],
  [
    'times that go back',
    LATEST,
    /describes in meta/,
    json(latest, ({ data, ...more }: { data: Row[] }) => {
      const times = data.map((_, index) => new Date(1e12 - index).toISOString());
      return { ...more, data: data.map((row, index) => ({ ...row, created_at: times[index] })) };
    }),
  ],
  [
    'changes in another order',
    LATEST,
    /later changes/,
    json(/after=/, ({ data, ...more }: { data: Row[] }) => ({ ...more, data: data.toReversed() })),
  ],
  ['no reply in progress', SEND, /second message/, set(latest, { active_message_id: null }, meta)],
  ['a list without the last seq', LIST, /said last/, set(list, { last_seq: 0 })],
  ['a list of replies in progress', LIST, /said last/, set(list, { active_message_id: '9' })],
  [
    'the last words of another',
    LIST,
    /said last/,
    json(list, (body: object) => JSON.parse(JSON.stringify(body).replace(/"excerpt":"/g, '"excerpt":"另一句'))),
  ],
  [
    'the oldest conversation first',
    LIST,
    /last used first/,
    json(list, ({ data, ...more }: { data: Row[] }) => ({ ...more, data: data.toReversed() })),
  ],
  ['a wrong count of the unread', 'PUT /v1/conversations/{id}', /unread/, set(/\/user$/, { unread_conversations: 7 })],
  ['a pin that is not answered', 'PUT /v1/conversations/{id}', /first/, set(/\/conversations\//, { pinned_at: null })],
  ['a wrong balance', 'POST /v1/messages/continue', /goes on/, set(/continue$/, tooHigh, whole)],
  ['a wrong balance', 'POST /v1/messages/{id}/cancel', /as it is/, set(/cancel$/, tooHigh, whole)],
  ['a wrong balance', 'POST /v1/messages/{id}/regenerate', /another way/, set(/regenerate$/, tooHigh, whole)],
  ['a wrong balance', 'POST /v1/messages/{id}/edit', /other words/, set(/edit$/, tooHigh, whole)],
  ['a wrong gift', 'POST /v1/register', /gift/, set(/capabilities/, { sign_up_gift: 9 }, rules)],
  ['a wrong reward', 'POST /v1/check-in', /awards/, set(/capabilities/, { check_in_rewards: [9] }, rules)],
  ['a day that is not today', 'POST /v1/check-in', /awards/, set(/check-in$/, { date: '2031-01-01' })],
  [
    'a wrong reward',
    'GET /v1/invites/{code}',
    /who invites/,
    set(/capabilities/, { invite_reward: { inviter: 9, invitee: 9 } }, rules),
  ],
  ['a wrong price', 'POST /v1/messages/suggestion', /price/, set(/capabilities/, { suggestion_price: 9 }, rules)],
  ['a price that was not shown', SEND, /than its reader was shown/, same, sending(/./, without('price'))],
  ['keys that are ignored', 'POST /v1/messages/suggestion', /price/, same, forgetful(/suggestion$/)],
  ['keys that are ignored', 'POST /v1/messages/{id}/regenerate', /another way/, same, forgetful(/regenerate$/)],
  ['keys that are ignored', 'POST /v1/messages/{id}/edit', /other words/, same, forgetful(/edit$/)],
  [
    'a stop of any revision',
    'POST /v1/messages/{id}/cancel',
    /being written/,
    same,
    sending(/cancel$/, without('revision')),
  ],
  ['an edit of any revision', 'POST /v1/messages/{id}/edit', /gone on/, same, sending(/edit$/, without('revision'))],
  ['devices without their last use', 'GET /v1/user/sessions', /sessions/, set(/sessions$/, { last_used_at: '昨天' })],
  ['a mode without rules', 'GET /v1/user/minor', /is off/, set(/\/user\/minor$/, { rules: undefined })],
  [
    'a favourite that is forgotten',
    'PUT /v1/stories/{id}/favorite',
    /saves/,
    set(/\/stories\//, { is_favorite: false }),
  ],
  [
    'favourites, the oldest first',
    'GET /v1/favorites',
    /last saved/,
    json(/favorites$/, ({ data, ...more }: { data: Row[] }) => ({ ...more, data: data.toReversed() })),
  ],
  ['hits elsewhere', 'GET /v1/messages/search', /order of seq/, set(/messages\/search/, { conversation_id: '9' })],
  ['a report of another reply', 'POST /v1/messages/{id}/report', /a report/, set(/report$/, { message_id: '9' })],
  ['an order of other points', 'POST /v1/orders', /opens/, set(/orders$/, { points: 1 })],
  ['a ticket of other words', 'GET /v1/support/tickets', /wrote/, set(/tickets$/, { body: '另一句' })],
  [
    'suggestions that are all the same',
    'GET /v1/messages/suggestion/{id}',
    /in the end/,
    json(/suggestion\//, (body: object) => JSON.parse(JSON.stringify(body).replace(/"text":"[^"]*"/g, '"text":"走"'))),
  ],
  ['suggestions elsewhere', 'GET /v1/messages/suggestion/{id}', /in the end/, set(/n\/./, { conversation_id: '9' })],
  [
    'a new account of another name',
    'POST /v1/register',
    /its name/,
    set(/register$/, { name: '他人' }, ({ user }) => user),
  ],
  [
    'an old balance',
    'PUT /v1/user',
    /keeps the rest/,
    (received, incoming) => (incoming.method === 'PUT' ? set(/\/user$/, { balance: 0 })(received, incoming) : {}),
  ],
  [
    'a story of another price',
    'GET /v1/stories/{id}',
    /what a page needs/,
    set(/stories\/./, { price_per_message: 9 }),
  ],
];

const withoutField =
  (event: string, ...fields: string[]) =>
  (text: string) => {
    const frame = JSON.parse(text);
    if (frame.event !== event) return text;
    const data = fields.reduce((rest, field) => without(field)(rest), JSON.parse(frame.data));
    return JSON.stringify({ ...frame, data: JSON.stringify(data) });
  };

const sockets: [what: string, name: RegExp, fromServer: () => (text: string) => string | null][] = [
  ['pieces of no revision', /piece by piece/, () => withoutField('message.delta', 'revision')],
  ['pieces of no message', /piece by piece/, () => withoutField('message.delta', 'message_id')],
  [
    'an end event without an end',
    /the end of its reply/,
    () => (text) => text.replace(/completed\\"/g, 'streaming\\"'),
  ],
  ['silence about replies', /the end of its reply/, () => (text) => (/created.*assistant/.test(text) ? null : text)],
  ['suggestions without a status', /suggestion.ready/, () => withoutField('suggestion.ready', 'status')],
  ['a change of nothing', /conversation.updated/, () => withoutField('conversation.updated', 'conversation')],
  ['an end of nothing', /conversation.deleted/, () => withoutField('conversation.deleted', 'id')],
];

describe('a backend that contradicts itself in one thing', () => {
  for (const [what, call, name, change, before] of changed) {
    test(`${what} is named at ${call}`, async () => {
      const calls: Call[] = call === EVERY ? ['POST /v1/messages/continue', 'POST /v1/check-in'] : [];
      const found = await failures({ url: await frontOf(change, before) }, call, ...calls);
      expect(found).toContainEqual({ call, name: expect.stringMatching(name) });
    });
  }

  for (const [what, name, fromServer] of sockets) {
    test.concurrent(`${what} is named at the socket`, async () => {
      const found = await failures({ socketUrl: await socketFront(fromServer()) }, 'WS /app/{key}');
      expect(found).toContainEqual({ call: 'WS /app/{key}', name: expect.stringMatching(name) });
    });
  }

  test('and nothing is named of the unchanged one', async () => {
    const calls = [...new Set(changed.map(([, call]) => call))];
    expect(await failures({}, ...calls, 'WS /app/{key}')).toEqual([]);
  });
});
