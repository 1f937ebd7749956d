import type { Browser } from 'playwright';
import { launchChromium } from '../needs.ts';
import { type RunningProduct, type RunningSite, startProduct } from '../product.ts';
import { seededAccount } from '../seeds.ts';
import { signIn } from './device.ts';
import { coldFigures, type Figure, returnFigures, tabFigures } from './loadFigures.ts';
import { type Member, measurePage, measureReturn, measureTab, time } from './measurePage.ts';
import { median, verdict as met, pairedRatio, selectParts, startRun, table } from './report.ts';
import { startStockSite } from './stockSite.ts';

const pairs = Number(process.env.BENCH_PAIRS ?? 5);

/** A screen, and an element that appears with its content. */
interface Screen {
  path: string;
  content: string;
}

const explore: Screen = { path: '/explore', content: 'a[href^="/story/"]' };
/** Screens that a link leads to. A guest sees an invitation on 聊过. */
const linkedScreens: Screen[] = [
  { path: '/story/nie-xiaoqian', content: 'img[class*="image_"]' },
  { path: '/conversations', content: '#root svg[class*="drawing_"]' },
];

/** 聊过 of a member with conversations about these stories. */
const conversationsScreen: Screen = { path: '/conversations', content: 'main a[href$="?chat=1"]' };
const talkedIn = ['nie-xiaoqian', 'hua-pi', 'ying-ning', 'cu-zhi', 'laoshan-daoshi', 'lu-pan'];

const otherTabs = ['/conversations', '/my'];

const contestants = ['ours', 'monolith', 'stock'] as const;

type Contestant = (typeof contestants)[number];
type Measurements<Each> = Record<Contestant, Each[]>;

/** Stock Module Federation uses the backend of ours. */
interface Products extends Record<Contestant, RunningSite> {
  ours: RunningProduct;
  monolith: RunningProduct;
}

async function measureInterleaved<Each>(
  products: Products,
  measure: (browser: Browser, origin: string, name: Contestant) => Promise<Each>,
): Promise<Measurements<Each>> {
  const browser = await launchChromium();
  const measurements: Measurements<Each> = { ours: [], monolith: [], stock: [] };
  for (let pair = 0; pair < pairs; pair += 1) {
    // A B C, C B A, so that a machine that warms up or slows down favours none
    const order = pair % 2 ? [...contestants].reverse() : contestants;
    for (const name of order) measurements[name].push(await measure(browser, products[name].origin, name));
  }
  await browser.close();
  return measurements;
}

function verdict({ goal, digits = 0 }: Omit<Figure, 'of'>, values: Record<Contestant, number[]>): [string, string] {
  if (!goal) return ['–', ''];
  const figure = goal.against
    ? median(values.ours.map((value, pair) => goal.against?.(value, values.monolith[pair] ?? Number.NaN) ?? value))
    : median(values.ours);
  const shown = goal.against ? ` (${figure.toFixed(2)})` : '';
  return [`${goal.text}${shown}`, met(Number(figure.toFixed(goal.against ? 2 : digits)) <= goal.atMost)];
}

function print<Each>(title: string, figures: Figure<Each>[], visits: Record<Contestant, Each[]>) {
  const rows = figures.map((figure) => {
    const of = (name: Contestant) => visits[name].map(figure.of);
    const values = { ours: of('ours'), monolith: of('monolith'), stock: of('stock') };
    const format = (list: number[]) => (Number.isNaN(median(list)) ? '–' : median(list).toFixed(figure.digits ?? 0));
    const ratio = (other: number[]) => (other.every((value) => value > 0) ? pairedRatio(values.ours, other) : '–');
    const medians = contestants.map((name) => format(values[name]));
    return [figure.label, ...medians, ratio(values.monolith), ratio(values.stock), ...verdict(figure, values)];
  });
  const head = ['ours', 'monolith', 'stock', 'ours/monolith (min–max)', 'ours/stock', 'goal', ''];
  console.log(`\n${table([title, ...head], rows)}`);
  if (rows.some((row) => row.at(-1) === '**missed**')) process.exitCode = 1;
}

const line = `T: ${time.latencyMs} ms, 1.44 Mbit/s, CPU ÷${time.cpuSlowdown}; median of ${pairs}`;

const measureScreens = (screens: Screen[]) => async (products: Products) => {
  for (const { path, content } of screens) {
    const visits = await measureInterleaved(products, (browser, origin) =>
      measurePage(browser, origin + path, content),
    );
    print(`${path}, ${line}`, coldFigures, visits);
  }
};

/** Signs a member with conversations in at each of the three, and returns the devices. */
async function signInEverywhere({ ours, monolith, stock }: Products): Promise<Record<Contestant, Member>> {
  const browser = await launchChromium();
  const deviceOf = async ({ origin, data }: RunningProduct, storageOrigin = origin): Promise<Member> => {
    const account = await seededAccount({ story: talkedIn, messages: 6 }, data);
    const context = await browser.newContext();
    await signIn(context, origin, account);
    const { cookies, origins } = await context.storageState();
    await context.close();
    // cookies are shared by all ports of a host; page storage is per port
    return { cookies, origins: origins.map((storage) => ({ ...storage, origin: storageOrigin })) };
  };
  const devices = { ours: await deviceOf(ours), monolith: await deviceOf(monolith) };
  const allDevices = { ...devices, stock: await deviceOf(ours, stock.origin) };
  await browser.close();
  return allDevices;
}

/** Measures 聊过 with its rows: the first visit that runs the most script by far. */
async function measureMembers(products: Products) {
  const devices = await signInEverywhere(products);
  const visits = await measureInterleaved(products, (browser, origin, name) =>
    measurePage(browser, `${origin}${conversationsScreen.path}`, conversationsScreen.content, devices[name]),
  );
  print(`${conversationsScreen.path} of a member, ${line}`, coldFigures, visits);
}

/** Measures repeated visits. Only ours has a service worker. */
async function measureReturns(products: Products) {
  for (const { path, content } of [explore, ...linkedScreens]) {
    const visits = await measureInterleaved(products, (browser, origin) =>
      measureReturn(browser, `${origin}${path}`, content),
    );
    print(`${path} visited again over a slow link, ${line}`, returnFigures, visits);
  }
}

async function measureTabs(products: Products) {
  for (const path of otherTabs) {
    const taps = await measureInterleaved(products, (browser, origin) => measureTab(browser, origin, path));
    print(`${path} tapped as soon as the app is ready, ${line}`, tabFigures, taps);
  }
}

const parts: Record<string, (products: Products) => Promise<void>> = {
  first: measureScreens([explore]),
  screens: measureScreens(linkedScreens),
  members: measureMembers,
  returns: measureReturns,
  tabs: measureTabs,
};

/**
 * Compares the first screen and the first visit to a second tab: federated, as one bundle, and as stock Module Federation. All
 * are built from the same sources and interleaved in one run. Arguments select parts; default: all.
 */
export async function run() {
  const selectedParts = selectParts(parts);
  const monolith = await startProduct({ LIAOZHAI_MONOLITH: '1' });
  const ours = await startProduct();
  const stock = await startStockSite(ours.origin);
  const products = { ours, monolith, stock };
  const runLine = startRun();
  try {
    for (const [, measure] of selectedParts) await measure(products);
    console.log(runLine());
  } finally {
    await Promise.all([ours.stop(), monolith.stop(), stock.stop()]);
  }
}
