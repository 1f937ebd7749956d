import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import { DAY_MS, HOUR_MS } from '../clock.ts';
import type { Log } from '../telemetry.ts';
import { readSender } from './mail.ts';

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
