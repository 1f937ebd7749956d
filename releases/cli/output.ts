import { messageOf, ReleaseError } from '../src/errors.ts';
import { note } from './context.ts';

const EXIT_CODES = { refused: 1, conflict: 1, usage: 2, unreachable: 3, forbidden: 3 } as const;

/** Prints a result: one JSON document, or lines for a person. */
export function print(json: boolean | undefined, value: unknown, lines: readonly string[]): void {
  process.stdout.write(json ? `${JSON.stringify(value, null, 2)}\n` : lines.map((line) => `${line}\n`).join(''));
}

/** Says what went wrong and what cures it. Returns the exit code. */
export function printFailure(json: boolean, cause: unknown): number {
  if (!(cause instanceof ReleaseError)) {
    if (json) print(true, { error: { kind: 'internal', message: messageOf(cause) } }, []);
    note(cause instanceof Error ? (cause.stack ?? cause.message) : String(cause));
    return 1;
  }
  const { kind, message, cure, details } = cause;
  if (json) print(true, { error: { kind, message, cure, details } }, []);
  note(`${kind}: ${message}`);
  for (const detail of details) note(`  - ${detail}`);
  if (cure) note(cure);
  return EXIT_CODES[kind];
}

/** Columns wide enough for their longest cell; East Asian characters count double. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const width = (text: string) => [...text].reduce((sum, sign) => sum + (sign.charCodeAt(0) > 0x2e7f ? 2 : 1), 0);
  const widths = rows.reduce<number[]>(
    (found, row) => row.map((cell, at) => Math.max(found[at] ?? 0, width(cell))),
    [],
  );
  const pad = (cell: string, at: number) => cell + ' '.repeat(Math.max(0, (widths[at] ?? 0) - width(cell)));
  return rows.map((row) => row.map(pad).join('  ').trimEnd());
}

/** `2026-11-03 21:04` in this machine's time zone. */
export function localTime(instant: string): string {
  const at = new Date(instant);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

export const bytes = (size: number): string => (size < 10_240 ? `${size} B` : `${(size / 1024).toFixed(0)} KiB`);
