import { beforeEach, describe, expect, rs, test } from '@rstest/core';
import { onTestEnd } from '../../testing';
import { createNetwork } from './network';

/** A network whose server answers while `isUp`; counts its requests and the window's events. */
function start() {
  const server = { isUp: true, asked: 0 };
  const network = createNetwork(async () => {
    server.asked += 1;
    return server.isUp;
  });
  const told: string[] = [];
  const tell = ({ type }: Event) => told.push(type);
  for (const type of ['online', 'offline']) {
    window.addEventListener(type, tell);
    onTestEnd(() => window.removeEventListener(type, tell));
  }
  onTestEnd(network.recordResponse);
  return { server, network, told };
}

const pass = (milliseconds: number) => rs.advanceTimersByTimeAsync(milliseconds);

beforeEach(() => {
  rs.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestEnd(() => rs.useRealTimers());
});

describe('net.dead: a dead network that the browser reports as online', () => {
  test('is offline after a failed probe, and online after the next response', async () => {
    const { server, network, told } = start();
    server.isUp = false;
    network.recordFailure();
    expect(network.isOnline()).toBe(true);
    await pass(0);
    expect(network.isOnline()).toBe(false);
    server.isUp = true;
    await pass(1_000);
    expect(network.isOnline()).toBe(true);
    expect(told).toEqual(['offline', 'online']);
  });

  test('stays online after a single lost request', async () => {
    const { network, told } = start();
    network.recordFailure();
    await pass(0);
    expect(network.isOnline()).toBe(true);
    expect(told).toEqual([]);
  });

  test('is probed less and less often, however many requests fail', async () => {
    const { server, network } = start();
    server.isUp = false;
    for (let request = 0; request < 10; request += 1) network.recordFailure();
    await pass(60_000);
    expect(server.asked).toBeGreaterThan(5);
    expect(server.asked).toBeLessThan(10);
  });

  test('becomes online with the first response to any request', async () => {
    const { server, network, told } = start();
    server.isUp = false;
    network.recordFailure();
    await pass(0);
    network.recordResponse();
    expect(network.isOnline()).toBe(true);
    expect(told).toEqual(['offline', 'online']);
    const { asked } = server;
    await pass(60_000);
    expect(server.asked).toBe(asked);
  });

  test('is probed immediately when the browser reports it online', async () => {
    const { server, network } = start();
    server.isUp = false;
    network.recordFailure();
    await pass(8_000);
    server.isUp = true;
    window.dispatchEvent(new Event('online'));
    await pass(0);
    expect(network.isOnline()).toBe(true);
  });
});

test('a web view that always reports offline counts as offline until a request gets a response', async () => {
  const device = rs.spyOn(navigator, 'onLine', 'get').mockReturnValue(false);
  onTestEnd(() => device.mockRestore());
  const { server, network, told } = start();
  expect(network.isOnline()).toBe(false);
  network.recordResponse();
  expect(network.isOnline()).toBe(true);
  server.isUp = false;
  network.recordFailure();
  await pass(0);
  expect(network.isOnline()).toBe(false);
  server.isUp = true;
  await pass(1_000);
  expect(network.isOnline()).toBe(true);
  expect(told).toEqual(['online', 'offline', 'online']);
  // the browser's `offline` event is newer than that response, and than a request sent before it
  const asked = performance.now() - 1;
  window.dispatchEvent(new Event('offline'));
  network.recordResponse(asked);
  expect(network.isOnline()).toBe(false);
});
