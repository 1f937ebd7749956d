import type { Tracing } from '@liaozhai/telemetry/tracing';
import type { Storyteller } from './ai/storyteller.ts';
import type { Mailer } from './auth/mail.ts';
import type { Generations, Roster } from './chat/runs.ts';
import type { Clock } from './clock.ts';
import type { Content } from './content/content.ts';
import type { Db } from './db/database.ts';
import type { Env } from './env.ts';
import type { RequestLimits } from './http/http.ts';
import type { PaymentProvider } from './payments/orders.ts';
import type { Broadcaster } from './realtime/events.ts';
import type { BackendCounters, Log, ReportFault } from './telemetry.ts';
import type { Wechat } from './wechat.ts';

/** Dependencies of the modules, created once at start. */
export interface Services {
  env: Env;
  clock: Clock;
  log: Log;
  report: ReportFault;
  counters: BackendCounters | null;
  tracing: Tracing | null;
  content: Content;
  db: Db;
  broadcaster: Broadcaster;
  limits: RequestLimits;
  mailer: Mailer;
  /** Payment provider for points; null if nothing is for sale. */
  payments: PaymentProvider | null;
  storyteller: Storyteller;
  /** Signs pages for WeChat; null without an Official Account. */
  wechat: Wechat | null;
  generations: Generations;
  roster: Roster;
  appKey: string;
}
