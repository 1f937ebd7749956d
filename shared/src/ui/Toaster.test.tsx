import { expect, rs, test } from '@rstest/core';
import { act, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { Sheet } from './Sheet';
import { Toaster } from './Toaster';

const region = () => screen.getByText('登录失败').closest('[aria-live]');

// must be the first test: React adds its listeners to a container once
test('toasts add no event listeners to the body', () => {
  const listening = rs.spyOn(document.body, 'addEventListener');
  render(<Toaster toasts={[{ id: '1', text: '登录失败' }]} />);
  expect(listening).not.toHaveBeenCalled();
  listening.mockRestore();
});

test('toasts are in a polite region that exists before them', () => {
  const { rerender } = render(<Toaster toasts={[]} />);
  expect(document.querySelector('[aria-live="polite"]')).toBeTruthy();
  rerender(<Toaster toasts={[{ id: '1', text: '登录失败', kind: 'error' }]} />);
  expect(region()?.getAttribute('aria-live')).toBe('polite');
});

test('a toast is above the visible screen’s foot, also after it grows', async () => {
  const foot = (height: number, bottom = 0) => {
    const element = document.createElement('div');
    element.dataset.foot = '';
    element.getBoundingClientRect = () => new DOMRect(0, innerHeight - height - bottom, 390, height);
    document.body.append(element);
    return element;
  };
  // a bar of a form further up
  const feet = [foot(44, 400)];
  render(<Toaster toasts={[{ id: '1', text: '登录失败' }]} />);
  const place = () => (region() as HTMLElement).style.getPropertyValue('--foot');
  expect(place()).toBe('0px');
  feet.push(foot(56), foot(0), foot(innerHeight));
  await waitFor(() => expect(place()).toBe('56px'));
  feet.push(foot(120));
  await waitFor(() => expect(place()).toBe('120px'));
  // buttons just above it are not covered
  feet.push(foot(44, 136));
  await waitFor(() => expect(place()).toBe('180px'));
  for (const element of feet) element.remove();
});

test('a toast can have one action', async () => {
  let undone = 0;
  render(<Toaster toasts={[{ id: '1', text: '已删除', action: { label: '撤销', run: () => (undone += 1) } }]} />);
  await userEvent.click(screen.getByRole('button', { name: '撤销' }));
  expect(undone).toBe(1);
});

test('toasts are inside an open modal, since the rest of the page is inert', async () => {
  const toasts = [{ id: '1', text: '登录失败' }];
  const page = (open: boolean) => (
    <>
      <Sheet open={open} onClose={() => undefined} title="登录">
        <p>表单</p>
      </Sheet>
      <Toaster toasts={toasts} />
    </>
  );
  const { rerender } = render(page(false));
  expect(region()?.closest('dialog')).toBeNull();
  await act(async () => rerender(page(true)));
  await waitFor(() => expect(region()?.parentElement?.tagName).toBe('DIALOG'));
  await act(async () => rerender(page(false)));
  await waitFor(() => expect(region()?.closest('dialog')).toBeNull());
});
