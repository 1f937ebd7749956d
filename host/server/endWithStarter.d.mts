/**
 * Calls `end` when the starter of this process has ended, in any way. The starter is the process that opened an IPC channel;
 * without a channel it is the parent, if `isTied`. Untied, a server in the background of a shell outlives the shell.
 */
export function whenStarterEnds(end: () => void, options?: { isTied?: boolean }): void;

/** For `node --import`: ties a third-party tool to the process that spawned it with an IPC channel. */
export const preload: string;
