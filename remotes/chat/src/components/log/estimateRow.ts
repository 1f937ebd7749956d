import { linesOf } from '@liaozhai/shared/format';
import { contentAt, type Log } from '../../model';

const GUTTER_PX = 32;
const COLUMN_PX = 640;
const OPENING_PX = 480;

const voice = { characterPx: 17, linePx: 31.45, gapPx: 6.8, framePx: 72, indent: 2 };
const own = { characterPx: 15, linePx: 24, framePx: 36, leastPx: 60, widthShare: 0.92, besidePx: 72 };

/** About how tall a row will be, in px, so that the scrollbar hardly moves when it is measured. */
export function estimateRow(log: Log, index: number, viewWidth: number): number {
  const content = contentAt(log, index);
  if (!content) return OPENING_PX;
  const known = estimates.get(content);
  if (known?.viewWidth === viewWidth) return known.height;
  const column = Math.min(viewWidth, COLUMN_PX) - GUTTER_PX;
  const isVoice = 'role' in content && content.role !== 'user';
  const height = isVoice ? voiceHeight(content.body, column) : ownHeight(content.body, column);
  estimates.set(content, { viewWidth, height });
  return height;
}

/** The list asks for all rows below each one that is measured. */
const estimates = new WeakMap<object, { viewWidth: number; height: number }>();

function voiceHeight(body: string, column: number): number {
  const paragraphs = linesOf(body);
  const perLine = Math.max(1, Math.floor(column / voice.characterPx));
  let lines = 0;
  for (const text of paragraphs) lines += Math.ceil((text.length + voice.indent) / perLine);
  return voice.framePx + lines * voice.linePx + Math.max(0, paragraphs.length - 1) * voice.gapPx;
}

function ownHeight(body: string, column: number): number {
  const perLine = Math.max(1, Math.floor((column * own.widthShare - own.besidePx) / own.characterPx));
  let lines = 0;
  for (const text of body.split('\n')) lines += Math.max(1, Math.ceil(text.length / perLine));
  return Math.max(own.leastPx, own.framePx + lines * own.linePx);
}
