import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { instantSchema, MINUTE_MS, nameSchema, textSchema } from '@liaozhai/shared/contract';
import * as v from 'valibot';
import { type Change, changeChannel } from '../channel/changeChannel.ts';
import { currentDocument, readState } from '../channel/readChannel.ts';
import { type ChangeOptions, timeOf, type Writer } from '../channel/writer.ts';
import { conflict, messageOf, newer, refused } from '../errors.ts';
import { issuesOf, parseJson } from '../model/build.ts';
import { type ChannelDocument, stateOf } from '../model/channel.ts';
import { isSignedDocument, signedJson } from '../model/signing.ts';
import { say } from '../sentences.ts';
import type { Store } from '../store/store.ts';
import { checkedUrl, guardedLookup, seal, secretOf, unseal, type WebhookRules } from './webhookAddress.ts';
import { consoleOf, eventOf, type WebhookEvent } from './webhookEvents.ts';

// Notifies others of what happened to a channel. Nothing is queued: each webhook stores the last state of the log it has delivered, so
// that no switch ever waits for one, and a restart loses nothing.

const MOST_WEBHOOKS = 20;
const KEPT_UNDELIVERED = 10;
const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 60 * MINUTE_MS;
/** How long one event is tried before it is given up: about a day. */
export const MOST_ATTEMPTS = 32;
const TIMEOUT_MS = 10_000;
const LONGEST_ANSWER = 64 * 1024;

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

const webhookSchema = v.object({
  id: v.pipe(v.string(), v.regex(/^[0-9a-f]{12}$/)),
  /** The address, sealed with the store's key: those of chat services are secrets. */
  url: v.string(),
  /** Its beginning, for people. */
  shown: textSchema(120),
  by: textSchema(120),
  at: instantSchema,
  /** The last state of the log that was delivered, given up or none of its business. */
  seq: count,
  /** Of the next event: how often it failed, why the last time, and when it is tried again. */
  attempts: count,
  problem: textSchema(200),
  retry: v.nullable(instantSchema),
  undelivered: v.pipe(
    v.array(v.object({ id: v.string(), problem: textSchema(200), at: instantSchema })),
    v.maxLength(KEPT_UNDELIVERED),
  ),
});

type Webhook = v.InferOutput<typeof webhookSchema>;

const documentSchema = v.object({
  format: v.literal(1),
  channel: nameSchema,
  nonce: v.string(),
  webhooks: v.pipe(v.array(webhookSchema), v.maxLength(MOST_WEBHOOKS)),
  sig: v.string(),
});

/** `webhooks/<channel>.json`: a pointer, signed, so that who writes the store alone sends nobody anywhere. */
const keyOf = (channel: string): string => `webhooks/${channel}.json`;

async function read(
  store: Store,
  channel: string,
  publicKey: string,
): Promise<{ webhooks: Webhook[]; tag: string | null }> {
  const pointer = await store.readPointer(keyOf(channel));
  if (!pointer) return { webhooks: [], tag: null };
  const what = say('theWebhooks', { channel });
  const cure = say('webhooksCure');
  const value = parseJson(pointer.body, what, cure);
  const parsed = v.safeParse(documentSchema, value);
  const isOurs = isSignedDocument(value, publicKey);
  if (!parsed.success) {
    const issues = issuesOf(parsed.issues);
    throw isOurs ? newer(what, issues) : refused(say('documentDamaged', { what }), cure, issues);
  }
  if (parsed.output.channel !== channel || !isOurs) throw refused(say('documentUnsigned', { what }), cure);
  return { webhooks: parsed.output.webhooks, tag: pointer.tag };
}

async function change(writer: Writer, decide: (webhooks: Webhook[]) => Webhook[] | null): Promise<void> {
  const { store, channel, key } = writer;
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const { webhooks, tag } = await read(store, channel, key.publicKey);
    const next = decide(webhooks);
    if (!next) return;
    const document = { format: 1, channel, nonce: randomUUID(), webhooks: next };
    const text = signedJson(document, key);
    if (await store.swapPointer(keyOf(channel), text, tag)) return;
  }
  throw conflict(say('keptChanging', { what: say('theWebhooks', { channel }) }), say('againCure'));
}

/** What the receiver recomputes, by Standard Webhooks: base64 HMAC-SHA256 of `<id>.<seconds>.<body>`; the key is what follows `whsec_`. */
const signatureOf = (secret: string, id: string, seconds: number, body: string): string =>
  createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'))
    .update(`${id}.${seconds}.${body}`)
    .digest('base64');

/** Posts one event. Returns what was wrong, or null. Redirects are not followed, and the answer's text means nothing. */
function post(
  url: URL,
  secret: string,
  event: WebhookEvent,
  seconds: number,
  rules: WebhookRules,
): Promise<string | null> {
  const body = JSON.stringify(event);
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((done) => {
    const call = send(url, {
      method: 'POST',
      lookup: guardedLookup(rules),
      // no connection of before, whose address nobody would judge
      agent: false,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'user-agent': 'liaozhai-releases',
        'webhook-id': event.id,
        'webhook-timestamp': String(seconds),
        'webhook-signature': `v1,${signatureOf(secret, event.id, seconds, body)}`,
      },
    });
    // the words of an abort do not name its cause
    call.once('error', (cause) => done(cause.name === 'AbortError' ? say('timedOut') : messageOf(cause)));
    call.once('response', (answer) => {
      const status = answer.statusCode ?? 0;
      let received = 0;
      answer.on('data', (chunk: Buffer) => {
        received += chunk.length;
        if (received > LONGEST_ANSWER) answer.destroy();
      });
      answer.once('error', () => undefined);
      answer.once('close', () => done(status >= 200 && status < 300 ? null : say('receiverAnswered', { status })));
    });
    call.end(body);
  });
}

async function attempt(
  writer: Writer,
  webhook: Webhook,
  event: WebhookEvent,
  rules: WebhookRules,
): Promise<string | null> {
  try {
    const url = checkedUrl(unseal(webhook.url, writer.key), rules);
    const seconds = Math.floor((await timeOf(writer)).getTime() / 1000);
    return await post(url, secretOf(writer.key, webhook.id), event, seconds, rules);
  } catch (cause) {
    return messageOf(cause);
  }
}

/** A webhook as it is listed: never its secret, of its address the beginning. */
export type ListedWebhook = Omit<Webhook, 'url'>;

const listed = ({ url: _url, ...shown }: Webhook): ListedWebhook => shown;

export const listWebhooks = async ({ store, channel, key }: Writer): Promise<ListedWebhook[]> =>
  (await read(store, channel, key.publicKey)).webhooks.map(listed);

const shownOf = ({ origin }: URL): string => `${origin.slice(0, 110)}/…`;

/** The log says who sends what is done elsewhere. */
const tell = (writer: Writer, what: 'added' | 'removed', address: string, why?: string, seq?: number) =>
  changeChannel(
    writer,
    async (current) => ({
      state: stateOf(current),
      action: { kind: 'webhook' },
      why,
      evidence: [{ kind: 'webhook', change: what, address }],
    }),
    seq,
  );

/** Adds a webhook, which reports events from now on. Its secret can be read only here. Throws usage and refused. */
export async function addWebhook(
  writer: Writer,
  text: string,
  rules: WebhookRules,
): Promise<{ webhook: ListedWebhook; secret: string }> {
  const url = checkedUrl(text, rules);
  // before the log says that it was added
  requireRoom((await read(writer.store, writer.channel, writer.key.publicKey)).webhooks);
  const { document } = await tell(writer, 'added', shownOf(url));
  const id = randomBytes(6).toString('hex');
  const webhook: Webhook = {
    id,
    url: seal(url.href, writer.key),
    shown: shownOf(url),
    by: writer.who.slice(0, 120),
    at: (await timeOf(writer)).toISOString(),
    seq: document.seq,
    attempts: 0,
    problem: '',
    retry: null,
    undelivered: [],
  };
  await change(writer, (webhooks) => {
    requireRoom(webhooks);
    return webhooks.some((each) => each.id === id) ? null : [...webhooks, webhook];
  });
  return { webhook: listed(webhook), secret: secretOf(writer.key, id) };
}

function requireRoom({ length }: readonly Webhook[]): void {
  if (length >= MOST_WEBHOOKS) throw refused(say('manyWebhooks', { count: length }), say('manyWebhooksCure'));
}

const missing = (id: string) => refused(say('noWebhook', { id }), say('noWebhookCure'));

/** Removes a webhook; undelivered events are dropped. Throws refused if it does not exist. */
export async function removeWebhook(writer: Writer, id: string, { why, seq }: ChangeOptions = {}): Promise<Change> {
  const webhook = (await listWebhooks(writer)).find((each) => each.id === id);
  if (!webhook) throw missing(id);
  const outcome = await tell(writer, 'removed', webhook.shown, why, seq);
  await change(writer, (webhooks) => webhooks.filter((each) => each.id !== id));
  return outcome;
}

/** Sends an event of the type `test` now. Where it arrives, the events that wait follow. Throws refused with what went wrong. */
export async function testWebhook(writer: Writer, id: string, rules: WebhookRules): Promise<WebhookEvent> {
  const { store, channel, key, who } = writer;
  const webhook = (await read(store, channel, key.publicKey)).webhooks.find((each) => each.id === id);
  if (!webhook) throw missing(id);
  const at = (await timeOf(writer)).toISOString();
  const console = consoleOf(channel, rules);
  const text = [`${channel}: a test by ${who}`, ...(console ? [console] : [])].join('\n');
  const said = { who, why: '', builds: [], percent: null, text, console };
  const event: WebhookEvent = { id: `${channel}-test-${randomUUID()}`, type: 'test', channel, seq: 0, at, ...said };
  const problem = await attempt(writer, webhook, event, rules);
  if (problem) throw refused(say('notReached', { address: webhook.shown, problem }), say('notReachedCure'));
  await change(writer, (webhooks) =>
    webhooks.some((each) => each.id === id && each.retry)
      ? webhooks.map((each) => (each.id === id ? { ...each, retry: null } : each))
      : null,
  );
  return event;
}

/** The pause after so many failures: 10 s, 20 s, 40 s … an hour. */
const pauseAfter = (failures: number): number => Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));

/** What follows from an attempt: the next event's turn, another attempt, or one that is given up. */
function settled(webhook: Webhook, event: WebhookEvent, problem: string | null, now: Date): Webhook {
  const over = { ...webhook, seq: event.seq, attempts: 0, problem: '', retry: null };
  if (problem === null) return over;
  const short = [...problem].slice(0, 200).join('');
  const attempts = webhook.attempts + 1;
  if (attempts < MOST_ATTEMPTS)
    return {
      ...webhook,
      attempts,
      problem: short,
      retry: new Date(now.getTime() + pauseAfter(attempts)).toISOString(),
    };
  const given = { id: event.id, problem: short, at: now.toISOString() };
  return { ...over, undelivered: [...webhook.undelivered, given].slice(-KEPT_UNDELIVERED) };
}

/** Never goes back behind what another server has kept, nor brings back what was removed. */
const keep = (writer: Writer, next: Webhook): Promise<void> =>
  change(writer, (webhooks) =>
    webhooks.some(({ id, seq }) => id === next.id && seq <= next.seq)
      ? webhooks.map((each) => (each.id === next.id ? next : each))
      : null,
  );

/** Tells one webhook what it does not know yet, in order, until an event fails or `mayGoOn` says no. */
async function deliverTo(
  writer: Writer,
  document: ChannelDocument,
  webhook: Webhook,
  rules: WebhookRules,
  mayGoOn: () => Promise<boolean>,
): Promise<void> {
  let own = webhook;
  let delivered = webhook.seq;
  while (own.seq < document.seq && (await mayGoOn())) {
    // a pause that is longer than any was set by a clock that is wrong
    const left = own.retry ? Date.parse(own.retry) - (await timeOf(writer)).getTime() : 0;
    if (left > 0 && left <= LONGEST_PAUSE_MS) break;
    const event = eventOf(await readState(writer.store, document, own.seq + 1, writer.key.publicKey), rules);
    if (!event) {
      own = { ...own, seq: own.seq + 1 };
      continue;
    }
    const problem = await attempt(writer, own, event, rules);
    own = settled(own, event, problem, await timeOf(writer));
    await keep(writer, own);
    delivered = own.seq;
    if (problem !== null) break;
  }
  if (own.seq !== delivered) await keep(writer, own);
}

/**
 * Tells every webhook of a channel what is new; one that does not answer keeps no other waiting. `busy` are those that an earlier round
 * still waits for.
 */
export async function deliver(
  writer: Writer,
  rules: WebhookRules,
  mayGoOn: () => Promise<boolean>,
  busy = new Set<string>(),
): Promise<void> {
  const { store, channel, key } = writer;
  if ((await read(store, channel, key.publicKey)).webhooks.length === 0) return;
  const document = await currentDocument(writer);
  // read last: an earlier round may have ended meanwhile
  const { webhooks } = await read(store, channel, key.publicKey);
  const ends = await Promise.allSettled(
    webhooks
      .filter(({ id }) => !busy.has(id))
      .map((webhook) => {
        busy.add(webhook.id);
        return deliverTo(writer, document, webhook, rules, mayGoOn).finally(() => busy.delete(webhook.id));
      }),
  );
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}
