import { afterEach, expect, rs, test } from '@rstest/core';
import { act, fireEvent, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import * as refresh from 'lucide-react/icons/refresh-cw';
import createIcon from '../build/createIcon.js';
import { Avatar } from './Avatar';
import { Button, IconButton } from './Button';
import { ListRow } from './Card';
import { Badge, Chip } from './Chip';
import { Cover } from './Cover';
import { useCountdown } from './clock';
import { SwipeRow } from './SwipeRow';
import { TopBar } from './TopBar';

afterEach(() => void rs.useRealTimers());

test('a loading button keeps its name, says it is busy and cannot be pressed', async () => {
  let presses = 0;
  render(
    <Button loading onClick={() => (presses += 1)}>
      保存
    </Button>,
  );
  const button = screen.getByRole('button', { name: '保存' });
  await userEvent.click(button);
  expect([presses, button.getAttribute('aria-busy')]).toEqual([0, 'true']);
});

test('buttons, rows and icon buttons can be links', () => {
  render(
    <>
      <Button asLink={<a href="/explore">_</a>}>去发现</Button>
      <ListRow title="客服中心" asLink={<a href="/my/support">_</a>} />
      <IconButton label="设置" icon={<i />} asLink={<a href="/my">_</a>} />
    </>,
  );
  const target = (name: string) => screen.getByRole('link', { name }).getAttribute('href');
  expect([target('去发现'), target('客服中心'), target('设置')]).toEqual(['/explore', '/my/support', '/my']);
});

test('a chip states whether it is selected', () => {
  render(
    <>
      <Chip selected>志怪</Chip>
      <Chip>灵感</Chip>
    </>,
  );
  expect(screen.getByRole('button', { name: '志怪', pressed: true })).toBeTruthy();
  expect(screen.getByRole('button', { name: '灵感' }).getAttribute('aria-pressed')).toBeNull();
});

test('a row without an action is not a button', () => {
  render(<ListRow title="邀请码" value="LZ8K" />);
  expect(screen.queryByRole('button')).toBeNull();
});

test('an unread badge is announced, stops at 99+ and disappears at zero', () => {
  const { rerender } = render(<Badge count={120} label="120 条未读" />);
  expect(screen.getByRole('img', { name: '120 条未读' }).textContent).toBe('99+');
  rerender(<Badge count={0} label="没有未读" />);
  expect(screen.queryByRole('img')).toBeNull();
});

test('the first character of the name replaces a portrait that does not load', () => {
  render(<Avatar name="𠮷先生" src="/gone.png" />);
  fireEvent.error(screen.getByRole('img', { name: '𠮷先生' }));
  expect(screen.getByRole('img', { name: '𠮷先生' }).textContent).toBe('𠮷');
});

test('a cover that does not load shows its title', () => {
  render(<Cover title="画皮" src="/gone.jpg" color="#33413c" />);
  fireEvent.error(screen.getByRole('img', { name: '画皮' }));
  expect(screen.getByText('画皮')).toBeTruthy();
});

test('the hidden action of a swipe row cannot be reached by keyboard', () => {
  render(
    <SwipeRow actionLabel="删除" onAction={() => undefined}>
      画皮
    </SwipeRow>,
  );
  expect(screen.getByText('删除').hasAttribute('inert')).toBe(true);
});

test('the top bar names the screen and leads back', async () => {
  let went = 0;
  render(<TopBar title="个人资料" onBack={() => (went += 1)} />);
  expect(screen.getByRole('heading', { name: '个人资料', level: 1 })).toBeTruthy();
  await userEvent.click(screen.getByRole('button', { name: '返回' }));
  expect(went).toBe(1);
});

test('a cover without a colour has a stable colour from its title', () => {
  const places = [<Cover key="a" title="画皮" decorative />, <Cover key="b" title="画皮" decorative />];
  const { container } = render([...places, <Cover key="c" title="婴宁" decorative />]);
  const colors = [...container.children].map((place) => (place as HTMLElement).style.getPropertyValue('--cover-color'));
  expect(colors[0]).toMatch(/^hsl/);
  expect(colors[1]).toBe(colors[0]);
  expect(colors[2]).not.toBe(colors[0]);
});

test('a countdown continues when the clock is set back, and includes the device’s sleep', () => {
  rs.useFakeTimers({ toFake: ['Date', 'performance', 'setInterval', 'clearInterval'], now: 1_800_000_000_000 });
  const Countdown = () => <output>{useCountdown(() => 30)[0]}</output>;
  render(<Countdown />);
  const left = () => Number(screen.getByRole('status').textContent);
  const pass = (seconds: number) => act(() => rs.advanceTimersByTime(seconds * 1000));
  pass(2);
  expect(left()).toBe(28);
  rs.setSystemTime(Date.now() - 86_400_000);
  pass(3);
  expect(left()).toBe(25);
  // the clock is correct again, and shows more elapsed time than the page has run
  rs.setSystemTime(Date.now() + 86_410_000);
  pass(1);
  expect(left()).toBe(14);
  pass(20);
  expect(left()).toBe(0);
});

const { default: RefreshIcon, __iconData } = refresh as typeof refresh & {
  __iconData: Parameters<typeof createIcon>[0];
};

test.each([{}, { size: 20, className: 'turned', fill: 'red' }, { 'aria-label': '刷新' }])(
  'an icon with %o looks in a build as lucide-react draws it',
  (props) => {
    const Icon = createIcon(__iconData);
    const drawn = (icon: React.ReactElement) => {
      const svg = render(icon).container.querySelector('svg');
      const attributes = [...(svg?.attributes ?? [])].map(
        ({ name, value }) => `${name}=${value.replaceAll('  ', ' ')}`,
      );
      return { attributes: attributes.sort(), strokes: svg?.innerHTML };
    };
    expect(drawn(<Icon {...props} />)).toEqual(drawn(<RefreshIcon {...props} />));
  },
);
