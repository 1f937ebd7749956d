import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { instantSchema, MINUTE_MS, textSchema } from '@liaozhai/shared/contract';
import * as v from 'valibot';
import { type Change, changeChannel } from '../channel/changeChannel.ts';
import { currentDocument, readState } from '../channel/readChannel.ts';
import { type ChangeOptions, type Reader, timeOf, type Writer } from '../channel/writer.ts';
import { conflict, gone, messageOf, refused } from '../errors.ts';
import type { ChannelDocument } from '../model/channel.ts';
import { signedPointer } from '../model/documents.ts';
import { say } from '../sentences.ts';
import { guardedLookup, parseWebhookUrl, seal, secretOf, unseal, type WebhookRules } from './webhookAddress.ts';
import { consoleOf, eventOf, type WebhookEvent } from './webhookEvents.ts';

// Notifies webhooks of changes to a channel. Instead of a queue, each webhook stores the last delivered state of the log. So no switch
// waits for a webhook, and a restart loses nothing.

const MAX_WEBHOOKS = 20;
const KEPT_UNDELIVERED = 10;
const FIRST_PAUSE_MS = 10_000;
const MAX_PAUSE_MS = 60 * MINUTE_MS;
/** Attempts before an event is given up, over about a day. */
export const MAX_ATTEMPTS = 32;
const DELIVERY_TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 64 * 1024;

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

const webhookSchema = v.object({
  id: v.pipe(v.string(), v.regex(/^[0-9a-f]{12}$/)),
  /** Address, encrypted with the store's key: those of chat services are secrets. */
  url: v.string(),
  /** Origin of the address, for display. */
  shown: textSchema(120),
  by: textSchema(120),
  at: instantSchema,
  /** The last state of the log that was delivered, given up or skipped. */
  seq: count,
  /** Failed attempts of the next event, the last problem, and the time of the next attempt. */
  attempts: count,
  problem: textSchema(200),
  retry: v.nullable(instantSchema),
  undelivered: v.pipe(
    v.array(v.object({ id: v.string(), problem: textSchema(200), at: instantSchema })),
    v.maxLength(KEPT_UNDELIVERED),
  ),
});

type Webhook = v.InferOutput<typeof webhookSchema>;

/** `webhooks/<channel>.json`: a writer of the store without the key cannot add an address. */
const pointer = signedPointer(
  'webhooks',
  v.object({ webhooks: v.pipe(v.array(webhookSchema), v.maxLength(MAX_WEBHOOKS)) }),
  { webhooks: [] },
);

const readWebhooks = async (reader: Reader): Promise<Webhook[]> => (await pointer.read(reader)).contents.webhooks;

async function changeWebhooks(writer: Writer, decide: (webhooks: Webhook[]) => Webhook[] | null): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const { contents, tag } = await pointer.read(writer);
    const webhooks = decide(contents.webhooks);
    if (!webhooks || (await pointer.swap(writer, pointer.sign(writer, { webhooks }), tag))) return;
  }
  throw conflict(say('keptChanging', { what: say('theWebhooks', { channel: writer.channel }) }), say('againCure'));
}

/** Changes a webhook, unless it was removed or `change` returns it as it is. */
const changeWebhook = (writer: Writer, id: string, change: (stored: Webhook) => Webhook): Promise<void> =>
  changeWebhooks(writer, (webhooks) => {
    const next = webhooks.map((each) => (each.id === id ? change(each) : each));
    return next.every((each, at) => each === webhooks[at]) ? null : next;
  });

/** Signature by Standard Webhooks: base64 HMAC-SHA256 of `<id>.<seconds>.<body>`, keyed with the base64 part after `whsec_`. */
const signatureOf = (secret: string, id: string, seconds: number, body: string): string =>
  createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'))
    .update(`${id}.${seconds}.${body}`)
    .digest('base64');

/** Posts one event. Returns the problem, or null. Follows no redirects and ignores the response body. */
async function attemptDelivery(
  { key, store, now }: Writer,
  { id, url: sealedUrl }: Webhook,
  event: WebhookEvent,
  rules: WebhookRules,
): Promise<string | null> {
  try {
    const url = parseWebhookUrl(unseal(sealedUrl, key), rules);
    const seconds = Math.floor((await timeOf({ store, now })).getTime() / 1000);
    const body = JSON.stringify(event);
    const send = url.protocol === 'https:' ? requestHttps : requestHttp;
    return await new Promise<string | null>((resolve) => {
      const call = send(url, {
        method: 'POST',
        lookup: guardedLookup(rules),
        // a reused connection would skip the check of its address
        agent: false,
        signal: AbortSignal.timeout(DELIVERY_TIMEOUT_MS),
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'user-agent': 'liaozhai-releases',
          'webhook-id': event.id,
          'webhook-timestamp': String(seconds),
          'webhook-signature': `v1,${signatureOf(secretOf(key, id), event.id, seconds, body)}`,
        },
      });
      // the message of an `AbortError` does not mention the timeout
      call.once('error', (cause) => resolve(cause.name === 'AbortError' ? say('timedOut') : messageOf(cause)));
      call.once('response', (response) => {
        const status = response.statusCode ?? 0;
        let receivedBytes = 0;
        response.on('data', (chunk: Buffer) => {
          receivedBytes += chunk.length;
          if (receivedBytes > MAX_RESPONSE_BYTES) response.destroy();
        });
        response.once('error', () => undefined);
        response.once('close', () =>
          resolve(status >= 200 && status < 300 ? null : say('receiverAnswered', { status })),
        );
      });
      call.end(body);
    });
  } catch (cause) {
    return messageOf(cause);
  }
}

/** A webhook for display, without its secret and full address. */
export type ListedWebhook = Omit<Webhook, 'url'>;

const toListed = ({ url: _url, ...shown }: Webhook): ListedWebhook => shown;

export const listWebhooks = async (reader: Reader): Promise<ListedWebhook[]> =>
  (await readWebhooks(reader)).map(toListed);

const displayAddress = ({ origin }: URL): string => `${origin.slice(0, 110)}/…`;

/** Logs who added or removed a webhook. */
const logChange = (writer: Writer, what: 'added' | 'removed', address: string, why?: string, seq?: number) =>
  changeChannel(
    writer,
    async () => ({
      action: { kind: 'webhook' },
      why,
      evidence: [{ kind: 'webhook', change: what, address }],
    }),
    seq,
  );

/** Adds a webhook, which reports events from now on. Only this call returns its secret. Throws usage and refused. */
export async function addWebhook(
  writer: Writer,
  text: string,
  rules: WebhookRules,
): Promise<{ webhook: ListedWebhook; secret: string }> {
  const url = parseWebhookUrl(text, rules);
  // before the log records the addition
  requireRoom(await readWebhooks(writer));
  const { document } = await logChange(writer, 'added', displayAddress(url));
  const id = randomBytes(6).toString('hex');
  const webhook: Webhook = {
    id,
    url: seal(url.href, writer.key),
    shown: displayAddress(url),
    by: writer.who.slice(0, 120),
    at: (await timeOf(writer)).toISOString(),
    seq: document.seq,
    attempts: 0,
    problem: '',
    retry: null,
    undelivered: [],
  };
  await changeWebhooks(writer, (webhooks) => {
    requireRoom(webhooks);
    return webhooks.some((each) => each.id === id) ? null : [...webhooks, webhook];
  });
  return { webhook: toListed(webhook), secret: secretOf(writer.key, id) };
}

function requireRoom({ length }: readonly Webhook[]): void {
  if (length >= MAX_WEBHOOKS) throw refused(say('manyWebhooks', { count: length }), say('manyWebhooksCure'));
}

const missingWebhook = (id: string) => gone('webhook', say('noWebhook', { id }), say('noWebhookCure'));

/** Removes a webhook; undelivered events are dropped. Throws refused if it does not exist. */
export async function removeWebhook(writer: Writer, id: string, { why, seq }: ChangeOptions = {}): Promise<Change> {
  const webhook = (await listWebhooks(writer)).find((each) => each.id === id);
  if (!webhook) throw missingWebhook(id);
  const outcome = await logChange(writer, 'removed', webhook.shown, why, seq);
  await changeWebhooks(writer, (webhooks) => webhooks.filter((each) => each.id !== id));
  return outcome;
}

/** Sends a `test` event now. If it succeeds, pending events are due immediately. Throws refused with the problem. */
export async function testWebhook(writer: Writer, id: string, rules: WebhookRules): Promise<WebhookEvent> {
  const { channel, who } = writer;
  const webhook = (await readWebhooks(writer)).find((each) => each.id === id);
  if (!webhook) throw missingWebhook(id);
  const at = (await timeOf(writer)).toISOString();
  const console = consoleOf(channel, rules);
  const text = [`${channel}: a test by ${who}`, ...(console ? [console] : [])].join('\n');
  const details = { who, why: '', builds: [], percent: null, text, console };
  const event: WebhookEvent = { id: `${channel}-test-${randomUUID()}`, type: 'test', channel, seq: 0, at, ...details };
  const problem = await attemptDelivery(writer, webhook, event, rules);
  if (problem) throw refused(say('notReached', { address: webhook.shown, problem }), say('notReachedCure'));
  await changeWebhook(writer, id, (stored) => (stored.retry ? { ...stored, retry: null } : stored));
  return event;
}

/** Delay after the given number of failures: 10 s, 20 s, 40 s … 1 h. */
const pauseAfter = (failures: number): number => Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));

/** Applies the result of an attempt: moves on to the next event, plans a retry or gives the event up. */
function applyOutcome(webhook: Webhook, event: WebhookEvent, problem: string | null, now: Date): Webhook {
  const advancedWebhook = { ...webhook, seq: event.seq, attempts: 0, problem: '', retry: null };
  if (problem === null) return advancedWebhook;
  const shortProblem = [...problem].slice(0, 200).join('');
  const attempts = webhook.attempts + 1;
  if (attempts < MAX_ATTEMPTS)
    return {
      ...webhook,
      attempts,
      problem: shortProblem,
      retry: new Date(now.getTime() + pauseAfter(attempts)).toISOString(),
    };
  const undeliveredEvent = { id: event.id, problem: shortProblem, at: now.toISOString() };
  return { ...advancedWebhook, undelivered: [...webhook.undelivered, undeliveredEvent].slice(-KEPT_UNDELIVERED) };
}

/** Stores a webhook's progress, unless another server is further or the webhook was removed. */
const storeProgress = (writer: Writer, next: Webhook): Promise<void> =>
  changeWebhook(writer, next.id, (stored) => (stored.seq <= next.seq ? next : stored));

/** Delivers pending events to one webhook in order, until one fails or `mayGoOn` returns false. */
async function deliverTo(
  writer: Writer,
  document: ChannelDocument,
  webhook: Webhook,
  rules: WebhookRules,
  mayGoOn: () => Promise<boolean>,
): Promise<void> {
  let progress = webhook;
  let storedSeq = webhook.seq;
  while (progress.seq < document.seq && (await mayGoOn())) {
    // a delay above the maximum was set by a wrong clock
    const remainingMs = progress.retry ? Date.parse(progress.retry) - (await timeOf(writer)).getTime() : 0;
    if (remainingMs > 0 && remainingMs <= MAX_PAUSE_MS) break;
    const event = eventOf(await readState(writer, document, progress.seq + 1), rules);
    if (!event) {
      progress = { ...progress, seq: progress.seq + 1 };
      continue;
    }
    const problem = await attemptDelivery(writer, progress, event, rules);
    progress = applyOutcome(progress, event, problem, await timeOf(writer));
    await storeProgress(writer, progress);
    storedSeq = progress.seq;
    if (problem !== null) break;
  }
  if (progress.seq !== storedSeq) await storeProgress(writer, progress);
}

/**
 * Delivers pending events to every webhook of a channel, in parallel. `busyIds` has the ids of webhooks that an earlier round still waits
 * for.
 */
export async function deliver(
  writer: Writer,
  rules: WebhookRules,
  mayGoOn: () => Promise<boolean>,
  busyIds = new Set<string>(),
): Promise<void> {
  if ((await readWebhooks(writer)).length === 0) return;
  const document = await currentDocument(writer);
  // read last: an earlier round may have ended meanwhile
  const webhooks = await readWebhooks(writer);
  const results = await Promise.allSettled(
    webhooks
      .filter(({ id }) => !busyIds.has(id))
      .map((webhook) => {
        busyIds.add(webhook.id);
        return deliverTo(writer, document, webhook, rules, mayGoOn).finally(() => busyIds.delete(webhook.id));
      }),
  );
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}
