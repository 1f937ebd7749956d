import { Hono } from 'hono';
import { sql } from 'kysely';
import * as v from 'valibot';
import { DAY_MS, datedNumber, isoTime, isoTimeOrNull } from './clock.ts';
import { query } from './db/database.ts';
import type { TicketRow } from './db/schema.ts';
import { ConfigError } from './env.ts';
import { type AppEnv, conflict, notFound, userOf, writingUser } from './http/http.ts';
import { requiredKey } from './http/idempotency.ts';
import { cleanText, optionalText, readInput, readPage, text, validate } from './http/input.ts';
import { announceUser, notifyUser } from './realtime/events.ts';
import { rules } from './rules.ts';
import type { Services } from './services.ts';
import { repeat } from './telemetry.ts';
import { userUpdate } from './users/user.ts';

/** Polling interval for answers, which another process stores. */
const ANNOUNCE_INTERVAL_MS = 3_000;

const ticketForm = v.object({
  kind: v.picklist(['points', 'story', 'account', 'other']),
  body: text(1, rules.ticketCharacters),
  contact: optionalText(rules.contactCharacters),
  diagnostics: optionalText(rules.diagnosticsCharacters),
});

function presentTicket(row: TicketRow) {
  return {
    id: row.id,
    client_id: row.client_id,
    kind: row.kind,
    body: row.body,
    status: row.answer === null ? 'open' : 'answered',
    answer: row.answer,
    answered_at: isoTimeOrNull(row.answered_at),
    is_unread: row.answer !== null && row.read_at === null,
    created_at: isoTime(row.created_at),
  };
}

type TicketForm = v.InferOutput<typeof ticketForm>;

/** Stores a ticket, or returns the one already stored under this client id. Throws 409 after too many in a day. */
function storeTicket(services: Services, userId: string, clientId: string, form: TicketForm): TicketRow {
  const { db, clock } = services;
  return db.transaction(() => {
    const existingTicket = db.find('tickets', { user_id: userId, client_id: clientId });
    if (existingTicket) return existingTicket;
    const ownTickets = query.selectFrom('tickets').select('id').where('user_id', '=', userId);
    const recentTickets = ownTickets.where('created_at', '>', clock() - DAY_MS).limit(rules.ticketsPerDay);
    if (db.all(recentTickets).length >= rules.ticketsPerDay)
      throw conflict('too_many_tickets', '今天写的反馈已经很多了，请明天再写');
    const ticket: TicketRow = {
      ...form,
      id: datedNumber(clock, 6, (number) => db.find('tickets', { id: number }) !== undefined),
      user_id: userId,
      client_id: clientId,
      answer: null,
      answered_at: null,
      announced: 0,
      read_at: null,
      created_at: clock(),
    };
    db.insert('tickets', ticket);
    return ticket;
  });
}

export function ticketRoutes(services: Services): Hono<AppEnv> {
  const { db, clock } = services;
  return new Hono<AppEnv>()
    .post('/', (c) => {
      const user = writingUser(c, services);
      const input = readInput(c);
      const ticket = storeTicket(services, user.id, requiredKey(c, input), validate(ticketForm, input));
      return c.json({ data: presentTicket(ticket) }, 201);
    })
    .get('/', (c) => {
      const tickets = query.selectFrom('tickets').selectAll().where('user_id', '=', userOf(c).id);
      return c.json(readPage(c, services, tickets, ['created_at', 'id'], (rows) => rows.map(presentTicket)));
    })
    .post('/:id/read', (c) => {
      const user = userOf(c);
      const ticket = db.find('tickets', { id: c.req.param('id') });
      if (ticket?.user_id !== user.id) throw notFound('没有找到这条反馈');
      db.transaction(() => {
        const markedRows = db.run(
          query
            .updateTable('tickets')
            .set({ read_at: clock() })
            .where('id', '=', ticket.id)
            .where('answer', 'is not', null)
            .where('read_at', 'is', null),
        );
        if (markedRows > 0) updateUnreadAnswers(services, user.id);
      });
      return c.body(null, 204);
    });
}

/** Conditions worded as in the partial indexes. */
const isUnannounced = sql<boolean>`answer is not null and announced = 0`;
const isUnanswered = sql<boolean>`answer is null`;

/** Stores the number of unread answers and notifies the user's pages. */
function updateUnreadAnswers(services: Services, userId: string): void {
  const unread = sql<number>`(
    select count(*) from tickets where user_id = ${userId} and answer is not null and read_at is null)`;
  services.db.run(userUpdate({ unread_answers: unread }).where('id', '=', userId));
  announceUser(services, userId);
}

/** Notifies the pages of users whose tickets were answered. */
function announceAnswers(services: Services): void {
  const { db } = services;
  const answeredTickets = db.all(query.selectFrom('tickets').select(['id', 'user_id']).where(isUnannounced));
  for (const { id, user_id } of answeredTickets) {
    db.transaction(() => {
      // another backend has sent the notice
      if (db.update('tickets', { id, announced: 0 }, { announced: 1 }) === 0) return;
      notifyUser(services, user_id, 'ticket.answered', { id });
      updateUnreadAnswers(services, user_id);
    });
  }
}

/** Polls for answers, since the command that stores them has no sockets. Returns a function that stops it. */
export const startAnnouncingAnswers = (services: Services): (() => void) =>
  repeat(services, () => announceAnswers(services), ANNOUNCE_INTERVAL_MS);

/** Runs `pnpm backend tickets …` and returns its output. Throws `ConfigError`. */
export function runTickets(services: Services, [verb, ticketId = '', ...words]: string[]): string {
  if (verb === undefined) return listOpenTickets(services);
  const ticket = services.db.find('tickets', { id: ticketId });
  if (verb !== 'show' && verb !== 'answer')
    throw new ConfigError(`tickets ${verb}: say \`show <id>\` or \`answer <id> <words>\``);
  if (!ticket)
    throw new ConfigError(`there is no ticket ${ticketId || '""'}; \`pnpm backend tickets\` lists those that wait`);
  if (verb === 'show') return formatTicket(services, ticket);
  const answer = cleanText(words.join(' ')).trim();
  if (answer === '') throw new ConfigError(`tickets answer ${ticketId}: add the words of the answer`);
  const changes = { answer, answered_at: services.clock(), announced: 0, read_at: null };
  services.db.update('tickets', { id: ticket.id }, changes);
  return `${ticket.id}: answered`;
}

function listOpenTickets({ db }: Services): string {
  const rows = db.all(
    query
      .selectFrom('tickets')
      .innerJoin('users', 'users.id', 'tickets.user_id')
      .select(['tickets.id', 'tickets.kind', 'tickets.body', 'tickets.created_at', 'users.login'])
      .where(isUnanswered)
      .orderBy('tickets.created_at')
      .limit(100),
  );
  if (rows.length === 0) return 'no ticket waits for an answer';
  return rows
    .map(({ id, kind, body, created_at, login }) => {
      const [line = ''] = body.split('\n');
      const start = [...line].slice(0, 40).join('');
      return `${id}  ${isoTime(created_at).slice(0, 16)}  ${kind.padEnd(7)}  ${login}  ${start}${start === body ? '' : '…'}`;
    })
    .join('\n');
}

function formatTicket({ db }: Services, ticket: TicketRow): string {
  const user = db.find('users', { id: ticket.user_id });
  const parts: [name: string, value: string | null][] = [
    ['ticket', `${ticket.id} (${ticket.kind}), ${isoTime(ticket.created_at)}`],
    ['from', `${user?.name} (${user?.login}), user ${ticket.user_id}`],
    ['contact', ticket.contact],
    ['words', `\n${ticket.body}`],
    ['diagnostics', ticket.diagnostics && `\n${ticket.diagnostics}`],
    ['answer', ticket.answer && `\n${ticket.answer}`],
  ];
  return parts.flatMap(([name, value]) => (value ? [`${name}: ${value}`] : [])).join('\n');
}
