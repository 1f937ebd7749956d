import { retryPolicy, STORAGE_KEYS, session, store } from '@liaozhai/shared/runtime';
import {
  act,
  memberDto,
  offline,
  onTestEnd,
  openRemote,
  type RecordedRequest,
  screen,
  waitFor,
  within,
} from '@liaozhai/shared/testing';
import { afterEach, describe, expect, rs, test } from '@rstest/core';
import { orderKeys } from '../api';
import { orderDto, ordersDto } from '../fixtures';
import remote from '../remote';

const path = '/my/wallet/recharge';
const user = { id: 'u-7', balance: 38 };
const me = { 'GET /v1/user': { data: { id: 'u-7', name: '宁采臣', username: 'a1', balance: 38 } } };
const rechargePackages = [
  { id: 'small', points: 60, priceCents: 600 },
  { id: 'large', points: 1180, priceCents: 9800, label: '最划算' },
];

const toldTexts = () => store.getState().toasts.map(({ text }) => text);

/** Adds the configuration to the page. */
function configure(config: unknown) {
  const element = document.createElement('script');
  element.type = 'application/json';
  element.id = 'liaozhai-config';
  element.textContent = JSON.stringify(config);
  document.body.append(element);
}

afterEach(() => document.getElementById('liaozhai-config')?.remove());

test('without a provider it says that nothing can be paid, and how to get points', async () => {
  configure({ rechargePackages });
  openRemote(remote, me, { path, user });
  expect(await screen.findByRole('heading', { name: '充值还没有开通' })).toBeTruthy();
  expect(screen.getByText('38')).toBeTruthy();
  expect(screen.getByText('1,180 点')).toBeTruthy();
  expect(screen.getByText('¥98.00')).toBeTruthy();
  expect(screen.getByRole('link', { name: /每日签到/ }).getAttribute('href')).toBe('/my');
  expect(screen.queryByRole('link', { name: /支付/ })).toBeNull();
  expect(screen.queryByRole('radio')).toBeNull();
});

test('a device that has not learned what the server can do asks before it says anything', async () => {
  configure({ rechargePackages });
  let tell = (_names: { data: string[] }) => {};
  const told = new Promise<{ data: string[] }>((resolve) => {
    tell = resolve;
  });
  openRemote(remote, { ...me, 'GET /v1/capabilities': () => told, 'GET /v1/orders': ordersDto() }, { path, user });
  expect(await screen.findByText('38')).toBeTruthy();
  expect(screen.queryByText('充值还没有开通')).toBeNull();
  await act(async () => tell({ data: ['orders'] }));
  expect(await screen.findByRole('button', { name: /去付款/ })).toBeTruthy();
  expect(screen.queryByText('充值还没有开通')).toBeNull();
});

test('a server that fails to say what it can do is asked again, and not called closed', async () => {
  configure({ rechargePackages });
  let calls = 0;
  const learn = () => {
    calls += 1;
    return calls > 3 ? { data: ['orders'] } : { status: 500, body: {} };
  };
  const soon = (_milliseconds: number, run: () => void) => {
    const timer = setTimeout(run);
    return () => clearTimeout(timer);
  };
  retryPolicy.reset({ now: () => performance.now(), after: soon });
  onTestEnd(() => retryPolicy.reset());
  const answers = { ...me, 'GET /v1/capabilities': learn, 'GET /v1/orders': ordersDto() };
  openRemote(remote, answers, { path, user });
  expect(await screen.findByRole('button', { name: /去付款/ })).toBeTruthy();
  expect(screen.queryByText('充值还没有开通')).toBeNull();
});

test('with a provider the chosen package leads to its checkout', async () => {
  configure({ rechargePackages, paymentProvider: { name: '某某支付', checkoutUrl: 'https://pay.example/start' } });
  const { user: person } = openRemote(remote, me, { path, user });
  expect(await screen.findByRole('link', { name: '去支付 ¥6.00' })).toBeTruthy();
  await person.click(screen.getByRole('radio', { name: /1,180 点/ }));
  const link = new URL(screen.getByRole('link', { name: '去支付 ¥98.00' }).getAttribute('href') ?? '');
  expect(link.origin).toBe('https://pay.example');
  expect(link.searchParams.get('package')).toBe('large');
  expect(link.searchParams.get('user')).toBe('u-7');
  expect(link.searchParams.get('return')).toBe(`${location.origin}${path}`);
});

/** What a careless configuration or server sells; the first alone can be bought. */
const carelessPackages = [
  { id: 'p1', points: 60, priceCents: 600 },
  { id: 'p1', points: 300, priceCents: 3000 },
  { id: 'p2', points: 60, priceCents: -100 },
  { id: 'p3', points: 60, priceCents: 0 },
  { id: 'p4', points: 0, priceCents: 100 },
  { id: 'p5', points: -60, priceCents: 100 },
  { id: 'p6', points: 60, priceCents: 1e21 },
  { id: 'p7', points: 1e21, priceCents: 600 },
  { id: 'p8', points: 60, priceCents: 600.5 },
  { id: 'p9', points: 60.555, priceCents: 600 },
];

test.each([
  ['where the server keeps orders', ['orders'] as const],
  ['at a provider', []],
])('a package without points or a price, or under a used id, is not offered %s', async (_, capabilities) => {
  const provider = { name: '某某支付', checkoutUrl: 'https://pay.example/start' };
  configure({ rechargePackages: carelessPackages, paymentProvider: provider });
  const packages = carelessPackages.map(({ priceCents, ...offer }) => ({ ...offer, price_cents: priceCents }));
  const list = { data: [], meta: { packages } };
  openRemote(remote, { ...me, 'GET /v1/orders': list }, { path, user, capabilities });
  const offers = await screen.findAllByRole('radio');
  expect(offers.map((offer) => offer.closest('label')?.textContent)).toEqual(['60 点¥6.00']);
});

test('an address that is no place to pay reads as not open', async () => {
  configure({ rechargePackages, paymentProvider: { name: '某某支付', checkoutUrl: 'javascript:alert(1)' } });
  openRemote(remote, me, { path, user });
  expect(await screen.findByRole('heading', { name: '充值还没有开通' })).toBeTruthy();
});

test('a reader who comes back from paying sees what arrived', async () => {
  configure({ rechargePackages });
  let balance = 38;
  openRemote(remote, { 'GET /v1/user': () => ({ data: { ...me['GET /v1/user'].data, balance } }) }, { path, user });
  await screen.findByText('38');
  balance = 98;
  document.dispatchEvent(new Event('visibilitychange'));
  expect(await screen.findByText('98')).toBeTruthy();
});

test('the key of an order belongs to the reader who tapped, also after another one of this tab', () => {
  const keyOf = (id: string) => {
    session.userReceived(memberDto({ id }));
    return orderKeys.of('p60').clientId;
  };
  const key = keyOf('u-1');
  expect(keyOf('u-1')).toBe(key);
  expect(keyOf('u-2')).not.toBe(key);
});

test.each([
  ['of an older build', 'p60', { p60: 'key-1' }],
  ['edited by hand', 'p60', { p60: { clientId: 7, isAnswered: true } }],
  ['of a package with an odd id', 'constructor', {}],
])('an order always has a key: stored %s', (_, packageId, stored) => {
  session.userReceived(memberDto({ id: 'u-1' }));
  sessionStorage.setItem(STORAGE_KEYS.orders, JSON.stringify({ owner: 'u-1', orders: stored }));
  const { clientId } = orderKeys.of(packageId);
  expect(clientId).toMatch(/^[\da-f-]{36}$/);
  expect(orderKeys.of(packageId).clientId).toBe(clientId);
});

describe('where the server keeps orders', () => {
  const orders = { path, user, capabilities: ['orders'] as const };

  /** Records the address of a navigation instead of leaving the page. */
  function leaving() {
    const assign = rs.spyOn(location, 'assign').mockImplementation(() => {});
    onTestEnd(() => assign.mockRestore());
    return () => assign.mock.calls.map(([address]) => String(address));
  }

  const keysOf = (requests: RecordedRequest[]) =>
    requests.flatMap(({ method, body }) => (method === 'POST' ? [(body as { client_id: string }).client_id] : []));

  const at = Date.parse('2026-11-22T04:00:00Z');
  const movedClock = (aheadMs: number) => {
    rs.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now: at + aheadMs, shouldAdvanceTime: true });
    onTestEnd(() => rs.useRealTimers());
  };

  test('the chosen package is ordered at the server’s price, and its checkout opened', async () => {
    configure({ rechargePackages });
    const left = leaving();
    const order = orderDto({ package_id: 'p320', points: 320, price_cents: 3000 });
    const { user: person, requests } = openRemote(
      remote,
      { ...me, 'GET /v1/orders': ordersDto(), 'POST /v1/orders': { status: 201, body: { data: order } } },
      orders,
    );
    await person.click(await screen.findByRole('radio', { name: /320 点/ }));
    expect(screen.queryByText('1,180 点')).toBeNull();
    await person.click(screen.getByRole('button', { name: '去付款 ¥30.00' }));
    await waitFor(() => expect(left()).toEqual(['https://pay.example/checkout/1']));
    const placed = requests.find(({ method }) => method === 'POST');
    expect(placed?.body).toEqual({ package_id: 'p320', client_id: placed?.headers['idempotency-key'] });
  });

  /** Taps 去付款. The order is answered by `place`. */
  async function placeSlowly(order = orderDto()) {
    const left = leaving();
    let answer = (_order: object) => {};
    const { user: person } = openRemote(
      remote,
      {
        ...me,
        'GET /v1/orders': ordersDto(),
        'POST /v1/orders': () => new Promise<object>((resolve) => (answer = resolve)),
      },
      orders,
    );
    await person.click(await screen.findByRole('button', { name: '去付款 ¥6.00' }));
    return { person, left, place: () => act(async () => answer({ data: order })) };
  }

  test('no other package can be chosen while the order is being placed', async () => {
    const { person, left, place } = await placeSlowly();
    const otherPackage = screen.getByRole('radio', { name: /320 点/ });
    await person.click(otherPackage);
    expect(otherPackage).toHaveProperty('checked', false);
    expect(screen.getByRole('button', { name: '去付款 ¥6.00' })).toBeTruthy();
    await place();
    await waitFor(() => expect(left()).toHaveLength(1));
    await person.click(otherPackage);
    expect(otherPackage).toHaveProperty('checked', true);
  });

  test('an order that is placed late leads nobody away from another screen', async () => {
    const { person, left, place } = await placeSlowly();
    await person.click(screen.getByRole('button', { name: '返回' }));
    await place();
    await waitFor(() => expect(toldTexts()).toEqual(['订单已经下好，在「充值」里付款']));
    expect([location.pathname, left()]).toEqual(['/my', []]);
  });

  test('a second tap and a lost answer mean the same order; a settled one gives way to a new order', async () => {
    const left = leaving();
    const answers: unknown[] = [
      offline(),
      { data: orderDto() },
      { data: orderDto({ status: 'credited', checkout_url: null }) },
      { data: orderDto({ id: 'second', checkout_url: 'https://pay.example/checkout/2' }) },
    ];
    const { user: person, requests } = openRemote(
      remote,
      {
        ...me,
        'GET /v1/orders': ordersDto(),
        'POST /v1/orders': () => {
          const answer = answers.shift();
          if (answer instanceof Error) throw answer;
          return answer;
        },
      },
      orders,
    );
    const pay = await screen.findByRole('button', { name: '去付款 ¥6.00' });
    await person.click(pay);
    expect(left()).toEqual([]);
    await person.click(pay);
    await waitFor(() => expect(left()).toHaveLength(1));
    await person.click(pay);
    await waitFor(() => expect(left()).toEqual(['https://pay.example/checkout/1', 'https://pay.example/checkout/2']));
    const [first, again, third, fresh] = keysOf(requests);
    expect([again, third]).toEqual([first, first]);
    expect(fresh).not.toBe(first);
  });

  test.each([
    ['credited', '充值成功'],
    ['paid', '已付款，正在到账'],
    ['failed', '付款没有成功'],
  ])('an order that is %s immediately is placed once and shown, also after a lost answer', async (status, heading) => {
    const left = leaving();
    const settled = { data: orderDto({ status, points: 70, price_cents: 700 }) };
    let isAnswerLost = true;
    const { user: person, requests } = openRemote(
      remote,
      {
        ...me,
        'GET /v1/orders': ordersDto(),
        'GET /v1/orders/2026112212345678': settled,
        'POST /v1/orders': () => {
          if (isAnswerLost) throw offline();
          return settled;
        },
      },
      orders,
    );
    await person.click(await screen.findByRole('button', { name: '去付款 ¥6.00' }));
    await waitFor(() => expect(toldTexts()).toHaveLength(1));
    isAnswerLost = false;
    await person.click(screen.getByRole('button', { name: '去付款 ¥6.00' }));
    expect(await screen.findByRole('heading', { name: heading })).toBeTruthy();
    expect(new Set(keysOf(requests)).size).toBe(1);
    expect(left()).toEqual([]);
    expect(toldTexts()).not.toContain('价格有变，请看清楚再付款');
  });

  test('an order that is settled late is not called unpaid on another screen', async () => {
    const { person, place } = await placeSlowly(orderDto({ status: 'credited' }));
    await person.click(screen.getByRole('button', { name: '返回' }));
    await place();
    await waitFor(() => expect(toldTexts()).toEqual(['充值成功']));
  });

  test('an order whose status is not known is placed once', async () => {
    const left = leaving();
    const order = { data: { ...orderDto(), status: 'unpaid' } };
    const { user: person, requests } = openRemote(
      remote,
      { ...me, 'GET /v1/orders': ordersDto(), 'POST /v1/orders': order },
      orders,
    );
    await person.click(await screen.findByRole('button', { name: '去付款 ¥6.00' }));
    await waitFor(() => expect(left()).toEqual(['https://pay.example/checkout/1']));
    expect(keysOf(requests)).toHaveLength(1);
  });

  test.each([{ status: 204 }, {}, 'OK', { message: '已下单' }])(
    'an order that is only confirmed is looked for: %j',
    async (confirmation) => {
      const left = leaving();
      let placed: ReturnType<typeof orderDto>[] = [];
      const { user: person } = openRemote(
        remote,
        {
          ...me,
          'GET /v1/orders': () => ordersDto([...placed, orderDto({ client_id: 'another', checkout_url: null })]),
          'POST /v1/orders': ({ body }: RecordedRequest) => {
            placed = [orderDto({ id: 'new', client_id: (body as { client_id: string }).client_id })];
            return confirmation;
          },
        },
        orders,
      );
      await person.click(await screen.findByRole('button', { name: '去付款 ¥6.00' }));
      await waitFor(() => expect(left()).toEqual(['https://pay.example/checkout/1']));
      expect(toldTexts()).toEqual([]);
    },
  );

  test('an order at another price than was shown is shown before anything is paid', async () => {
    const left = leaving();
    const order = { data: orderDto({ price_cents: 700 }) };
    const { user: person } = openRemote(
      remote,
      {
        ...me,
        'GET /v1/orders': ordersDto(),
        'POST /v1/orders': order,
        'GET /v1/orders/2026112212345678': order,
      },
      orders,
    );
    await person.click(await screen.findByRole('button', { name: '去付款 ¥6.00' }));
    expect(await screen.findByText('¥7.00')).toBeTruthy();
    expect(screen.getByRole('link', { name: '去付款' }).getAttribute('href')).toBe('https://pay.example/checkout/1');
    expect(left()).toEqual([]);
  });

  test('an order that is still to be paid is offered again, one that is settled is not', async () => {
    movedClock(0);
    const list = ordersDto([
      orderDto({ expires_at: '2026-11-22T04:30:00Z' }),
      orderDto({ id: 'o-2', status: 'expired' }),
      orderDto({ id: 'o-3', status: 'credited' }),
      orderDto({ id: 'o-3', status: 'pending' }),
    ]);
    openRemote(remote, { ...me, 'GET /v1/orders': list }, orders);
    const open = await screen.findByRole('region', { name: '还没付款的订单' });
    const links = within(open).getAllByRole('link');
    expect(links.map((link) => link.getAttribute('href'))).toEqual(['/my/wallet/orders/2026112212345678']);
    expect(links[0]?.textContent).toContain('请在 11月22日 12:30 前付款');
  });

  test.each([
    ['right', 0],
    ['an hour ahead', 3_600_000],
    ['a day behind', -86_400_000],
  ])('an order that runs out while the page is open is no longer offered: clock %s', async (_, aheadMs) => {
    movedClock(aheadMs);
    const serverTime = () => ({ date: new Date(Date.now() - aheadMs).toUTCString() });
    const list = ordersDto([orderDto({ expires_at: '2026-11-22T04:30:00Z' })]);
    const answer = () => ({ status: 200, body: list, headers: serverTime() });
    openRemote(remote, { ...me, 'GET /v1/orders': answer }, orders);
    await screen.findByRole('region', { name: '还没付款的订单' });
    await act(() => rs.advanceTimersByTimeAsync(29 * 60_000));
    expect(screen.getByRole('region', { name: '还没付款的订单' })).toBeTruthy();
    await act(() => rs.advanceTimersByTimeAsync(60_000));
    expect(screen.queryByRole('region', { name: '还没付款的订单' })).toBeNull();
  });

  test('an order that ends after a date that no timer reaches stays offered', async () => {
    const list = ordersDto([orderDto({ expires_at: '9999-12-31T23:59:59Z' })]);
    const { requests } = openRemote(remote, { ...me, 'GET /v1/orders': list }, orders);
    expect(await screen.findByRole('region', { name: '还没付款的订单' })).toBeTruthy();
    expect(requests.filter(({ url }) => url === '/v1/orders')).toHaveLength(1);
  });

  test('an order that ran out gives way to a new one, although the server repeats its first answer', async () => {
    const left = leaving();
    const answers = [
      { data: orderDto({ expires_at: '2026-11-22T04:30:00Z' }) },
      { data: orderDto({ expires_at: '2026-11-22T04:30:00Z' }) },
      { data: orderDto({ id: 'second', checkout_url: 'https://pay.example/checkout/2' }) },
    ];
    movedClock(0);
    const { user: person } = openRemote(
      remote,
      { ...me, 'GET /v1/orders': ordersDto(), 'POST /v1/orders': () => answers.shift() },
      orders,
    );
    const pay = await screen.findByRole('button', { name: '去付款 ¥6.00' });
    await person.click(pay);
    await waitFor(() => expect(left()).toHaveLength(1));
    await act(() => rs.advanceTimersByTimeAsync(31 * 60_000));
    await person.click(pay);
    await waitFor(() => expect(left()).toEqual(['https://pay.example/checkout/1', 'https://pay.example/checkout/2']));
  });

  test.each([
    [0, 600],
    [-60, 600],
    ['六十', 600],
    [1e21, 600],
    [60.555, 600],
    [60, 1e21],
    [60, -600],
    [60, '六元'],
    [60, 600.5],
  ])(
    'an order of %j points for %j cents is shown, and not paid at the price of another',
    async (points, price_cents) => {
      const left = leaving();
      const order = { data: { ...orderDto(), points, price_cents } };
      const { user: person } = openRemote(
        remote,
        {
          ...me,
          'GET /v1/orders': { ...ordersDto(), data: [order.data] },
          'POST /v1/orders': order,
          'GET /v1/orders/2026112212345678': order,
        },
        orders,
      );
      const open = within(await screen.findByRole('region', { name: '还没付款的订单' })).getByRole('link');
      const shown = [points === 60 ? '60 点' : '充值订单', price_cents === 600 ? '¥6.00' : '¥—'];
      for (const text of shown) expect(within(open).getByText(text)).toBeTruthy();
      await person.click(screen.getByRole('button', { name: '去付款 ¥6.00' }));
      expect(await screen.findByRole('heading', { name: '等待付款' })).toBeTruthy();
      expect(left()).toEqual([]);
      expect(document.body.textContent).not.toMatch(/NaN|999,999|−60|-6\.00|(?<!\d)0 点/);
    },
  );

  test('an order that is paid elsewhere is no longer offered', async () => {
    let list = ordersDto([orderDto()]);
    const { live } = openRemote(remote, { ...me, 'GET /v1/orders': () => list }, orders);
    await screen.findByRole('region', { name: '还没付款的订单' });
    list = ordersDto([orderDto({ status: 'credited' })]);
    live.push('order.updated', { order: list.data[0] });
    await waitFor(() => expect(screen.queryByRole('region', { name: '还没付款的订单' })).toBeNull());
  });

  test('offline nothing can be ordered, and the page says why', async () => {
    openRemote(remote, { ...me, 'GET /v1/orders': ordersDto() }, orders);
    const pay = await screen.findByRole('button', { name: '去付款 ¥6.00' });
    rs.spyOn(navigator, 'onLine', 'get').mockReturnValue(false);
    onTestEnd(() => rs.restoreAllMocks());
    act(() => void window.dispatchEvent(new Event('offline')));
    expect(await screen.findByText('当前没有网络，联网后再付款')).toBeTruthy();
    expect((pay as HTMLButtonElement).disabled).toBe(true);
  });

  test('a refusal stands in the server’s words', async () => {
    const refused = { status: 403, body: { message: '未成年人模式下不能充值' } };
    const { user: person } = openRemote(
      remote,
      { ...me, 'GET /v1/orders': ordersDto(), 'POST /v1/orders': refused },
      orders,
    );
    await person.click(await screen.findByRole('button', { name: '去付款 ¥6.00' }));
    await waitFor(() => expect(toldTexts()).toEqual(['未成年人模式下不能充值']));
  });
});
