/** Descendants of a process, nearest first. */
export function descendantsOf(pid: number): number[];
export function childrenOf(pid: number): number[];
/** All running processes, without zombies. */
export function processes(): { pid: number; parent: number; name: string }[];
/** Processes of this user that were started with `variable` ("NAME=value") in their environment, except this one. */
export function processesWith(variable: string): { pid: number; command: string }[];
