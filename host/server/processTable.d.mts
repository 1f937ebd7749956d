/** The processes below one, nearest first. */
export function descendantsOf(pid: number): number[];
export function childrenOf(pid: number): number[];
/** Every process that runs. */
export function processes(): { pid: number; parent: number; name: string }[];
/** Processes of this user that were started with `variable` ("NAME=value") in their environment, this one left out. */
export function processesWith(variable: string): { pid: number; command: string }[];
