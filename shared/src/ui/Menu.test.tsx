import { expect, test } from '@rstest/core';
import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { Menu } from './Menu';

const trigger = () => screen.getByRole('button', { name: '更多操作' });
const overlay = () => document.querySelector('dialog');
const isOpen = () => overlay()?.open ?? false;

function drawMenu() {
  const done: string[] = [];
  const items = ['复制', '重写', '删除'].map((label) => ({ label, onSelect: () => done.push(label) }));
  const { unmount } = render(<Menu label="更多操作" items={items} />);
  return { done, unmount };
}

test('a closed menu has no items', () => {
  drawMenu();
  expect(document.querySelector('[role="menu"], [role="menuitem"]')).toBeNull();
  expect(trigger().getAttribute('aria-haspopup')).toBe('menu');
  expect(trigger().getAttribute('aria-expanded')).toBe('false');
});

test('the button opens it without the popover API, and an item runs once', async () => {
  const { done } = drawMenu();
  await userEvent.click(trigger());
  expect(isOpen()).toBe(true);
  expect(trigger().getAttribute('aria-expanded')).toBe('true');
  const item = screen.getByRole('menuitem', { name: '删除' });
  await userEvent.click(item);
  expect(done).toEqual(['删除']);
  expect(isOpen()).toBe(false);
  await waitFor(() => expect(screen.queryByRole('menu')).toBeNull());
});

test.each([
  ['a tap outside', () => [fireEvent.pointerDown(overlay() as Element), fireEvent.click(overlay() as Element)]],
  ['Escape', () => fireEvent(overlay() as Element, new Event('cancel', { cancelable: true }))],
  ['Tab', () => fireEvent.keyDown(screen.getByRole('menu'), { key: 'Tab' })],
  ['the back gesture', () => history.back()],
])('%s closes it without an action', async (_, close) => {
  const { done } = drawMenu();
  await userEvent.click(trigger());
  close();
  await waitFor(() => expect(isOpen()).toBe(false));
  await waitFor(() => expect(history.state?.overlays).toBeUndefined());
  expect(done).toEqual([]);
});

test('a menu whose row is removed leaves no modal', async () => {
  const { unmount } = drawMenu();
  await userEvent.click(trigger());
  unmount();
  expect(overlay()).toBeNull();
  await waitFor(() => expect(history.state?.overlays).toBeUndefined());
});

test('a key focuses the first item, a touch focuses none', async () => {
  drawMenu();
  trigger().focus();
  await userEvent.keyboard('{Enter}');
  expect(document.activeElement?.textContent).toBe('复制');
  fireEvent(overlay() as Element, new Event('cancel', { cancelable: true }));
  await userEvent.click(trigger());
  expect(document.activeElement).toBe(screen.getByRole('menu'));
});

test('arrow keys walk through the menu and around its ends', async () => {
  drawMenu();
  await userEvent.click(trigger());
  const walked = ['ArrowDown', 'ArrowDown', 'ArrowUp', 'ArrowUp', 'Home', 'End', 'ArrowDown'].map((key) => {
    fireEvent.keyDown(screen.getByRole('menu'), { key });
    return document.activeElement?.textContent;
  });
  expect(walked).toEqual(['复制', '重写', '复制', '删除', '复制', '删除', '复制']);
  screen.getByRole('menu').focus();
  fireEvent.keyDown(screen.getByRole('menu'), { key: 'ArrowUp' });
  expect(document.activeElement?.textContent).toBe('删除');
});

test('a press outside the menu does not reach the row it belongs to', async () => {
  const pressed: string[] = [];
  render(
    <div onPointerDown={() => pressed.push('row')}>
      <Menu label="更多操作" items={[{ label: '删除', onSelect: () => undefined }]} />
    </div>,
  );
  await userEvent.click(trigger());
  pressed.length = 0;
  fireEvent.pointerDown(overlay() as Element);
  expect(pressed).toEqual([]);
});
