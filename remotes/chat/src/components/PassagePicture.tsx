import { codePoints, linesOf, type Passage, passagesOf, shorten } from '@liaozhai/shared/format';
import { hostConfig, paths, toast, useUser } from '@liaozhai/shared/runtime';
import { Button, DownloadIcon, media, ShareIcon, Sheet } from '@liaozhai/shared/ui';
import { generate } from 'lean-qr';
import { useEffect, useMemo, useState } from 'react';
import { isRunning, type Message } from '../model/message';
import type { Story } from '../model/story';
import { texts } from '../texts';
import type { ChatSheetProps } from './ChatSheet';
import styles from './PassagePicture.module.css';

/** Most text that is still readable in a picture on a phone. */
const MAX_PICTURE_CHARACTERS = 1200;

/** Picture of a passage: the chosen message and, optionally, messages before and after it. */
export default function PassagePicture(props: ChatSheetProps & { message: Message }) {
  const { sheet, message, log, story, onClose } = props;
  const { messages } = log;
  const finishedMessages = useMemo(() => messages.filter((each) => each.body !== '' && !isRunning(each)), [messages]);
  const messageIndex = finishedMessages.findIndex(({ id }) => id === message.id);
  const isGone = messageIndex < 0;
  // another tab has deleted it, or its text is being replaced
  useEffect(() => (isGone ? onClose() : undefined), [isGone, onClose]);
  const [{ before, after }, setRange] = useState({ before: 0, after: 0 });
  const [first, last] = [
    Math.max(0, messageIndex - before),
    Math.min(finishedMessages.length - 1, messageIndex + after),
  ];
  const selectedMessages = useMemo(() => finishedMessages.slice(first, last + 1), [finishedMessages, first, last]);
  const picture = useMemo(() => truncateMessages(selectedMessages), [selectedMessages]);
  const choices = [
    [texts.picture.before, { before: before + 1, after }, first === 0 || picture.isCut],
    [texts.picture.after, { before, after: after + 1 }, last === finishedMessages.length - 1 || picture.isCut],
    ...(selectedMessages.length > 1 ? [[texts.picture.only, { before: 0, after: 0 }, false] as const] : []),
  ] as const;
  const [address, setAddress] = useState('');
  const code = useUser()?.inviteCode ?? '';
  useEffect(() => {
    let isCancelled = false;
    // web fonts may still be loading, and a canvas does not redraw when they have loaded
    void document.fonts.ready.then(
      () => isCancelled || setAddress(draw(picture.messages, story, code).toDataURL('image/png')),
    );
    return () => {
      isCancelled = true;
    };
  }, [picture, story, code]);
  const name = `${story.title}.png`;
  const share = async () => {
    try {
      await navigator.share({ files: [toFile(address, name)], title: story.title });
    } catch (cause) {
      // the user has closed the share sheet
      if (cause instanceof DOMException && cause.name === 'AbortError') return;
      toast(texts.picture.failed, { kind: 'error' });
    }
  };
  return (
    <Sheet
      open={sheet?.kind === 'picture'}
      onClose={onClose}
      title={texts.picture.label}
      footer={
        (canDownload() || canShareFiles()) && (
          <div className={styles.foot}>
            {canDownload() && (
              <Button
                block
                variant="quiet"
                icon={<DownloadIcon size={18} />}
                asLink={<a href={address} download={name} />}
              >
                {texts.picture.save}
              </Button>
            )}
            {canShareFiles() && (
              <Button block icon={<ShareIcon size={18} />} disabled={address === ''} onClick={() => void share()}>
                {texts.picture.share}
              </Button>
            )}
          </div>
        )
      }
    >
      <div className={styles.choice}>
        {choices.map(([label, range, isDisabled]) => (
          <Button key={label} small variant="quiet" disabled={isDisabled} onClick={() => setRange(range)}>
            {label}
          </Button>
        ))}
      </div>
      <p className={styles.hint} role="status">
        {picture.isCut ? texts.picture.cut(MAX_PICTURE_CHARACTERS) : hintText()}
      </p>
      <div className={styles.frame}>
        {address !== '' && (
          <img className={styles.picture} src={address} alt={texts.picture.alt(story.title, selectedMessages.length)} />
        )}
      </div>
    </Sheet>
  );
}

/** In WeChat, a tap on a download link has no effect. */
const canDownload = (): boolean => !navigator.userAgent.includes('MicroMessenger');

function hintText(): string {
  if (!canDownload()) return texts.picture.hintInWechat;
  return media('(pointer: coarse)').matches ? texts.picture.hintByTouch : texts.picture.hint;
}

const canShareFiles = (): boolean => {
  const probe = new File([''], 'a.png', { type: 'image/png' });
  return typeof navigator.canShare === 'function' && navigator.canShare({ files: [probe] });
};

/** Decodes a `data:` URL, which the page's Content-Security-Policy does not allow to fetch. */
function toFile(address: string, name: string): File {
  const bytes = atob(address.slice(address.indexOf(',') + 1));
  return new File([Uint8Array.from(bytes, (byte) => byte.charCodeAt(0))], name, { type: 'image/png' });
}

type Speech = Pick<Message, 'role' | 'body'>;

/** Truncates the messages to the picture's capacity; an ellipsis marks the cut. */
export function truncateMessages(messages: Speech[]): { messages: Speech[]; isCut: boolean } {
  let remainingCharacters = MAX_PICTURE_CHARACTERS;
  const lines: Speech[] = [];
  for (const { role, body } of messages) {
    const characters = [...body];
    if (characters.length <= remainingCharacters) lines.push({ role, body });
    else if (remainingCharacters > 0)
      lines.push({ role, body: `${characters.slice(0, remainingCharacters).join('').trimEnd()}……` });
    remainingCharacters -= characters.length;
  }
  return { messages: lines, isCut: remainingCharacters < 0 };
}

const SCALE = 2;
const WIDTH_PX = 375;
const MARGIN_PX = 32;
const FRAME_PX = 12;
const COLUMN_PX = WIDTH_PX - 2 * MARGIN_PX;
const TEXT_PX = 17;
const LINE_PX = 31;
const PARAGRAPH_PX = 7;
const OWN_PX = 15;
const OWN_LINE_PX = 24;
const OWN_PADDING_PX = 12;
const CODE_PX = 80;
const FOOT_PX = 124;
/** Width of the label AI 生成 after the speaker's name. */
const ORIGIN_PX = 64;

type Kind = Passage['kind'];
interface Unit {
  text: string;
  kind: Kind;
}
type Line = Unit[];

/** Punctuation that may not begin a line, and punctuation that may not end one. */
const CLOSING = /^[，。、；：？！”’）」』》…—·,.;:?!)]/u;
const OPENING = /[“‘（「『《(]$/u;

/**
 * Splits a line into unbreakable units: a character, or a Latin word of up to 16 letters. A text that was cut off may end within
 * a markup span.
 */
const unitsOf = (line: string): Unit[] =>
  passagesOf(line, true).flatMap(({ kind, text }) =>
    (text.match(/[\p{Script=Latin}\p{Number}'-]{1,16}|./gu) ?? []).map((part) => ({ text: part, kind })),
  );

export function fit(name: string, width: number, measure: (text: string) => number): string {
  let shortName = name;
  for (let maxLength = codePoints(name) - 1; maxLength > 1 && measure(shortName) > width; maxLength -= 1)
    shortName = shorten(name, maxLength);
  return shortName;
}

/** Breaks a paragraph as in print: closing punctuation may hang over the edge, opening punctuation moves to the next line. */
export function breakLines(paragraph: string, width: number, indent: number, measure: (unit: Unit) => number): Line[] {
  const lines: Line[] = [];
  let line: Line = [];
  let usedWidth = indent;
  for (const unit of unitsOf(paragraph)) {
    const space = measure(unit);
    const canHang = CLOSING.test(unit.text) && usedWidth <= width;
    if (usedWidth + space > width && line.length > 0 && !canHang) {
      const carriedUnits: Line = [];
      const mayBreak = () => !CLOSING.test((carriedUnits[0] ?? unit).text) && !OPENING.test(line.at(-1)?.text ?? '');
      while (line.length > 1 && !mayBreak()) carriedUnits.unshift(...line.splice(-1));
      lines.push(line);
      line = carriedUnits;
      usedWidth = carriedUnits.reduce((sum, each) => sum + measure(each), 0);
    }
    line.push(unit);
    usedWidth += space;
  }
  return line.length > 0 ? [...lines, line] : lines;
}

/** Reads the light theme's design tokens in a form that a canvas accepts. */
function readTheme() {
  const probe = document.createElement('span');
  probe.dataset.theme = 'light';
  document.body.append(probe);
  const style = getComputedStyle(probe);
  const color = (token: string) => {
    probe.style.color = `var(--${token})`;
    return style.color;
  };
  const theme = {
    paper: color('paper'),
    ink: color('ink'),
    ink2: color('ink2'),
    ink3: color('ink3'),
    line: color('line'),
    weak: color('weak'),
    accent: color('accent'),
    onAccent: color('on-accent'),
    story: style.getPropertyValue('--font-story'),
    kai: style.getPropertyValue('--font-kai'),
    ui: style.getPropertyValue('--font-ui'),
  };
  probe.remove();
  return theme;
}

/** Draws the story's title, the messages and a QR code of the story's page. */
function draw(messages: Speech[], story: Story, code: string): HTMLCanvasElement {
  const theme = readTheme();
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('2d');
  if (!context) throw new Error('no canvas to draw on');
  const fonts: Record<Kind, string> = {
    plain: `${TEXT_PX}px ${theme.story}`,
    action: `${TEXT_PX}px ${theme.kai}`,
    strong: `700 ${TEXT_PX}px ${theme.story}`,
  };
  const ownFont = `${OWN_PX}px ${theme.ui}`;
  const widthOf = (text: string, font: string) => {
    context.font = font;
    return context.measureText(text).width;
  };
  const paintSteps: (() => void)[] = [];
  let height = 0;
  /** Reserves vertical space. `paint` runs later, since the canvas needs the total height first. */
  const add = (space: number, paint: (top: number) => void = () => {}) => {
    const top = height;
    paintSteps.push(() => paint(top));
    height += space;
  };
  const write = (text: string, font: string, color: string, x: number, y: number, align: CanvasTextAlign = 'start') => {
    context.font = font;
    context.fillStyle = color;
    context.textAlign = align;
    context.fillText(text, x, y);
  };
  const box = (color: string, x: number, y: number, width: number, height: number, radius = 0) => {
    context.fillStyle = color;
    context.beginPath();
    context.roundRect(x, y, width, height, radius);
    context.fill();
  };
  const addVoice = (body: string) => {
    add(26, (top) => {
      const label = `13px ${theme.ui}`;
      const speaker = fit(story.speaker.name, COLUMN_PX - ORIGIN_PX, (text) => widthOf(text, label));
      write(speaker, label, theme.ink2, MARGIN_PX, top + 13);
      write(texts.chat.origin, `12px ${theme.ui}`, theme.ink3, MARGIN_PX + widthOf(speaker, label) + 8, top + 13);
    });
    for (const paragraph of linesOf(body)) {
      const measure = ({ text, kind }: Unit) => widthOf(text, fonts[kind]);
      const indent = 2 * TEXT_PX;
      for (const [index, line] of breakLines(paragraph, COLUMN_PX, indent, measure).entries()) {
        add(LINE_PX, (top) => {
          let x = MARGIN_PX + (index === 0 ? indent : 0);
          for (const { text, kind } of line) {
            write(text, fonts[kind], kind === 'action' ? theme.ink2 : theme.ink, x, top + LINE_PX / 2);
            x += widthOf(text, fonts[kind]);
          }
        });
      }
      add(PARAGRAPH_PX);
    }
    add(14);
  };
  const addOwn = (body: string) => {
    const maxWidth = COLUMN_PX * 0.84 - 2 * OWN_PADDING_PX;
    const measure = ({ text }: Unit) => widthOf(text, ownFont);
    const lines = body.split('\n').flatMap((line) => (line === '' ? [[]] : breakLines(line, maxWidth, 0, measure)));
    const words = lines.map((line) => line.map(({ text }) => text).join(''));
    const width = Math.max(...words.map((line) => widthOf(line, ownFont))) + 2 * OWN_PADDING_PX;
    const space = lines.length * OWN_LINE_PX + 2 * OWN_PADDING_PX - 4;
    add(space + 22, (top) => {
      const left = WIDTH_PX - MARGIN_PX - width;
      box(theme.weak, left, top, width, space, 14);
      for (const [index, line] of words.entries()) {
        write(line, ownFont, theme.ink, left + OWN_PADDING_PX, top + OWN_PADDING_PX - 2 + (index + 0.5) * OWN_LINE_PX);
      }
    });
  };

  add(44);
  const titleFont = `700 22px ${theme.story}`;
  const title = fit(story.title, COLUMN_PX, (text) => widthOf(`《${text}》`, titleFont));
  add(34, (top) => write(`《${title}》`, titleFont, theme.ink, WIDTH_PX / 2, top + 11, 'center'));
  add(28, (top) => box(theme.accent, WIDTH_PX / 2 - 20, top + 2, 40, 1));
  for (const { role, body } of messages) {
    if (role === 'user') addOwn(body);
    else if (role === 'assistant') addVoice(body);
  }
  const { brand } = hostConfig();
  add(FOOT_PX, (top) => {
    box(theme.line, MARGIN_PX, top + 4, COLUMN_PX, 1);
    box(theme.accent, MARGIN_PX, top + 36, 34, 34, 6);
    const sealFont = `700 ${brand.seal.length > 1 ? 13 : 19}px ${theme.story}`;
    write(brand.seal, sealFont, theme.onAccent, MARGIN_PX + 17, top + 54, 'center');
    write(texts.picture.from(brand.name), `14px ${theme.story}`, theme.ink, MARGIN_PX + 46, top + 44);
    write(texts.picture.scan, `12px ${theme.ui}`, theme.ink3, MARGIN_PX + 46, top + 64);
    context.fillStyle = theme.ink;
    drawQrCode(context, linkOf(story, code), WIDTH_PX - MARGIN_PX - CODE_PX, top + 18);
  });

  canvas.width = WIDTH_PX * SCALE;
  canvas.height = Math.ceil(height) * SCALE;
  // resizing a canvas resets its context
  context.scale(SCALE, SCALE);
  context.textBaseline = 'middle';
  box(theme.paper, 0, 0, WIDTH_PX, height);
  context.strokeStyle = theme.line;
  context.strokeRect(FRAME_PX + 0.5, FRAME_PX + 0.5, WIDTH_PX - 2 * FRAME_PX - 1, height - 2 * FRAME_PX - 1);
  for (const paint of paintSteps) paint();
  return canvas;
}

/** Address of the story's page with the user's invite code. */
export function linkOf({ id }: Pick<Story, 'id'>, code: string): string {
  const link = new URL(paths.story(id), location.href);
  if (code) link.searchParams.set('invite', code);
  return link.href;
}

/** Draws the squares of the QR code at whole pixels, since gaps between them would impede scanning. */
function drawQrCode(context: CanvasRenderingContext2D, text: string, left: number, top: number) {
  const code = generate(text);
  const square = Math.floor((CODE_PX * SCALE) / code.size) / SCALE;
  const inset = Math.floor(((CODE_PX - square * code.size) / 2) * SCALE) / SCALE;
  for (let y = 0; y < code.size; y += 1)
    for (let x = 0; x < code.size; x += 1)
      if (code.get(x, y)) context.fillRect(left + inset + x * square, top + inset + y * square, square, square);
}
