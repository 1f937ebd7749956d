import { memo } from 'react';
import type { Line } from '../model';
import { LineState, type Waiting } from './LineState';
import { OwnMessage } from './OwnMessage';

export interface LineActs {
  openMenu: (line: Line) => void;
  retry: (line: Line) => void;
  login: () => void;
}

interface LineRowProps {
  line: Line;
  waiting: Waiting;
  acts: LineActs;
}

/** A line on its way, with how far it has come. */
export const LineRow = memo(function LineRow({ line, waiting, acts }: LineRowProps) {
  const state = (
    <LineState
      line={line}
      waiting={line.state === 'sending' ? 'sending' : waiting}
      onRetry={() => acts.retry(line)}
      onLogin={acts.login}
    />
  );
  return <OwnMessage body={line.body} isConfirmed={false} state={state} onMore={() => acts.openMenu(line)} />;
});
