import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll } from '@rstest/core';
import type { Clock } from '../src/clock.ts';
import { readEnv } from '../src/env.ts';
import { type Backend, startBackend } from '../src/server.ts';
import { Client } from './client.ts';
import { databaseOf, makeDataDir, removeDataDir } from './testDatabase.ts';

export interface TestBackend extends Backend {
  dataDir: string;
  client(headers?: Record<string, string>): Client;
  /** Creates a client that is registered and signed in. */
  reader(form?: Record<string, unknown>): Promise<Client>;
  /** Returns the texts of the mails to an address, the oldest first. */
  mailsTo(address: string): string[];
  /** Waits until every reply and suggestion has ended. */
  settled(): Promise<void>;
}

/** Settings without delays of the storyteller, and with limits that tests do not reach by accident. */
export const fastEnv = {
  LOG_LEVEL: 'silent',
  DRAIN_SECONDS: '0',
  STORYTELLER_START_DELAY_MS: '0',
  STORYTELLER_PIECE_DELAY_MS: '0',
  STORYTELLER_SUGGESTION_DELAY_MS: '0',
  STORYTELLER_PIECE_CHARACTERS: '60',
  STORYTELLER_FAIL_WORD: '咒语',
  STORYTELLER_HANG_WORD: '沉默',
  PAYMENT_PROVIDER: 'sandbox',
  PAYMENT_SANDBOX_DELAY_MS: '0',
  PAYMENT_WEBHOOK_SECRET: 'the secret of all tests',
  RECHARGE_PACKAGES: '[{"id":"p60","points":60,"priceCents":600},{"id":"p320","points":320,"priceCents":3000}]',
  RATE_LIMIT_LOGIN: '10000',
  RATE_LIMIT_REGISTER: '10000',
  RATE_LIMIT_MESSAGES: '100000',
  RATE_LIMIT_WRITES: '100000',
};

/** Starts a backend for a test file, and stops it after the last test. */
export async function openBackend(env: Record<string, string> = {}, clock?: Clock): Promise<TestBackend> {
  const dataDir = makeDataDir();
  const backend = await startBackend(readEnv({ ...fastEnv, ...databaseOf(dataDir), DATA_DIR: dataDir, ...env }), clock);
  afterAll(async () => {
    await backend.close();
    removeDataDir(dataDir);
  });
  const client = (headers?: Record<string, string>) => new Client(backend.url, headers);
  return {
    ...backend,
    dataDir,
    client,
    async reader(form) {
      const reader = client();
      await reader.register(form);
      return reader;
    },
    mailsTo: (address) => readMails(join(dataDir, 'mail'), address),
    settled: () => backend.services.generations.settled(),
  };
}

const numberOf = (name: string): number => Number(name.match(/-(\d+)\.eml/)?.[1]);

function readMails(folder: string, address: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.eml'))
    .sort((left, right) => numberOf(left) - numberOf(right))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .filter((mail) => mail.includes(`To: <${address}>`))
    .map((mail) => Buffer.from(mail.split('\r\n\r\n')[1] ?? '', 'base64').toString());
}
