import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import { lookup as resolve } from 'node:dns';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { instantSchema, nameSchema, textSchema } from '@liaozhai/shared/contract';
import * as v from 'valibot';
import { type Change, changeChannel, timeOf, type Writer } from '../channel/changeChannel.ts';
import { readState, requireChannel } from '../channel/readChannel.ts';
import { actionLine, evidenceLines } from '../english.ts';
import { conflict, messageOf, refused, usage } from '../errors.ts';
import { type ReadAction, readAction } from '../model/action.ts';
import { issuesOf, parseJson } from '../model/build.ts';
import { type ChannelDocument, stateOf } from '../model/channel.ts';
import { canonicalJson, isSigned, type SigningKey, signText } from '../model/signing.ts';
import type { Store } from '../store/store.ts';

// Tells others what happened to a channel. Nothing is queued: each webhook remembers the last state of the log it was told of, so
// that no switch ever waits for one, and a restart loses nothing.

const MINUTE = 60_000;
const MOST_WEBHOOKS = 20;
const KEPT_UNDELIVERED = 10;
const FIRST_PAUSE = 10_000;
const LONGEST_PAUSE = 60 * MINUTE;
/** How long one event is tried before it is given up: about a day. */
export const MOST_ATTEMPTS = 32;
const TIMEOUT = 10_000;
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
  const what = `the webhooks of ${channel}`;
  const cure = 'Restore webhooks/ from a copy of the store, or remove it and add them anew.';
  const value = parseJson(pointer.body, what, cure);
  const parsed = v.safeParse(documentSchema, value);
  if (!parsed.success) throw refused(`${what} are damaged`, cure, issuesOf(parsed.issues));
  const { sig, ...unsigned } = value as { sig: string };
  if (parsed.output.channel !== channel || !isSigned(canonicalJson(unsigned), sig, publicKey))
    throw refused(`${what} are not signed by this store's key`, cure);
  return { webhooks: parsed.output.webhooks, tag: pointer.tag };
}

async function change(writer: Writer, decide: (webhooks: Webhook[]) => Webhook[] | null): Promise<void> {
  const { store, channel, key } = writer;
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const { webhooks, tag } = await read(store, channel, key.publicKey);
    const next = decide(webhooks);
    if (!next) return;
    const document = { format: 1, channel, nonce: randomUUID(), webhooks: next };
    const text = canonicalJson({ ...document, sig: signText(canonicalJson(document), key) });
    if (await store.swapPointer(keyOf(channel), text, tag)) return;
  }
  throw conflict(`the webhooks of ${channel} kept changing`, 'Try again.');
}

const derived = (key: SigningKey, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', key.privatePem, 'liaozhai webhooks', purpose, 32));

/** Not stored anywhere: it follows from the store's key and the webhook's id. */
const secretOf = (key: SigningKey, id: string): string => `whsec_${derived(key, `secret ${id}`).toString('base64url')}`;

function seal(text: string, key: SigningKey): string {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', derived(key, 'address'), iv);
  return Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64url');
}

function unseal(sealed: string, key: SigningKey): string {
  const bytes = Buffer.from(sealed, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', derived(key, 'address'), bytes.subarray(0, 12));
  decipher.setAuthTag(bytes.subarray(-16));
  return decipher.update(bytes.subarray(12, -16), undefined, 'utf8') + decipher.final('utf8');
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Addresses that are no one's on the internet: private, shared, link-local, documentation, multicast and the rest of what is reserved. */
const PRIVATE = new BlockList();
for (const [net, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const)
  PRIVATE.addSubnet(net, prefix, 'ipv4');
/** All of IPv6 but what is given out, and in that what carries an IPv4 address or is for documentation. */
const GIVEN_OUT = new BlockList();
GIVEN_OUT.addSubnet('2000::', 3, 'ipv6');
for (const [net, prefix] of [
  ['2001::', 32],
  ['2001:db8::', 32],
  ['2002::', 16],
] as const)
  PRIVATE.addSubnet(net, prefix, 'ipv6');

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** True for an address on this machine or in a network of one's own. */
export function isPrivateAddress(address: string): boolean {
  const plain = MAPPED.exec(address)?.[1] ?? address;
  if (isIP(plain) === 4) return PRIVATE.check(plain, 'ipv4');
  return isIP(plain) !== 6 || !GIVEN_OUT.check(plain, 'ipv6') || PRIVATE.check(plain, 'ipv6');
}

const isLoopback = (address: string): boolean => LOOPBACK.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$|\.$/g, '');

export interface WebhookRules {
  /** Whether addresses of this machine and of private networks may be called. */
  allowPrivate: boolean;
  /** Instead of the system's resolver. */
  resolve?: typeof resolve;
}

const ALLOW = 'Use an address on the internet, or set RELEASES_WEBHOOKS_PRIVATE=true where the console runs.';

/** Of the settings of the console, or of the command line on a store. Throws usage. */
export function webhookRulesFrom(environment: NodeJS.ProcessEnv = process.env): WebhookRules {
  const { RELEASES_WEBHOOKS_PRIVATE: value = 'false' } = environment;
  if (value !== 'true' && value !== 'false')
    throw usage(`RELEASES_WEBHOOKS_PRIVATE is "${value}"`, 'Set it to true or false, or leave it out.');
  return { allowPrivate: value === 'true' };
}

/** The address as it is called. Throws usage and refused. */
function checkedUrl(text: string, { allowPrivate }: WebhookRules): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !['https:', 'http:'].includes(url.protocol))
    throw usage(`"${text}" is not a web address`, 'Use e.g. https://chat.example/hooks/releases.');
  if (url.username || url.password)
    throw usage('the address holds a password', 'Leave it out: what is sent is signed, which proves more.');
  const host = hostOf(url);
  const loopback = host === 'localhost' || (isIP(host) !== 0 && isLoopback(host));
  if (url.protocol === 'http:' && !loopback)
    throw refused('a webhook is called over https', 'Use https://, http:// is for this machine alone.');
  if (!allowPrivate && (loopback || (isIP(host) !== 0 && isPrivateAddress(host))))
    throw refused(`${host} is an address of this machine or of a private network`, ALLOW);
  return url;
}

/** Judged at the connection itself, so that a name which changes its address between a look and the call gains nothing. */
const guardedLookup =
  ({ allowPrivate, resolve: look = resolve }: WebhookRules): LookupFunction =>
  (host, options, callback) => {
    look(host, { ...options, all: true }, (problem, addresses) => {
      if (problem) return callback(problem, '', 0);
      const allowed = addresses.filter(({ address }) => allowPrivate || !isPrivateAddress(address));
      const [first] = allowed;
      if (!first) return callback(new Error(`${host} leads to a private network`), '', 0);
      if (options.all) return callback(null, allowed);
      return callback(null, first.address, first.family);
    });
  };

/** What a webhook tells of. */
export type EventType = 'switched' | 'ramp' | 'stopped' | 'rolledBack' | 'scheduleWaiting' | 'test';

/** The body of a call. */
export interface WebhookEvent {
  /** The same for every attempt: what was received once is known by it. */
  id: string;
  type: EventType;
  channel: string;
  seq: number;
  at: string;
  who: string;
  why: string;
  builds: string[];
  /** The share of a ramp. */
  percent: number | null;
  /** All of it in a sentence, for people. */
  text: string;
}

function typeOf(action: ReadAction, who: string): EventType | null {
  switch (action.kind) {
    case 'activate':
    case 'promote':
      return 'switched';
    case 'canary':
      return 'ramp';
    case 'abort':
      return who === 'auto-stop' ? 'stopped' : 'rolledBack';
    case 'rollback':
    case 'withdraw':
    case 'kill':
      return 'rolledBack';
    case 'schedule': {
      const waits = action.evidence.some(
        (each) => each.kind === 'schedule' && ['waits', 'refused'].includes(each.change),
      );
      return waits ? 'scheduleWaiting' : null;
    }
    default:
      return null;
  }
}

/** What a state has to tell; null for those that only those look for who keep the log. */
export function eventOf({
  channel,
  seq,
  action: stored,
}: Pick<ChannelDocument, 'channel' | 'seq' | 'action'>): WebhookEvent | null {
  const action = readAction(stored);
  const type = typeOf(action, stored.who);
  if (!type) return null;
  const { who, why, at } = stored;
  const lines = [`${channel}: ${actionLine(stored)} (${who}${why ? `, "${why}"` : ''})`, ...evidenceLines(stored)];
  return {
    id: `${channel}-${seq}`,
    type,
    channel,
    seq,
    at,
    who,
    why,
    builds: 'builds' in action ? action.builds : [],
    percent: action.kind === 'canary' ? action.percent : null,
    text: lines.join('\n'),
  };
}

/** What the receiver recomputes: hex HMAC-SHA256 of `<seconds>.<body>`. */
export const signatureOf = (secret: string, seconds: number, body: string): string =>
  createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');

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
      signal: AbortSignal.timeout(TIMEOUT),
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'user-agent': 'liaozhai-releases',
        'liaozhai-event': event.id,
        'liaozhai-signature': `t=${seconds},v1=${signatureOf(secret, seconds, body)}`,
      },
    });
    call.once('error', (cause) => done(messageOf(cause)));
    call.once('response', (answer) => {
      const status = answer.statusCode ?? 0;
      let received = 0;
      answer.on('data', (chunk: Buffer) => {
        received += chunk.length;
        if (received > LONGEST_ANSWER) answer.destroy();
      });
      answer.once('error', () => undefined);
      answer.once('close', () => done(status >= 200 && status < 300 ? null : `answered ${status}`));
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

/** Adds a webhook, which is told of what happens from now on. Its secret can be read only here. Throws usage and refused. */
export async function addWebhook(
  writer: Writer,
  text: string,
  rules: WebhookRules,
): Promise<{ webhook: ListedWebhook; secret: string }> {
  const url = checkedUrl(text, rules);
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
    if (webhooks.length >= MOST_WEBHOOKS)
      throw refused(`there are ${webhooks.length} webhooks already`, 'Remove some with `webhook remove`.');
    return webhooks.some((each) => each.id === id) ? null : [...webhooks, webhook];
  });
  return { webhook: listed(webhook), secret: secretOf(writer.key, id) };
}

const missing = (id: string) => refused(`there is no webhook ${id}`, 'List them with `webhook list`.');

/** Takes a webhook away; what was not delivered yet never is. Throws refused if there is none. */
export async function removeWebhook(
  writer: Writer,
  id: string,
  { why, seq }: { why?: string; seq?: number } = {},
): Promise<Change> {
  const found = (await listWebhooks(writer)).find((each) => each.id === id);
  if (!found) throw missing(id);
  const told = await tell(writer, 'removed', found.shown, why, seq);
  await change(writer, (webhooks) => webhooks.filter((each) => each.id !== id));
  return told;
}

/** Sends an event of the type `test` now. Throws refused with what went wrong. */
export async function testWebhook(writer: Writer, id: string, rules: WebhookRules): Promise<WebhookEvent> {
  const { store, channel, key, who } = writer;
  const webhook = (await read(store, channel, key.publicKey)).webhooks.find((each) => each.id === id);
  if (!webhook) throw missing(id);
  const at = (await timeOf(writer)).toISOString();
  const said = { who, why: '', builds: [], percent: null, text: `${channel}: a test by ${who}` };
  const event: WebhookEvent = { id: `${channel}-test-${randomUUID()}`, type: 'test', channel, seq: 0, at, ...said };
  const problem = await attempt(writer, webhook, event, rules);
  if (problem)
    throw refused(
      `${webhook.shown} was not reached: ${problem}`,
      'Check the address, and that it answers 2xx within 10 s.',
    );
  return event;
}

/** The pause after so many failures: 10 s, 20 s, 40 s … an hour. */
const pauseAfter = (failures: number): number => Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (failures - 1));

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
  let kept = webhook.seq;
  while (own.seq < document.seq && (await mayGoOn())) {
    // a pause that is longer than any was set by a clock that is wrong
    const left = own.retry ? Date.parse(own.retry) - (await timeOf(writer)).getTime() : 0;
    if (left > 0 && left <= LONGEST_PAUSE) break;
    const event = eventOf(await readState(writer.store, document, own.seq + 1, writer.key.publicKey));
    if (!event) {
      own = { ...own, seq: own.seq + 1 };
      continue;
    }
    const problem = await attempt(writer, own, event, rules);
    own = settled(own, event, problem, await timeOf(writer));
    await keep(writer, own);
    kept = own.seq;
    if (problem !== null) break;
  }
  if (own.seq !== kept) await keep(writer, own);
}

/** Tells every webhook of a channel what is new; one that does not answer keeps no other waiting. */
export async function deliver(writer: Writer, rules: WebhookRules, mayGoOn: () => Promise<boolean>): Promise<void> {
  const { store, channel, key } = writer;
  const { webhooks } = await read(store, channel, key.publicKey);
  if (webhooks.length === 0) return;
  const { document } = await requireChannel(store, channel, key.publicKey);
  const ends = await Promise.allSettled(
    webhooks.map((webhook) => deliverTo(writer, document, webhook, rules, mayGoOn)),
  );
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}
