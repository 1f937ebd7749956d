import '@liaozhai/shared/ui/tokens.css';
import '@liaozhai/shared/ui/base.css';
import { leaveDeadOverlays } from '@liaozhai/shared/ui';
import { createRoot } from 'react-dom/client';
import { readToken } from './api';
import { ConsolePage } from './ConsolePage';
import { ignoreSecondTaps } from './secondTaps';

async function open(place: HTMLElement): Promise<void> {
  // first, so that no other code reads the token from the address
  readToken();
  // a dialog that was open during a reload has left a history entry
  await leaveDeadOverlays();
  ignoreSecondTaps();
  createRoot(place).render(<ConsolePage />);
}

void open(document.getElementById('console') ?? document.body);
