import { describe, expect, rs, test } from '@rstest/core';
import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { Activity, useState } from 'react';
import { onTestEnd } from '../testing';
import { Sheet } from './Sheet';

function Page({ mode = 'visible' }: { mode?: 'visible' | 'hidden' }) {
  const [open, setOpen] = useState(false);
  return (
    <Activity mode={mode}>
      <button type="button" onClick={() => setOpen(true)}>
        打开
      </button>
      <Sheet open={open} onClose={() => setOpen(false)} title="选择字号">
        <p>里面的话</p>
      </Sheet>
    </Activity>
  );
}

// overlays stop the events of their own steps, so this listener comes first
let stepsBack = 0;
window.addEventListener('popstate', () => (stepsBack += 1), { capture: true });

const dialog = () => document.querySelector('dialog');
const isOpen = () => dialog()?.open;

async function openSheet() {
  const page = render(<Page />);
  await userEvent.click(screen.getByText('打开'));
  expect(isOpen()).toBe(true);
  return page;
}

test('a sheet has its title as name and shows its content only while open', async () => {
  render(<Page />);
  expect(screen.queryByText('里面的话')).toBeNull();
  await userEvent.click(screen.getByText('打开'));
  expect(screen.getByRole('dialog', { name: '选择字号' })).toBe(dialog());
  await userEvent.click(screen.getByRole('button', { name: '关闭' }));
  expect(isOpen()).toBe(false);
  await waitFor(() => expect(screen.queryByText('里面的话')).toBeNull());
});

test('Escape closes it', async () => {
  await openSheet();
  fireEvent(dialog() as Element, new Event('cancel', { cancelable: true }));
  expect(isOpen()).toBe(false);
});

test('a cancelled file dialog inside does not close it', async () => {
  await openSheet();
  fireEvent(screen.getByText('里面的话'), new Event('cancel', { bubbles: true }));
  expect(isOpen()).toBe(true);
});

test('a tap outside closes it, a press that starts inside does not', async () => {
  await openSheet();
  const scrim = dialog() as Element;
  fireEvent.pointerDown(screen.getByText('里面的话'));
  fireEvent.click(scrim);
  expect(isOpen()).toBe(true);
  fireEvent.pointerDown(scrim);
  fireEvent.click(scrim);
  expect(isOpen()).toBe(false);
});

test('going back closes it and stays on the page', async () => {
  await openSheet();
  const { href } = location;
  history.back();
  await waitFor(() => expect(isOpen()).toBe(false));
  expect(history.state?.overlays).toBeUndefined();
  expect(location.href).toBe(href);
});

test('closing it by its button leaves no history entry', async () => {
  await openSheet();
  expect(history.state.overlays).toHaveLength(1);
  await userEvent.click(screen.getByRole('button', { name: '关闭' }));
  await waitFor(() => expect(history.state?.overlays).toBeUndefined());
});

test('a sheet that opens during another’s back navigation stays open, and going back closes it', async () => {
  await openSheet();
  const go = history.go.bind(history);
  const step = rs.spyOn(history, 'go').mockImplementation(() => undefined);
  onTestEnd(() => step.mockRestore());
  await userEvent.click(screen.getByRole('button', { name: '关闭' }));
  await waitFor(() => expect(step).toHaveBeenCalledWith(-1));
  await userEvent.click(screen.getByText('打开'));
  const before = stepsBack;
  go(-1);
  await waitFor(() => expect(stepsBack).toBe(before + 1));
  await waitFor(() => expect(history.state?.overlays).toHaveLength(1));
  expect(isOpen()).toBe(true);
  history.back();
  await waitFor(() => expect(isOpen()).toBe(false));
  expect(history.state?.overlays).toBeUndefined();
});

test('a page that is hidden does not keep its modal open, and shows it again on return', async () => {
  const page = await openSheet();
  page.rerender(<Page mode="hidden" />);
  expect(isOpen()).toBe(false);
  page.rerender(<Page mode="visible" />);
  expect(isOpen()).toBe(true);
});

describe('an on-screen keyboard that lies over the page', () => {
  /** Height of the window that Safari leaves visible. */
  function placeView() {
    const view = Object.assign(new EventTarget(), { height: window.innerHeight, offsetTop: 0, scale: 1 });
    Object.defineProperty(window, 'visualViewport', { value: view, configurable: true });
    onTestEnd(() => void Reflect.deleteProperty(window, 'visualViewport'));
    return (change: Partial<typeof view>) => {
      Object.assign(view, change);
      view.dispatchEvent(new Event('resize'));
    };
  }
  const insets = () => ['--keyboard', '--view-top'].map((name) => dialog()?.style.getPropertyValue(name));

  test('limits an open sheet to the visible area', async () => {
    const see = placeView();
    await openSheet();
    expect(insets()).toEqual(['0px', '0px']);
    see({ height: window.innerHeight - 336 });
    expect(insets()).toEqual(['336px', '0px']);
    // the page moves up behind the keyboard
    see({ offsetTop: 100 });
    expect(insets()).toEqual(['236px', '100px']);
    see({ height: window.innerHeight, offsetTop: 0 });
    expect(insets()).toEqual(['0px', '0px']);
    await userEvent.click(screen.getByRole('button', { name: '关闭' }));
    see({ height: 300 });
    expect(insets()).toEqual(['0px', '0px']);
  });

  test('is distinguished from the user’s zoom', async () => {
    const see = placeView();
    await openSheet();
    see({ height: 300, offsetTop: 200, scale: 2 });
    expect(insets()).toEqual(['0px', '0px']);
  });
});
