import type { Command } from 'commander';
import type { Change } from '../src/channel/changeChannel.ts';
import { usage } from '../src/errors.ts';
import type { SharedOptions } from './context.ts';
import { print } from './output.ts';

export interface SwitchOptions {
  why?: string;
  seq?: number;
  force?: boolean;
}

/** A whole number of at least one. Throws usage. */
export function count(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw usage(`"${text}" is not a whole number`, 'Use 1, 2, 3 …');
}

export const options = <Own>(command: Command): SharedOptions & Own => command.optsWithGlobals();

/** Adds what every switching verb takes. */
export const withReason = (command: Command): Command =>
  command
    .option('--why <text>', 'kept in the audit')
    .option('--seq <n>', 'the state you saw; refuses if someone was faster', count);

export const withForce = (command: Command): Command =>
  withReason(command).option('--force', 'switch against the gate (needs --why)');

export function printChange(json: boolean | undefined, { document, changed }: Change): void {
  const { seq, channel, action, stable, candidate, killed } = document;
  const lines = changed
    ? [
        `${channel} is at state ${seq}: ${action.verb} ${action.what}`,
        ...(action.evidence ?? []).map((line) => `  - ${line}`),
      ]
    : [`${channel} stays at state ${seq}: nothing to change`];
  print(json, { changed, channel, seq, action, stable, candidate, killed }, lines);
}

export const examples = (...lines: string[]): string =>
  `\nExamples:\n${lines.map((line) => `  pnpm release ${line}`).join('\n')}\n`;
