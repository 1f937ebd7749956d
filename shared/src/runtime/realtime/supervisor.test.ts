import { afterEach, describe, expect, test } from '@rstest/core';
import fc from 'fast-check';
import { SimulatedClock, SimulatedNetwork } from '../../testing/simulatedNetwork';
import { type RealtimeStatus, Supervisor } from './supervisor';

let supervisor: Supervisor | undefined;

afterEach(() => supervisor?.stop());

/** Seeded generator of numbers in [0, 1). */
const seeded = (seed: number) => () => {
  seed = (seed * 1_664_525 + 1_013_904_223) % 2 ** 32;
  return seed / 2 ** 32;
};

async function connected(random: () => number = () => 0.5) {
  const clock = new SimulatedClock();
  const network = new SimulatedNetwork(clock);
  const statuses: RealtimeStatus[] = [];
  const opened = new Supervisor({
    openLink: (events) => network.link(events),
    onStatus: (status) => statuses.push(status),
    onEvent: () => {},
    clock,
    random,
  });
  supervisor = opened;
  opened.start();
  await clock.pass(1_000);
  const secondsUntil = async (wanted: RealtimeStatus, limitSeconds = 120) => {
    const from = clock.now();
    while (statuses.at(-1) !== wanted) {
      if (clock.now() - from > limitSeconds * 1000) throw new Error(`still ${statuses.at(-1)} after ${limitSeconds} s`);
      await clock.pass(50);
    }
    return (clock.now() - from) / 1000;
  };
  return { clock, network, statuses, supervisor: opened, secondsUntil };
}

const percentile = (values: number[], share: number) =>
  values.sort((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? Number.NaN;

test('goes from connecting to live', async () => {
  const { statuses } = await connected();
  expect(statuses).toEqual(['connecting', 'live']);
});

describe('ws.outage-matrix', () => {
  for (const outageSeconds of [3, 10, 20, 50]) {
    test(`is back within 5 s (p95) after ${outageSeconds} s of refused sockets`, async () => {
      const waits: number[] = [];
      for (let seed = 1; seed <= 100; seed++) {
        const { clock, network, secondsUntil, supervisor: one } = await connected(seeded(seed));
        await clock.pass(20_000);
        network.state = 'refusing';
        network.breakAll();
        await clock.pass(outageSeconds * 1000);
        network.state = 'up';
        waits.push(await secondsUntil('live'));
        one.stop();
      }
      expect(percentile(waits, 0.95)).toBeLessThanOrEqual(5);
    });
  }

  test('a network event ends the pause', async () => {
    const { clock, network, supervisor: one, secondsUntil } = await connected(() => 0.99);
    network.state = 'refusing';
    network.breakAll();
    await clock.pass(30_000);
    network.state = 'up';
    one.nudge('network');
    expect(await secondsUntil('live')).toBeLessThan(0.5);
  });

  test('an unreachable server is tried less often, but at least every 15 s', async () => {
    const { clock, network } = await connected(() => 0.99);
    network.state = 'refusing';
    network.breakAll();
    const before = network.attempts;
    await clock.pass(60_000);
    expect(network.attempts - before).toBeGreaterThan(10);
    expect(network.attempts - before).toBeLessThan(20);
  });

  test('a server that is unreachable for long is tried every 15 s', async () => {
    const { clock, network } = await connected(() => 0.99);
    network.state = 'refusing';
    network.breakAll();
    await clock.pass(90_000);
    const before = network.attempts;
    await clock.pass(600_000);
    expect(network.attempts - before).toBeLessThanOrEqual(41);
  });
});

describe('ws.blackhole', () => {
  test('a dead link is noticed within 16 s', async () => {
    const { clock, network, secondsUntil } = await connected();
    await clock.pass(7_000);
    network.state = 'swallowing';
    expect(await secondsUntil('waiting')).toBeLessThanOrEqual(16);
  });

  test('a return to the page finds a dead link within 3 s', async () => {
    const { network, supervisor: one, secondsUntil } = await connected();
    network.state = 'swallowing';
    one.nudge('attention');
    expect(await secondsUntil('waiting')).toBeLessThanOrEqual(3.1);
  });

  test('a return to the page restarts an open attempt', async () => {
    const { clock, network, supervisor: one, secondsUntil } = await connected(() => 0);
    network.state = 'swallowing';
    network.breakAll();
    await clock.pass(1_000);
    network.state = 'up';
    one.nudge('attention');
    expect(await secondsUntil('live')).toBeLessThan(0.5);
  });

  test('a return to the page does not change a live link', async () => {
    const { clock, statuses, supervisor: one } = await connected();
    one.nudge('attention');
    await clock.pass(8_000);
    expect(statuses).toEqual(['connecting', 'live']);
  });

  test('an attempt without progress is replaced', async () => {
    const { clock, network, secondsUntil } = await connected();
    network.state = 'swallowing';
    network.breakAll();
    await clock.pass(30_000);
    network.state = 'up';
    expect(await secondsUntil('live')).toBeLessThanOrEqual(13);
  });
});

describe('a subscription', () => {
  test('that is refused is retried, at most every 30 s', async () => {
    const { clock, network, secondsUntil } = await connected(() => 0.99);
    network.joining = 'refused';
    network.breakAll();
    await clock.pass(120_000);
    const before = network.attempts;
    await clock.pass(60_000);
    expect(network.attempts - before).toBeGreaterThanOrEqual(1);
    expect(network.attempts - before).toBeLessThanOrEqual(3);
    network.joining = 'accepted';
    expect(await secondsUntil('live')).toBeLessThanOrEqual(31);
  });

  test('without a response is abandoned after 12 s', async () => {
    const { network, secondsUntil } = await connected();
    network.joining = 'unanswered';
    network.breakAll();
    await secondsUntil('connecting');
    expect(await secondsUntil('waiting')).toBeLessThanOrEqual(12.5);
  });
});

describe('a permanently refused socket', () => {
  const hour = 3_600_000;

  async function refused() {
    const opened = await connected(() => 0.99);
    opened.network.state = 'forbidding';
    opened.network.breakAll();
    await opened.clock.pass(hour);
    return opened;
  }

  test('is tried less often, finally every ten minutes', async () => {
    const { clock, network } = await refused();
    expect(network.attempts).toBeLessThan(20);
    const before = network.attempts;
    await clock.pass(hour);
    expect(network.attempts - before).toBe(6);
  });

  test('is tried immediately on another network, but not on a return to the page', async () => {
    const { clock, network, statuses, supervisor: one, secondsUntil } = await refused();
    network.state = 'up';
    one.nudge('attention');
    await clock.pass(1_000);
    expect(statuses.at(-1)).toBe('waiting');
    one.nudge('network');
    expect(await secondsUntil('live')).toBeLessThan(0.5);
  });

  test('reconnects, and then has the usual attempts', async () => {
    const { clock, network, secondsUntil } = await refused();
    network.state = 'up';
    expect(await secondsUntil('live', 601)).toBeLessThanOrEqual(600);
    await clock.pass(20_000);
    network.state = 'refusing';
    network.breakAll();
    await clock.pass(60_000);
    network.state = 'up';
    expect(await secondsUntil('live')).toBeLessThanOrEqual(5.2);
  });

  test('that was refused once between two failures has no long pause', async () => {
    const { clock, network, secondsUntil } = await connected(() => 0.99);
    network.state = 'refusing';
    network.breakAll();
    await clock.pass(hour);
    network.state = 'forbidding';
    await clock.pass(5_000);
    network.state = 'up';
    expect(await secondsUntil('live')).toBeLessThanOrEqual(15.2);
  });
});

describe('the right to listen', () => {
  test('is checked every five minutes while the socket is open', async () => {
    const { clock, network } = await connected(() => 0.99);
    await clock.pass(6 * 60_000);
    expect(network.reauthorizations).toBe(1);
    await clock.pass(60 * 60_000);
    expect(network.reauthorizations).toBe(13);
    network.state = 'refusing';
    network.breakAll();
    await clock.pass(60 * 60_000);
    expect(network.reauthorizations).toBe(13);
  });

  test('is checked immediately when a session of the user has ended', async () => {
    const { clock, network, supervisor: one } = await connected();
    one.sessionEnded();
    await clock.pass(1_000);
    expect(network.reauthorizations).toBe(1);
    one.stop();
    one.sessionEnded();
    await clock.pass(1_000);
    expect(network.reauthorizations).toBe(1);
  });
});

test('stopping is final', async () => {
  const { clock, network, statuses, supervisor: one } = await connected();
  one.stop();
  const { attempts } = network;
  one.nudge('attention');
  await clock.pass(60_000);
  expect(statuses.at(-1)).toBe('off');
  expect(network.attempts).toBe(attempts);
});

test('the state is live only with a live link, and at most 20 s after the last failure', async () => {
  const trouble = fc.record({
    weather: fc.constantFrom('up' as const, 'refusing' as const, 'swallowing' as const),
    breaks: fc.boolean(),
    nudges: fc.boolean(),
    forMs: fc.integer({ min: 0, max: 40_000 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(trouble, { maxLength: 8 }), fc.integer(), async (troubles, seed) => {
      const { clock, network, statuses, supervisor: one } = await connected(seeded(Math.abs(seed)));
      for (const { weather, breaks, nudges, forMs } of troubles) {
        network.state = weather;
        if (breaks) network.breakAll();
        if (nudges) one.nudge('attention');
        await clock.pass(forMs);
        if (weather !== 'up' && forMs > 16_000) expect(statuses.at(-1)).not.toBe('live');
      }
      network.state = 'up';
      await clock.pass(20_000);
      expect(statuses.at(-1)).toBe('live');
      one.stop();
    }),
    { numRuns: 150 },
  );
});
