import { type Log, rowAt } from '../../model';

const GUTTER_PX = 32;
const COLUMN_PX = 640;
const STORY_CHARACTER_PX = 17;
const STORY_LINE_PX = 31.5;
const OWN_CHARACTER_PX = 15;
const OWN_LINE_PX = 24;
const VOICE_FRAME_PX = 80;
const OWN_FRAME_PX = 46;
const OPENING_PX = 480;

/** About how tall a row will be, in px, so that the scrollbar hardly moves when it is measured. */
export function estimateRow(log: Log, index: number, viewWidth: number): number {
  const row = rowAt(log, index);
  if (!row || row.kind === 'opening') return OPENING_PX;
  const column = Math.min(viewWidth, COLUMN_PX) - GUTTER_PX;
  const isOwn = row.kind === 'line' || row.message.role === 'user';
  const body = row.kind === 'line' ? row.line.body : row.message.body;
  const perLine = Math.floor(isOwn ? (column * 0.82 - GUTTER_PX) / OWN_CHARACTER_PX : column / STORY_CHARACTER_PX);
  let lines = 0;
  for (const paragraph of body.split('\n')) lines += Math.max(0, Math.ceil(paragraph.length / Math.max(1, perLine)));
  return isOwn ? OWN_FRAME_PX + lines * OWN_LINE_PX : VOICE_FRAME_PX + lines * STORY_LINE_PX;
}
