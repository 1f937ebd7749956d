import { STORAGE_KEYS } from './keys';
import { readJson, removeText, writeJson } from './localStored';

export interface Position {
  messageId: string;
  /** px from the top of the view to the message */
  offset: number;
}

const kept = 200;
const read = (): [string, Position][] => {
  const stored = readJson(STORAGE_KEYS.positions);
  return Array.isArray(stored) ? (stored as [string, Position][]) : [];
};

/** Where a reader stood in each conversation, for the 200 read last. */
export const positions = {
  read: (conversationId: string): Position | undefined => read().find(([id]) => id === conversationId)?.[1],
  write(conversationId: string, position: Position) {
    const others = read().filter(([id]) => id !== conversationId);
    writeJson(STORAGE_KEYS.positions, [[conversationId, position], ...others].slice(0, kept));
  },
};

export const purgePositions = () => removeText(STORAGE_KEYS.positions);
