import { ListRow, Sheet } from '@liaozhai/shared/ui';
import type { ReactNode } from 'react';
import { texts } from '../texts';

export interface MenuAct {
  label: string;
  icon: ReactNode;
  run: () => void;
}

interface MessageMenuProps {
  /** null while closed. */
  acts: MenuAct[] | null;
  onClose: () => void;
}

/** What can be done with one message: one sheet for the whole log. */
export const MessageMenu = ({ acts, onClose }: MessageMenuProps) => (
  <Sheet open={acts !== null} onClose={onClose} title={texts.chat.more}>
    {acts?.map(({ label, icon, run }) => (
      <ListRow
        key={label}
        title={label}
        icon={icon}
        onClick={() => {
          onClose();
          run();
        }}
      />
    ))}
  </Sheet>
);
