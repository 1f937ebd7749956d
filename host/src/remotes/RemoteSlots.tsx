import { SlotContext } from '@liaozhai/shared/runtime';
import type { ReactNode } from 'react';
import { slotPart } from './partSources';
import type { PartProps } from './parts';
import { RemotePane } from './RemotePane';

interface FilledSlotProps extends PartProps {
  name: string;
}

function FilledSlot({ name, ...props }: FilledSlotProps) {
  const part = slotPart(name);
  return part && <RemotePane part={part} props={props} small />;
}

/** Fills the slots of every page below with the parts that the set's remotes declare for them. */
export function RemoteSlots({ children }: { children: ReactNode }) {
  return <SlotContext value={FilledSlot}>{children}</SlotContext>;
}
