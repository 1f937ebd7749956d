import type { lookup } from 'node:dns';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HOUR_MS } from '@liaozhai/shared/contract';
import { afterEach, beforeEach, describe, expect, test } from '@rstest/core';
import { Webhook } from 'standardwebhooks';
import { addFreeze } from '../channel/changeAgenda.ts';
import { HealthReader } from '../health/healthRecord.ts';
import { parseSteps } from '../model/steps.ts';
import { kill, rollback } from '../operations/goingBack.ts';
import { abort, canary } from '../operations/switching.ts';
import { openGate, openTestStore, type TestStore } from '../testing/openTestStore.ts';
import { viewAgenda } from './agendaView.ts';
import { schedule, takeDueSteps } from './schedule.ts';
import { isPrivateAddress, webhookRulesFrom } from './webhookAddress.ts';
import type { WebhookEvent } from './webhookEvents.ts';
import { addWebhook, deliver, listWebhooks, MAX_ATTEMPTS, removeWebhook, testWebhook } from './webhooks.ts';

const HERE = { allowPrivate: true };
const always = async () => true;

let at: TestStore;
let next: string;
let receiver: Awaited<ReturnType<typeof openReceiver>>;
beforeEach(async () => {
  at = await openTestStore();
  await at.activate(await at.host(), await at.remote('stories'));
  next = await at.remote('stories', '1.1.0');
  receiver = await openReceiver();
});
afterEach(async () => {
  await receiver.close();
  await at.remove();
});

interface Received {
  event: WebhookEvent;
  body: string;
  headers: Record<string, string>;
}

/** A chat service on loopback that records requests; `state.answer` can be replaced. */
async function openReceiver() {
  const received: Received[] = [];
  const state = {
    answer: (_request: IncomingMessage, response: ServerResponse): void => void response.writeHead(204).end(),
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    received.push({ event: JSON.parse(body), body, headers });
    state.answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    received,
    state,
    port,
    url: `http://127.0.0.1:${port}/hooks/a-secret-path`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const add = () => addWebhook(at.writer, receiver.url, HERE);
const send = (hours = 0) => deliver(at.after(hours * HOUR_MS), HERE, always);
const types = () => receiver.received.map(({ event }) => event.type);
const failing = (status: number) => {
  receiver.state.answer = (_, response) => void response.writeHead(status, { location: '/elsewhere' }).end();
};

describe('a webhook', () => {
  test('distinguishes kills that affected visitors', async () => {
    await at.activate(next);
    await add();
    await kill(at.writer, await at.remote('fans', '9.0.0'));
    await kill(at.writer, next);
    await send();
    expect(types()).toEqual(['killed', 'rolledBack']);
  });

  test('does not delay the others if it is slow', async () => {
    const slow = await openReceiver();
    const answers: (() => void)[] = [];
    slow.state.answer = (_, response) => answers.push(() => response.writeHead(204).end());
    await addWebhook(at.writer, slow.url, HERE);
    await add();
    const busy = new Set<string>();
    await at.activate(next);
    const first = deliver(at.writer, HERE, always, busy);
    await expect.poll(() => [answers.length, types()]).toEqual([1, ['switched']]);
    await rollback(at.writer, {});
    await deliver(at.writer, HERE, always, busy);
    expect([answers.length, types()]).toEqual([1, ['switched', 'rolledBack']]);
    for (const answer of answers) answer();
    await first;
    await slow.close();
  });

  test('receives switches, ramps, stops, rollbacks and waiting schedules in order, each once', async () => {
    await at.activate(next);
    await add();
    await at.activate(await at.remote('chat'));
    await schedule(
      at.writer,
      { builds: [await at.remote('chat', '1.1.0')], steps: parseSteps('5@now,25@1h') },
      openGate,
    );
    await takeDueSteps(at.after(2 * HOUR_MS), new HealthReader(at.store, 'production'), async () => openGate);
    await abort({ ...at.writer, who: 'auto-stop' }, {});
    await rollback(at.writer, { name: 'stories', why: 'blank page' });
    await send();
    await send();
    expect(types()).toEqual(['switched', 'ramp', 'scheduleWaiting', 'stopped', 'rolledBack']);
    const { seq } = await at.current();
    const [last] = receiver.received.slice(-1);
    expect(last?.event).toMatchObject({
      id: `production-${seq}`,
      channel: 'production',
      seq,
      who: 'tester',
      why: 'blank page',
    });
    expect(last?.headers['webhook-id']).toBe(`production-${seq}`);
    expect(receiver.received[1]?.event).toMatchObject({ percent: 5 });
    expect(receiver.received[2]?.event.text).toContain('0 of 30 visitors of the candidate');
  });

  test('links to the console if its address is set', async () => {
    const rules = { ...HERE, console: webhookRulesFrom({ CONSOLE_ORIGIN: 'https://console.example' }).console };
    await addWebhook(at.writer, receiver.url, rules);
    await canary(at.writer, [next], 10, { gate: openGate });
    await abort({ ...at.writer, who: 'auto-stop' }, {});
    await deliver(at.writer, rules, always);
    const [, stopped] = receiver.received;
    expect(stopped?.event).toMatchObject({ type: 'stopped', console: 'https://console.example/?channel=production' });
    expect(stopped?.event.text.split('\n').at(-1)).toBe('https://console.example/?channel=production');
    expect(() => webhookRulesFrom({ CONSOLE_ORIGIN: 'console' })).toThrow(/CONSOLE_ORIGIN/);
  });

  test('sends signatures that Standard Webhooks libraries verify', async () => {
    const { secret } = await add();
    await at.activate(next);
    await send();
    const [{ headers = {}, body = '', event } = {}] = receiver.received;
    expect(headers['webhook-id']).toBe(event?.id);
    expect(new Webhook(secret).verify(body, headers)).toEqual(event);
    for (const changed of [
      { body: body.replace('tester', 'nobody'), headers },
      { body, headers: { ...headers, 'webhook-id': 'another' } },
      { body, headers: { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) } },
      { body, headers: { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) - 900) } },
    ])
      expect(() => new Webhook(secret).verify(changed.body, changed.headers)).toThrow();
    const { secret: other } = await add();
    expect(() => new Webhook(other).verify(body, headers)).toThrow();
  });

  test('stores and lists neither its secret nor its address in plain text', async () => {
    const { secret } = await add();
    const stored = (await at.store.readPointer('webhooks/production.json'))?.body ?? '';
    const shown = JSON.stringify(await listWebhooks(at.writer));
    for (const text of [stored, shown]) {
      expect(text).toContain(`127.0.0.1:${receiver.port}`);
      expect(text).not.toContain('a-secret-path');
      expect(text).not.toContain(secret.slice(6));
    }
    expect((await at.current()).action).toMatchObject({ verb: 'webhook', who: 'tester' });
  });

  test('can be tested, with the cause of a failure', async () => {
    const { webhook } = await add();
    expect(await testWebhook(at.writer, webhook.id, HERE)).toMatchObject({ type: 'test' });
    failing(500);
    await expect(testWebhook(at.writer, webhook.id, HERE)).rejects.toThrow('answered 500');
    expect(types()).toEqual(['test', 'test']);
  });
});

describe('a failing receiver', () => {
  test('gets its queued events after a successful test', async () => {
    const { webhook } = await add();
    await at.activate(next);
    failing(503);
    await send();
    receiver.state.answer = (_, response) => void response.writeHead(204).end();
    await send();
    expect(types()).toEqual(['switched']);
    await testWebhook(at.writer, webhook.id, HERE);
    await send();
    expect(types()).toEqual(['switched', 'test', 'switched']);
  });

  test('gets the same event again with growing pauses, without delaying other webhooks', async () => {
    await add();
    const other = await openReceiver();
    await addWebhook(at.writer, other.url, HERE);
    await at.activate(next);
    await rollback(at.writer, {});
    failing(503);
    await send();
    await send();
    expect(types()).toEqual(['switched']);
    expect(other.received.map(({ event }) => event.type)).toEqual(['switched', 'rolledBack']);
    await send(12 / 3600);
    await send(20 / 3600);
    await send(40 / 3600);
    expect(types()).toHaveLength(3);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    const view = await viewAgenda(at.writer, new HealthReader(at.store, 'production'), await at.current());
    expect(view.webhooks[0]).toMatchObject({ attempts: 3, problem: 'answered 503' });
    receiver.state.answer = (_, response) => void response.writeHead(200).end('ok');
    await send(1);
    expect(types().slice(3)).toEqual(['switched', 'rolledBack']);
    await other.close();
  });

  test('loses an event after about a day, which status shows, and gets later ones', async () => {
    await add();
    await at.activate(next);
    failing(410);
    for (let n = 0; n < MAX_ATTEMPTS; n += 1) await send(n * 1.1);
    expect(types()).toHaveLength(MAX_ATTEMPTS);
    const { seq } = await at.current();
    expect(await listWebhooks(at.writer)).toMatchObject([
      { attempts: 0, undelivered: [{ id: `production-${seq}`, problem: 'answered 410' }] },
    ]);
    receiver.state.answer = (_, response) => void response.writeHead(200).end();
    await rollback(at.writer, {});
    await send();
    expect(types().at(-1)).toBe('rolledBack');
  });

  test('cannot redirect', async () => {
    await add();
    await at.activate(next);
    failing(302);
    await send();
    expect(receiver.received).toHaveLength(1);
    expect(await listWebhooks(at.writer)).toMatchObject([{ attempts: 1, problem: 'answered 302' }]);
  });

  test('does not delay a switch, and stays removed if it is removed meanwhile', async () => {
    const { webhook } = await add();
    await at.activate(next);
    const asked = new Promise<ServerResponse>((resolve) => {
      receiver.state.answer = (_, response) => resolve(response);
    });
    const sending = send();
    const response = await asked;
    expect((await rollback(at.writer, {})).changed).toBe(true);
    await removeWebhook(at.writer, webhook.id);
    response.destroy();
    await sending;
    expect(await listWebhooks(at.writer)).toEqual([]);
  });

  test('is called by the server with the lease only', async () => {
    await add();
    await at.activate(next);
    await rollback(at.writer, {});
    let turns = 1;
    await deliver(at.writer, HERE, async () => turns-- > 0);
    expect(types()).toEqual(['switched']);
    await send();
    expect(types()).toEqual(['switched', 'rolledBack']);
  });
});

describe('addresses', () => {
  const INTERNET = { allowPrivate: false };
  test('that are not https, not on the internet or hold a password are refused', async () => {
    const refused = [
      'http://chat.example/hook',
      'https://127.0.0.1/hook',
      'http://localhost:9/hook',
      'https://localhost./hook',
      'https://[::1]/hook',
      'https://10.1.2.3/hook',
      'https://169.254.169.254/latest/meta-data',
      'https://[::ffff:192.168.1.1]/hook',
      'https://[fd00::1]/hook',
      'https://2130706433/hook',
      'https://user:pass@chat.example/hook',
      'ftp://chat.example/hook',
      'chat.example',
    ];
    for (const url of refused)
      await expect(addWebhook(at.writer, url, INTERNET), url).rejects.toMatchObject({
        kind: expect.stringMatching(/refused|usage/),
        cure: expect.stringMatching(/./),
      });
    expect(await listWebhooks(at.writer)).toEqual([]);
  });

  test('of a name that leads to a private network by the time of the call are refused', async () => {
    const { webhook } = await addWebhook(at.writer, `https://chat.example:${receiver.port}/hook`, INTERNET);
    const leads = ((_host: string, _options: object, callback: (problem: null, found: object[]) => void) =>
      callback(null, [{ address: '127.0.0.1', family: 4 }])) as unknown as typeof lookup;
    await expect(testWebhook(at.writer, webhook.id, { ...INTERNET, resolve: leads })).rejects.toThrow(
      'private network',
    );
    // where private addresses are allowed, the call reaches the receiver and fails, because it has no TLS
    await expect(testWebhook(at.writer, webhook.id, { ...HERE, resolve: leads })).rejects.not.toThrow(
      'private network',
    );
    expect(receiver.received).toEqual([]);
  });

  test('are classified as public or private', () => {
    for (const address of ['8.8.8.8', '2606:4700::1111', '::ffff:8.8.8.8'])
      expect(isPrivateAddress(address), address).toBe(false);
    const own = [
      '172.31.0.1',
      '100.64.0.1',
      '::',
      'fe80::1',
      '::ffff:10.0.0.1',
      '::ffff:a00:1',
      '64:ff9b::a00:1',
      '2002:a00:1::',
      'x',
    ];
    for (const address of own) expect(isPrivateAddress(address), address).toBe(true);
  });
});

test('unsigned webhooks are not called, and nothing else stops', async () => {
  await add();
  const pointer = await at.store.readPointer('webhooks/production.json');
  const forged = pointer?.body.replace('"attempts":0', '"attempts":1') ?? '';
  await at.store.swapPointer('webhooks/production.json', forged, pointer?.tag ?? '');
  expect((await at.activate(next)).changed).toBe(true);
  await expect(send()).rejects.toThrow('not signed');
  expect(receiver.received).toEqual([]);
  const view = await viewAgenda(at.writer, new HealthReader(at.store, 'production'), await at.current());
  expect(view.problem).toContain('not signed');
});

test('a damaged list of webhooks is reported, and hides nothing that is planned', async () => {
  const window = { kind: 'weekly' as const, from: 0, to: 60, zone: 'UTC' };
  await addFreeze(at.writer, { window, why: 'fair' });
  await at.store.swapPointer('webhooks/production.json', '{"webhooks":', null);
  const view = await viewAgenda(at.writer, new HealthReader(at.store, 'production'), await at.current());
  expect(view).toMatchObject({ freezes: [{ reason: 'fair' }], webhooks: [] });
  expect(view.problem).toMatch(/^the list of webhooks of production is damaged.*; Restore webhooks\//);
});

test.each(['agendas', 'webhooks'])('damaged %s are removed with the folders in the cure', async (folder) => {
  await at.store.swapPointer(`${folder}/production.json`, 'damaged', null);
  const view = async () => viewAgenda(at.writer, new HealthReader(at.store, 'production'), await at.current());
  const { problem } = await view();
  const named = problem?.match(/\S+\/(?=\s)/g) ?? [];
  for (const path of named) await rm(`${at.folder}/store/${path}`, { recursive: true });
  expect(await view()).toMatchObject({ problem: null, schedules: [], webhooks: [] });
});
