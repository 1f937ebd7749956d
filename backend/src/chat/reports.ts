import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { isoTime } from '../clock.ts';
import { query } from '../db/database.ts';
import type { ReportRow, UserRow } from '../db/schema.ts';
import { invalid } from '../http/http.ts';
import { optionalText } from '../http/input.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { findOwnMessage } from './actions.ts';
import { isRunning } from './presentMessage.ts';

/** Reasons for a report, with the labels of the page. */
const reasons = {
  sexual: '色情低俗',
  violent: '血腥暴力',
  illegal: '违法违规',
  minors: '不适合未成年人',
  rights: '侵犯他人权益',
  other: '其他',
} as const;

export const reportForm = v.object({
  reason: v.picklist(Object.keys(reasons) as (keyof typeof reasons)[]),
  words: optionalText(rules.reportCharacters),
});

/** Stores a report with the reply's present text. A second report of the same reply is ignored. Throws 404 and 422. */
export function reportReply(
  services: Services,
  user: UserRow,
  messageId: string,
  { reason, words }: v.InferOutput<typeof reportForm>,
): { isNew: boolean; report: ReportRow } {
  const { db, clock, log } = services;
  const message = findOwnMessage(services, user, messageId);
  if (message.role !== 'assistant' || isRunning(message)) throw invalid({ message_id: ['只能举报写完的回复'] });
  return db.transaction(() => {
    const formerReport = db.find('reports', { user_id: user.id, message_id: message.id });
    if (formerReport) return { isNew: false, report: formerReport };
    const report: ReportRow = {
      id: randomUUID(),
      user_id: user.id,
      message_id: message.id,
      story_id: message.story_id,
      reason,
      words,
      body: message.body,
      created_at: clock(),
    };
    db.insert('reports', report);
    db.afterCommit(() => log.warn({ report: report.id, message: message.id, reason }, 'reply reported'));
    return { isNew: true, report };
  });
}

/** Returns the report in the shape of the API. */
export const presentReport = ({ id, message_id, reason, created_at }: ReportRow) => ({
  id,
  message_id,
  reason,
  created_at: isoTime(created_at),
});

/** Returns the reported messages, newest first, as text for the operator. */
export function describeReports({ db }: Pick<Services, 'db'>): string {
  const rows = db.all(
    query
      .selectFrom('reports')
      .innerJoin('users', 'users.id', 'reports.user_id')
      .leftJoin('stories', 'stories.id', 'reports.story_id')
      .selectAll('reports')
      .select(['users.login', 'stories.title'])
      .orderBy('reports.created_at', 'desc'),
  );
  const quote = (body: string) => body.replace(/^/gm, '  | ');
  const entries = rows.map(({ created_at, reason, title, story_id, login, message_id, words, body }) =>
    [
      `${isoTime(created_at)}  ${reasons[reason as keyof typeof reasons] ?? reason}  《${title ?? story_id}》  by ${login}, message ${message_id}`,
      ...(words ? [`  ${words.replace(/\n/g, '\n  ')}`] : []),
      quote(body),
    ].join('\n'),
  );
  return entries.length === 0 ? 'no reports' : entries.join('\n\n');
}
