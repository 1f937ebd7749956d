import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from '@rstest/core';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { fileMailer, relayMail } from '../src/auth/mail.ts';
import { ConfigError, readEnv } from '../src/env.ts';
import { createLog } from '../src/telemetry.ts';
import { openBackend } from './testBackend.ts';

const sender = '聊斋 <noreply@example.org>';
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface Received {
  from: string;
  to: string[];
  raw: string;
}

/** Starts an SMTP server on a free port. `answer` may refuse a mail by throwing. */
async function openSmtp(answer: (count: number) => void = () => {}, port = 0, options: SMTPServerOptions = {}) {
  const received: Received[] = [];
  let count = 0;
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    authOptional: true,
    ...options,
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        count += 1;
        try {
          answer(count);
        } catch (error) {
          done(error as Error);
          return;
        }
        const { mailFrom, rcptTo } = session.envelope;
        received.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(chunks).toString(),
        });
        done();
      });
    },
  });
  server.listen(port, '127.0.0.1');
  await once(server.server, 'listening');
  const close = () => new Promise<void>((resolve) => server.close(resolve));
  cleanups.push(close);
  return { received, port: (server.server.address() as { port: number }).port, close };
}

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mail-'));
  cleanups.push(() => rmSync(folder, { recursive: true }));
  return folder;
}

function relay(folder: string, port: number) {
  const log = createLog('silent');
  const stop = relayMail({ folder, url: `smtp://127.0.0.1:${port}`, sender, log, pauseMs: 5, maxPauseMs: 20 });
  cleanups.push(stop);
}

const refusal = (responseCode: number) => Object.assign(new Error('not now'), { responseCode });
const bodyOf = (raw: string) => Buffer.from(raw.split('\r\n\r\n')[1] ?? '', 'base64').toString();

test('a registration by e-mail sends its link by SMTP and prints no link', async () => {
  const smtp = await openSmtp(undefined, 0, {
    authOptional: false,
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _, done) =>
      username === 'mailer' && password === 'p@ss' ? done(null, { user: username }) : done(new Error('no')),
  });
  const backend = await openBackend({
    MAIL_URL: `smtp://mailer:p%40ss@127.0.0.1:${smtp.port}`,
    MAIL_FROM: sender,
    APP_ORIGIN: 'https://app.example',
  });
  await backend.client().register({ login: 'reader@example.com' });
  await expect.poll(() => smtp.received.length).toBe(1);
  const [mail] = smtp.received;
  expect(mail).toMatchObject({ from: 'noreply@example.org', to: ['reader@example.com'] });
  expect(bodyOf(mail?.raw ?? '')).toContain('https://app.example/email/verify/');
  await expect.poll(() => readdirSync(join(backend.dataDir, 'mail'))).toEqual([]);
});

test('mails written without a reachable server arrive later, once and in order', async () => {
  const folder = makeFolder();
  const mailer = fileMailer(folder, Date.now, '聊斋', sender);
  const closed = await openSmtp();
  await closed.close();
  relay(folder, closed.port);
  for (const to of ['a@example.com', 'b@example.com']) mailer.send({ to, subject: '你好', text: to });
  const smtp = await openSmtp(undefined, closed.port);
  await expect.poll(() => smtp.received.flatMap(({ to }) => to)).toEqual(['a@example.com', 'b@example.com']);
  await expect.poll(() => readdirSync(folder)).toEqual([]);
});

test('a deferred mail is sent again; a refused one is set aside and delays no other', async () => {
  const folder = makeFolder();
  const mailer = fileMailer(folder, Date.now, '聊斋', sender);
  const smtp = await openSmtp((count) => {
    if (count === 1) throw refusal(451);
    if (count === 2) throw refusal(550);
  });
  for (const to of ['refused@example.com', 'good@example.com']) mailer.send({ to, subject: '你好', text: to });
  relay(folder, smtp.port);
  await expect.poll(() => smtp.received.flatMap(({ to }) => to)).toEqual(['good@example.com']);
  await expect.poll(() => readdirSync(folder).map((name) => name.replace(/^.*\.eml/, ''))).toEqual(['.refused']);
});

test.each([
  [{ MAIL_URL: 'mail.example' }, /^MAIL_URL: an address like smtps:/],
  [{ MAIL_URL: 'smtps://u:secret@mail.example' }, /^MAIL_FROM: name the sender/],
  [{ MAIL_URL: 'smtps://u:secret@mail.example', MAIL_FROM: 'nobody' }, /^MAIL_FROM: a sender like/],
])('%j is refused at the start with a cure and without the password', (settings, message) => {
  const start = () => readEnv(settings);
  expect(start).toThrow(ConfigError);
  expect(start).toThrow(message);
  expect(start).not.toThrow(/secret/);
});
