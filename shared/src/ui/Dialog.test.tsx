import { afterEach, describe, expect, rs, test } from '@rstest/core';
import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { onTestEnd } from '../testing';
import { Dialog, type DialogProps } from './Dialog';

function Question(props: Partial<DialogProps>) {
  const [open, setOpen] = useState(true);
  const [answer, setAnswer] = useState('');
  return (
    <>
      <p>回答：{answer}</p>
      <Dialog
        title="删除这段对话？"
        {...props}
        open={open}
        onConfirm={() => {
          setAnswer('是');
          setOpen(false);
        }}
        onClose={() => {
          setAnswer('否');
          setOpen(false);
        }}
      >
        删除后 6 秒内可以撤销。
      </Dialog>
    </>
  );
}

const dialog = () => document.querySelector('dialog') as HTMLDialogElement;

let steps = 0;
// Runs before the guard's listener, which hides the guard's own steps from later listeners.
window.addEventListener('popstate', () => (steps += 1), { capture: true });

afterEach(async () => {
  cleanup();
  await waitFor(() => expect(history.state?.overlays).toBeUndefined());
});

test('a dialog has its title and text as name and description, and buttons', async () => {
  render(<Question cancelLabel="取消" confirmLabel="删除" danger />);
  const box = screen.getByRole('alertdialog', { name: '删除这段对话？' });
  expect(document.getElementById(box.getAttribute('aria-describedby') ?? '')?.textContent).toContain('6 秒');
  await userEvent.click(screen.getByRole('button', { name: '删除' }));
  expect(screen.getByText('回答：是')).toBeTruthy();
  expect(dialog().open).toBe(false);
});

test('a dialog works if the browser accepts no more history entries', async () => {
  const full = rs.spyOn(history, 'pushState').mockImplementation(() => {
    throw new DOMException('100 times per 30 seconds', 'SecurityError');
  });
  onTestEnd(() => full.mockRestore());
  const before = steps;
  render(<Question confirmLabel="删除" />);
  await userEvent.click(screen.getByRole('button', { name: '删除' }));
  expect(screen.getByText('回答：是')).toBeTruthy();
  await new Promise((resolve) => setTimeout(resolve));
  expect(steps).toBe(before);
});

test('cancelling closes without a confirmation', async () => {
  render(<Question cancelLabel="取消" />);
  await userEvent.click(screen.getByRole('button', { name: '取消' }));
  expect(screen.getByText('回答：否')).toBeTruthy();
});

test('a busy confirmation keeps its name and cannot be pressed twice', () => {
  render(<Question busy confirmLabel="删除" />);
  expect(screen.getByRole('button', { name: '删除' }).getAttribute('aria-disabled')).toBe('true');
});

test('a busy dialog cannot be cancelled', async () => {
  render(<Question busy cancelLabel="取消" confirmLabel="删除" />);
  await userEvent.click(screen.getByRole('button', { name: '取消' }));
  fireEvent(dialog(), new Event('cancel', { cancelable: true }));
  fireEvent.pointerDown(dialog());
  fireEvent.click(dialog());
  steps = 0;
  history.back();
  await waitFor(() => expect(steps).toBe(2));
  expect(dialog().open).toBe(true);
});

test('an uncloseable dialog stays open on Escape, a tap outside, a forced close and the back gesture', async () => {
  render(<Question uncloseable confirmLabel="我已经复制" />);
  expect(dialog().getAttribute('closedby')).toBe('none');
  const cancel = new Event('cancel', { cancelable: true });
  fireEvent(dialog(), cancel);
  expect(cancel.defaultPrevented).toBe(true);
  fireEvent.pointerDown(dialog());
  fireEvent.click(dialog());
  expect(dialog().open).toBe(true);
  dialog().close();
  expect(dialog().open).toBe(true);
  steps = 0;
  history.back();
  await waitFor(() => expect(steps).toBe(2));
  expect(history.state.overlays).toHaveLength(1);
  expect(dialog().open).toBe(true);
  await userEvent.click(screen.getByRole('button', { name: '我已经复制' }));
  expect(dialog().open).toBe(false);
});

describe('the focus', () => {
  /** Like WebKit, unlike happy-dom: focuses the first focusable element while the dialog opens. */
  function focusFirst() {
    const { showModal } = HTMLDialogElement.prototype;
    HTMLDialogElement.prototype.showModal = function open() {
      showModal.call(this);
      this.querySelector<HTMLElement>('[tabindex], button')?.focus();
    };
    onTestEnd(() => {
      HTMLDialogElement.prototype.showModal = showModal;
    });
  }

  test('is on no button after a touch, so that no ring shows', () => {
    focusFirst();
    render(<Question cancelLabel="取消" />);
    expect(document.activeElement?.textContent).toContain('删除这段对话？');
    expect(document.activeElement?.matches('button')).toBe(false);
  });

  test('is on the first button after a key', () => {
    focusFirst();
    render(<button type="button">删除</button>);
    screen.getByRole('button', { name: '删除' }).focus();
    render(<Question cancelLabel="取消" />);
    expect(document.activeElement?.textContent).toBe('取消');
  });
});

test('a dialog over another: back closes the upper one first', async () => {
  render(
    <>
      <Question title="下面" />
      <Question title="上面" />
    </>,
  );
  const [lower, upper] = document.querySelectorAll('dialog');
  history.back();
  await waitFor(() => expect(upper?.open).toBe(false));
  expect(lower?.open).toBe(true);
  history.back();
  await waitFor(() => expect(lower?.open).toBe(false));
});
