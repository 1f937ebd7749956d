/**
 * How SillyTavern draws a chat (github.com/SillyTavern/SillyTavern, public/script.js at 736223a, seen in November 2026):
 * the last hundred messages stand in the document (`chat_truncation`); while a reply streams, at most thirty times a second
 * (`streaming_fps`) its whole text goes through a Showdown converter and DOMPurify into the element's innerHTML, a timer
 * beside it is rewritten, and the chat is scrolled to its end in the next frame. The page is ours.
 */
import DOMPurify from 'dompurify';
import { Converter } from 'showdown';
import { type PeerMessage, pageStyle } from './messages.ts';

const SHOWN = 100;
const FRAMES_PER_SECOND = 30;

const converter = new Converter({
  emoji: true,
  literalMidWordUnderscores: true,
  parseImgDimensions: true,
  tables: true,
  underline: true,
  simpleLineBreaks: true,
  strikethrough: true,
  disableForced4SpacesIndentedSublists: true,
});

/** Quotations are marked, and marks that are still open closed, before the text is converted. */
function format(text: string): string {
  const isOpen = (text.split('*').length - 1) % 2 === 1;
  const balanced = isOpen ? `${text.trimEnd()}*` : text;
  const quoted = balanced.replace(/“[^”]*”|「[^」]*」|"[^"]*"/gu, (said) => `<q>${said}</q>`);
  return DOMPurify.sanitize(converter.makeHtml(quoted));
}

const log = document.createElement('div');
let last: { text: string; place: HTMLElement; timer: HTMLElement } | undefined;
let drawnAt = 0;
const startedAt = performance.now();

function rowOf({ role, text }: PeerMessage) {
  const row = document.createElement('div');
  row.className = 'message';
  row.innerHTML = `<div><div class="avatar"></div><small></small></div><div class="text"><b>${role}</b><div></div></div>`;
  const [timer, place] = [row.querySelector('small'), row.querySelector<HTMLElement>('.text > div')];
  if (!timer || !place) throw new Error('a row without its places');
  place.innerHTML = format(text);
  log.append(row);
  return { text, place, timer };
}

window.__peer = {
  show(messages) {
    document.head.append(Object.assign(document.createElement('style'), { textContent: pageStyle }));
    log.setAttribute('role', 'log');
    document.body.append(log);
    for (const message of messages.slice(-SHOWN)) last = rowOf(message);
    log.scrollTop = log.scrollHeight;
  },
  grow(piece) {
    if (!last) return;
    last.text += piece;
    if (performance.now() - drawnAt < 1000 / FRAMES_PER_SECOND) return;
    drawnAt = performance.now();
    last.place.innerHTML = format(last.text);
    last.timer.textContent = `${((drawnAt - startedAt) / 1000).toFixed(1)}s`;
    requestAnimationFrame(() => log.scrollTo(0, log.scrollHeight));
  },
};
