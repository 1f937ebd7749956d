import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readEnv } from '../backend/src/env.ts';
import { seedConversation, seedUser } from '../backend/src/seeding.ts';
import { createServices } from '../backend/src/server.ts';
import { book } from '../backend/src/wallet.ts';
import type { Account } from './person.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
/** Where the product under test keeps its data; relative to the repository, as `DATA_DIR` is. */
export const dataFolder = resolve(root, process.env.E2E_DATA_DIR ?? 'test-results/data');
const backendOf = (data: string) => join(data, 'backend');

interface Seed {
  /** points, exactly */
  balance?: number;
  /** id of the story a past conversation is about, or of several stories with a conversation each */
  story?: string | string[];
  /** length of such a conversation */
  messages?: number;
}

/** An account as it would be after long use, made beside the running product, or another one with its data in `data`. */
export async function seededAccount(seed: Seed, data = dataFolder): Promise<Account> {
  const { balance = 1000, story, messages = 0 } = seed;
  const services = await createServices(readEnv({ DATA_DIR: backendOf(data) }), Date.now);
  const account = { login: `s${randomUUID().slice(0, 12)}`, password: '246810', name: '读书人' };
  try {
    const user = await seedUser(services, { ...account, balance });
    const id = randomUUID();
    const spent = { type: 'continue' as const, description: '从前的续写', ref: { type: 'seed', id }, key: id };
    services.db.transaction(() => book(services, { userId: user.id, amount: balance - user.balance, ...spent }));
    if (messages > 0) for (const id of [story ?? []].flat()) seedConversation(services, user.id, id, messages);
  } finally {
    services.db.close();
  }
  return account;
}

/** The texts of the mails that were sent to an address, oldest first. */
export function mailsTo(address: string): string[] {
  const folder = join(backendOf(dataFolder), 'mail');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.eml'))
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .filter((mail) => mail.includes(`To: <${address}>`))
    .map((mail) => Buffer.from(mail.split('\r\n\r\n')[1] ?? '', 'base64').toString());
}
