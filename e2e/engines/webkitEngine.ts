import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { Builder, Capabilities, Key, Origin, type WebDriver } from 'selenium-webdriver';
import { freePort } from '../product.ts';
import { type Engine, guard, type Look, size, timeZone } from './engine.ts';

// shadow and title bar buttons would make the window wider than a phone
const gtkStyle = `decoration { box-shadow: none; border: none; }
* { min-width: 0; min-height: 0; padding: 0; margin: 0; }`;

/** Starts programs that WebKit needs, with a temporary home. They always end with this process. */
function createSurroundings() {
  const home = mkdtempSync(join(tmpdir(), 'liaozhai-webkit-'));
  const children: ChildProcess[] = [];
  mkdirSync(join(home, 'gtk-3.0'));
  writeFileSync(join(home, 'gtk-3.0/gtk.css'), gtkStyle);
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    HOME: home,
    XDG_CONFIG_HOME: home,
    XDG_CACHE_HOME: home,
    XDG_DATA_HOME: home,
    XDG_RUNTIME_DIR: home,
    TZ: timeZone,
    LANG: 'C.UTF-8',
    // no desktop is running that could answer
    NO_AT_BRIDGE: '1',
    GSETTINGS_BACKEND: 'memory',
    GDK_BACKEND: 'x11',
    LIBGL_ALWAYS_SOFTWARE: '1',
  };
  const closed: Promise<void>[] = [];
  const start = (command: string, args: readonly string[]) => {
    const guarded = { ...env, GUARDED: command, GUARDED_STREAMS: '4' };
    const child = spawn(guard, args, { env: guarded, stdio: ['ignore', 'pipe', 'ignore', 'pipe'] });
    children.push(child);
    // its output closes only when its child processes have ended as well
    child.stdout?.resume();
    closed.push(new Promise((resolve) => child.once('close', () => resolve())));
    return child;
  };
  const end = async () => {
    for (const child of children) child.kill('SIGTERM');
    await Promise.all(closed);
    rmSync(home, { recursive: true, force: true });
  };
  return { env, start, end };
}

/** Resolves with a program's first line on a stream. Rejects if the program ends before. */
const firstLine = (child: ChildProcess, stream: Readable, name: string) =>
  new Promise<string>((resolve, reject) => {
    createInterface({ input: stream }).once('line', resolve);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${name} ended with code ${code} before it was ready`)));
  });

type Surroundings = ReturnType<typeof createSurroundings>;

/** Starts a display with a window manager, without which no element matches `:focus`. */
async function startDisplay({ env, start }: Surroundings) {
  const screen = ['-screen', '0', '1280x1024x24', '-nolisten', 'tcp', '-displayfd', '3'];
  const server = start('Xvfb', screen);
  env.DISPLAY = `:${await firstLine(server, server.stdio[3] as Readable, 'Xvfb')}`;
  const manager = start('openbox', ['--startup', 'echo ready']);
  await firstLine(manager, manager.stdout as Readable, 'openbox');
}

async function startDriver({ start }: Surroundings, path: string): Promise<string> {
  const port = await freePort();
  const child = start(path, [`--port=${port}`]);
  const url = `http://127.0.0.1:${port}`;
  const isUp = () =>
    fetch(`${url}/status`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isUp())) {
    if (child.exitCode !== null) throw new Error(`WebKitWebDriver ended with code ${child.exitCode}`);
    await setTimeout(50);
  }
  return url;
}

/** Resizes the window until the page is 390×844. The size of the window's borders is known only once it is open. */
async function fit(driver: WebDriver) {
  const rect = { ...size };
  for (let attempt = 0; attempt < 10; attempt += 1) {
    await driver.manage().window().setRect(rect);
    const [width, height] = await driver.executeScript<[number, number]>('return [innerWidth, innerHeight]');
    if (width === size.width && height === size.height) return;
    rect.width += size.width - width;
    rect.height += size.height - height;
  }
  throw new Error(`WebKit's page cannot be made ${size.width}×${size.height}`);
}

const keys = { Enter: Key.ENTER, Escape: Key.ESCAPE, Tab: Key.TAB, Backspace: Key.BACK_SPACE };

/** Wraps a script so that it returns a rejection as data, because WebDriver drops its message. */
const asCall = (script: unknown) => `const args = [...arguments];
const done = args.pop();
(async () => (${script})(...args))().then((value) => done({ value }), (error) => done({ error: String(error) }));`;

async function startBrowser(surroundings: Surroundings, driverPath: string, { colours, features = [] }: Look) {
  await startDisplay(surroundings);
  const url = await startDriver(surroundings, driverPath);
  const args = ['--automation'];
  if (colours === 'dark') args.push('--dark-mode');
  if (features.length > 0) args.push(`--features=${features.join(',')}`);
  const capabilities = new Capabilities({ browserName: 'MiniBrowser', 'webkitgtk:browserOptions': { args } });
  const driver = await new Builder().usingServer(url).withCapabilities(capabilities).build();
  await fit(driver);
  return driver;
}

/** Drives WebKitGTK's MiniBrowser by W3C WebDriver. */
export async function launchWebKitEngine(driverPath: string, look: Look): Promise<Engine> {
  const surroundings = createSurroundings();
  const driver = await startBrowser(surroundings, driverPath, look).catch(async (error) => {
    await surroundings.end();
    throw error;
  });
  return {
    name: 'webkit',
    open: (address) => driver.get(address),
    reload: () => driver.navigate().refresh(),
    async run(script, ...args) {
      const { value, error } = await driver.executeAsyncScript<{ value: never; error?: string }>(
        asCall(script),
        ...args,
      );
      if (error) throw new Error(error);
      // JSON has no undefined
      return value ?? (undefined as never);
    },
    inject: (source) => driver.executeScript(source),
    tap: (x, y) =>
      driver
        .actions()
        .move({ x: Math.round(x), y: Math.round(y), origin: Origin.VIEWPORT })
        .press()
        .release()
        .perform(),
    type: (text) => driver.actions().sendKeys(text).perform(),
    press: (key) => driver.actions().sendKeys(keys[key]).perform(),
    picture: async () => Buffer.from(await driver.takeScreenshot(), 'base64'),
    async close() {
      await driver.quit().catch(() => undefined);
      await surroundings.end();
    },
  };
}
