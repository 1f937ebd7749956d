import type { BrowserContext, CDPSession } from 'playwright';

export interface Conditions {
  latencyMs: number;
  /** in each direction; -1 = no limit */
  bytesPerSecond: number;
  cpuSlowdown: number;
}

/** Throttles the page's network and CPU from now on. */
export async function emulate(cdp: CDPSession, { latencyMs, bytesPerSecond, cpuSlowdown }: Conditions) {
  const [downloadThroughput, uploadThroughput] = [bytesPerSecond, bytesPerSecond];
  await cdp.send('Network.enable');
  await cdp.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: latencyMs,
    downloadThroughput,
    uploadThroughput,
  });
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: cpuSlowdown });
}

/** Signs in as a device that knows its account. Returns a function that gives the headers for writing API requests. */
export async function signIn(
  context: BrowserContext,
  origin: string,
  account: { login: string; password: string },
): Promise<() => Promise<Record<string, string>>> {
  await context.request.get(`${origin}/sanctum/csrf-cookie`);
  const tokenHeaders = async () => {
    const token = (await context.cookies()).find(({ name }) => name === 'XSRF-TOKEN')?.value ?? '';
    return { Accept: 'application/json', 'X-XSRF-TOKEN': decodeURIComponent(token), Origin: origin };
  };
  const answer = await context.request.post(`${origin}/api/v1/login`, {
    data: account,
    headers: await tokenHeaders(),
  });
  const { user } = (await answer.json()) as { user: { id: string } };
  const page = await context.newPage();
  await page.goto(`${origin}/manifest.webmanifest`);
  await page.evaluate((stored) => {
    localStorage.setItem('user-store', JSON.stringify(stored));
    localStorage.setItem('liaozhai-owner', stored.id);
  }, user);
  await page.close();
  return tokenHeaders;
}
