/**
 * Calls `end` once whoever started this process is gone, in whatever way. That is who opened an IPC channel to it; without one it
 * is the parent, if `isTied`: a server that an operator put into the background lives on when the shell closes.
 */
export function whenStarterEnds(end: () => void, options?: { isTied?: boolean }): void;

/** For `node --import`: ties a tool that knows nothing of us to who spawns it with an IPC channel. */
export const preload: string;
