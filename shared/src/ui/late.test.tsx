import { act, render, screen, userEvent } from '@liaozhai/shared/testing';
import { expect, test } from '@rstest/core';
import { late } from './late';

/** A component whose import fails until the test repairs it. */
function lostFile() {
  const file = { isLost: true, asked: 0 };
  const Part = late(
    async () => {
      file.asked += 1;
      if (file.isLost) throw new Error('Loading chunk 7 failed');
      return { default: ({ name }: { name: string }) => <p>{name}的灯</p> };
    },
    <p>正在加载</p>,
  );
  return { file, Part };
}

test('a failed file loads on 重试, and is reused on the next screen', async () => {
  const { file, Part } = lostFile();
  const { unmount } = render(<Part name="小翠" />);
  expect(screen.getByText('正在加载')).toBeTruthy();
  const retry = await screen.findByRole('button', { name: '重试' });
  await userEvent.click(retry);
  expect(await screen.findByRole('button', { name: '重试' })).toBeTruthy();
  file.isLost = false;
  await userEvent.click(screen.getByRole('button', { name: '重试' }));
  expect(await screen.findByText('小翠的灯')).toBeTruthy();
  unmount();
  render(<Part name="婴宁" />);
  expect(screen.getByText('婴宁的灯')).toBeTruthy();
  expect(file.asked).toBe(3);
});

test('a failed file loads when the network is back', async () => {
  const { file, Part } = lostFile();
  render(<Part name="小翠" />);
  await screen.findByText('暂时打不开');
  file.isLost = false;
  act(() => void window.dispatchEvent(new Event('online')));
  expect(await screen.findByText('小翠的灯')).toBeTruthy();
});
