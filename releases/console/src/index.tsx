import '@liaozhai/shared/ui/tokens.css';
import '@liaozhai/shared/ui/base.css';
import { leaveDeadOverlays } from '@liaozhai/shared/ui';
import { createRoot } from 'react-dom/client';
import { readToken } from './api';
import { ConsolePage } from './ConsolePage';

const TAP_PX = 12;
const DOUBLE_TAP_MS = 300;

/** Ignores the second half of a double tap where a dialog has opened or closed under the finger since the first. */
function ignoreSecondTaps(): void {
  let [x, y, clickedAt] = [0, 0, Number.NEGATIVE_INFINITY];
  let clickedDialog: Element | null = null;
  const onClick = (event: MouseEvent) => {
    // clicks from scripts or the keyboard
    if (!event.isTrusted || event.detail === 0) return;
    const dialog = event.target instanceof Element ? event.target.closest('dialog') : null;
    const isNear = Math.abs(event.clientX - x) + Math.abs(event.clientY - y) < TAP_PX;
    const isSecond = isNear && event.timeStamp - clickedAt < DOUBLE_TAP_MS;
    [x, y, clickedAt] = [event.clientX, event.clientY, event.timeStamp];
    if (isSecond && dialog !== clickedDialog) {
      event.preventDefault();
      event.stopImmediatePropagation();
    } else clickedDialog = dialog;
  };
  document.addEventListener('click', onClick, true);
}

async function open(place: HTMLElement): Promise<void> {
  // first, so that no other code reads the token from the address
  readToken();
  // a dialog that was open during a reload has left a history entry
  await leaveDeadOverlays();
  ignoreSecondTaps();
  createRoot(place).render(<ConsolePage />);
}

void open(document.getElementById('console') ?? document.body);
