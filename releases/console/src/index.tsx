import '@liaozhai/shared/ui/tokens.css';
import '@liaozhai/shared/ui/base.css';
import { leaveDeadOverlays } from '@liaozhai/shared/ui';
import { createRoot } from 'react-dom/client';
import { readToken } from './api';
import { ConsolePage } from './ConsolePage';

async function open(place: HTMLElement): Promise<void> {
  // first: the token leaves the address before anything else reads it
  readToken();
  // a dialog that was open when the page was reloaded has left an entry in the history
  await leaveDeadOverlays();
  createRoot(place).render(<ConsolePage />);
}

void open(document.getElementById('console') ?? document.body);
