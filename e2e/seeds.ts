import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readEnv } from '../backend/src/env.ts';
import { seedConversation, seedUser } from '../backend/src/seeding.ts';
import { createServices } from '../backend/src/server.ts';
import { book } from '../backend/src/wallet.ts';
import type { Account } from './person.ts';
import { dataFolder } from './product.ts';

const backendOf = (data: string) => join(data, 'backend');

interface Seed {
  /** exact number of points */
  balance?: number;
  /** story of a past conversation; several for one conversation each */
  story?: string | string[];
  /** messages per conversation */
  messages?: number;
}

/** Creates an account with history, in the data folder of the running product or of another one. */
export async function seededAccount(seed: Seed, data = dataFolder): Promise<Account> {
  const { balance = 1000, story, messages = 0 } = seed;
  const services = await createServices(readEnv({ DATA_DIR: backendOf(data) }), Date.now);
  const account = { login: `s${randomUUID().slice(0, 12)}`, password: '246810', name: '读书人' };
  try {
    const user = await seedUser(services, { ...account, balance });
    const id = randomUUID();
    const spending = { type: 'continue' as const, description: '从前的续写', ref: { type: 'seed', id }, key: id };
    services.db.transaction(() => book(services, { userId: user.id, amount: balance - user.balance, ...spending }));
    if (messages > 0) for (const id of [story ?? []].flat()) seedConversation(services, user.id, id, messages);
  } finally {
    services.db.close();
  }
  return account;
}

/** Texts of the mails sent to an address, oldest first. */
export function mailsTo(address: string): string[] {
  const folder = join(backendOf(dataFolder), 'mail');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.eml'))
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .filter((mail) => mail.includes(`To: <${address}>`))
    .map((mail) => Buffer.from(mail.split('\r\n\r\n')[1] ?? '', 'base64').toString());
}
