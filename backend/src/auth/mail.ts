import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, watch, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import { DAY_MS, HOUR_MS } from '../clock.ts';
import type { UserRow } from '../db/schema.ts';
import { ConfigError } from '../env.ts';
import { type Http, productOrigin } from '../http/http.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { hmac, sameText } from '../signatures.ts';
import { type Log, runOrReport } from '../telemetry.ts';

export interface Mail {
  to: string;
  subject: string;
  text: string;
}

const noReply = '<noreply@liaozhai.invalid>';

/** Splits `name <address>`; the name may be missing. */
function readSender(sender: string): { name: string; address: string } {
  const { name = '', address = sender.trim() } =
    /^(?<name>.*?)\s*<(?<address>[^<>\s]+)>$/.exec(sender.trim())?.groups ?? {};
  return { name, address };
}

const encodedWord = (text: string): string => `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`;

const wrapLines = (base64: string): string => base64.replace(/.{76}/g, '$&\r\n');

/** Writes each mail, signed with the brand, as an `.eml` file into a folder, from which `relayMail` delivers it. */
export function fileMailer(folder: string, clock: () => number, brand: string, sender = `${brand} ${noReply}`) {
  const { name, address } = readSender(sender);
  let count = 0;
  return {
    /** Stores a mail for delivery. Returns the path of its file. */
    send({ to, subject, text }: Mail): string {
      mkdirSync(folder, { recursive: true });
      count += 1;
      const path = join(folder, `${clock()}-${process.pid}-${count}.eml`);
      const lines = [
        `From: ${encodedWord(name)} <${address}>`,
        `To: <${to}>`,
        `Subject: ${encodedWord(subject)}`,
        `Date: ${new Date(clock()).toUTCString()}`,
        'MIME-Version: 1.0',
        'Content-Type: text/plain; charset=utf-8',
        'Content-Transfer-Encoding: base64',
        '',
        wrapLines(Buffer.from(`${text}\n\n${brand}\n`).toString('base64')),
        '',
      ];
      // renamed when complete, so that the relay never reads a partial file
      writeFileSync(`${path}.part`, lines.join('\r\n'), { mode: 0o600 });
      renameSync(`${path}.part`, path);
      return path;
    },
  };
}

export type Mailer = ReturnType<typeof fileMailer>;

interface RelayOptions {
  /** Folder of the `.eml` files to deliver. */
  folder: string;
  /** `smtp://` or `smtps://`, with user and password. */
  url: string;
  /** Sender as in the mails' `From`. */
  sender: string;
  log: Log;
  /** Delay before the first retry. It doubles up to `maxPauseMs`. */
  pauseMs?: number;
  maxPauseMs?: number;
}

const TIMEOUT_MS = 20_000;
/** Age at which an undelivered mail is given up. */
const GIVE_UP_MS = DAY_MS;

/** SMTP replies from 500 on are permanent. Any other failure is retried. */
const isRefused = (error: unknown): boolean => ((error as { responseCode?: number }).responseCode ?? 0) >= 500;

const recipientOf = (raw: string): string => /^To: <([^>\r\n]+)>/m.exec(raw)?.[1] ?? '';

/**
 * Delivers the files of the mail folder through an SMTP server, the oldest first, and deletes each that was accepted.
 * A failed delivery is retried with growing delays, also after a restart. A refused mail, or one older than a day, is
 * renamed to `.refused` and logged. Returns a function that stops the relay and waits for the mail in progress.
 */
export function relayMail(options: RelayOptions): () => Promise<void> {
  const { folder, url, sender, log, pauseMs = 10_000, maxPauseMs = HOUR_MS } = options;
  const timeouts = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS };
  const transport = createTransport({ url, ...timeouts });
  const from = readSender(sender).address;
  let retryPauseMs = pauseMs;
  let timer: NodeJS.Timeout | undefined;
  let delivery: Promise<void> | undefined;
  let isStopped = false;

  const pendingMails = () =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.eml'))
      .sort();

  /** Resolves with false if the mail has to be retried. */
  async function deliver(path: string): Promise<boolean> {
    const raw = readFileSync(path, 'utf8');
    try {
      await transport.sendMail({ envelope: { from, to: recipientOf(raw) }, raw });
      rmSync(path);
      return true;
    } catch (error) {
      const isExpired = Date.now() - statSync(path).mtimeMs > GIVE_UP_MS;
      const { message } = error as Error;
      if (isRefused(error) || isExpired) {
        renameSync(path, `${path}.refused`);
        log.error({ file: path, reason: message }, 'a mail was not delivered and is given up');
        return true;
      }
      log.warn({ reason: message, retryMs: retryPauseMs }, 'the mail server did not accept a mail; it is tried again');
      return false;
    }
  }

  async function deliverAll(): Promise<void> {
    for (const name of pendingMails()) {
      if (isStopped) return;
      if (await deliver(join(folder, name))) {
        retryPauseMs = pauseMs;
        continue;
      }
      timer = setTimeout(startDelivery, retryPauseMs).unref();
      retryPauseMs = Math.min(retryPauseMs * 2, maxPauseMs);
      return;
    }
  }

  function startDelivery(): void {
    if (isStopped || delivery) return;
    clearTimeout(timer);
    timer = undefined;
    delivery = deliverAll()
      .catch((error: unknown) => log.error({ err: error }, 'the mail folder could not be read'))
      .finally(() => {
        delivery = undefined;
        // delivers mails that were stored during the last attempt; after a failure the timer does
        if (!timer && !isStopped && pendingMails().length > 0) startDelivery();
      });
  }

  mkdirSync(folder, { recursive: true });
  const watcher = watch(folder, (_, name) => {
    if (name?.endsWith('.eml') && !timer) startDelivery();
  });
  startDelivery();
  return async () => {
    isStopped = true;
    watcher.close();
    clearTimeout(timer);
    await delivery;
    transport.close();
  };
}

const emailHash = (email: string): string => createHash('sha1').update(email).digest('hex');

const sign = (appKey: string, id: string, hash: string, expires: string): string =>
  hmac(appKey, `verify|${id}|${hash}|${expires}`);

const isOwnAddress = (host: string): boolean =>
  /^(localhost|127(\.\d+){3}|::1)$/.test(host) ||
  Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === host));

/**
 * Returns the origin for links in mails. Without `APP_ORIGIN` it is the request's host, which must be this machine:
 * a forged `Host` header would send the reader's secret to an attacker. Throws `ConfigError` for any other host.
 */
export function originOf(c: Http, { env }: Services): string {
  const origin = productOrigin(c.get('source'), env.APP_ORIGIN);
  const host = URL.canParse(origin) ? new URL(origin).hostname.replace(/^\[|\]$/g, '') : '';
  if (env.APP_ORIGIN.length > 0 || isOwnAddress(host)) return origin;
  throw new ConfigError(`APP_ORIGIN: set it to the product's origin; no mail leads to ${origin}`);
}

/** Sends a mail with a link. Without an SMTP server the mail is only stored, so its link is printed. */
export function sendLink({ mailer, env }: Services, mail: Mail, link: string): void {
  const path = mailer.send(mail);
  if (!env.MAIL_URL) console.log(`mail ${path}\n     ${link}`);
}

/**
 * Mails a confirmation link to the account's address or to the one it wants to change to. A failure is reported to the
 * operator and does not fail the request.
 */
export function sendVerification(c: Http, services: Services, user: UserRow, address: string): void {
  const { appKey, clock } = services;
  const hash = emailHash(address);
  const expires = String(Math.floor(clock() / 1000) + rules.verificationLinkHours * 3600);
  const signature = sign(appKey, user.id, hash, expires);
  runOrReport(services, () => {
    const link = `${originOf(c, services)}/email/verify/${user.id}/${hash}?expires=${expires}&signature=${signature}`;
    const text = `${user.name}，你好：\n\n请打开下面的链接，确认你的邮箱（${rules.verificationLinkHours} 小时内有效）：\n\n${link}\n\n如果不是你本人的操作，请忽略这封邮件。`;
    sendLink(services, { to: address, subject: '确认你的邮箱', text }, link);
  });
}

/** Returns the address that a link confirms; undefined if its signature is wrong or it has expired. */
export function confirmedAddress(
  { appKey, clock }: Services,
  user: UserRow,
  { hash, expires, signature }: { hash: string; expires: string; signature: string },
): string | undefined {
  if (!sameText(signature, sign(appKey, user.id, hash, expires)) || Number(expires) * 1000 <= clock()) return undefined;
  const addresses = [user.pending_email, user.is_email ? user.login : user.email];
  return addresses.find((address) => address !== null && sameText(hash, emailHash(address))) ?? undefined;
}
