// Error reports of a page. User text must not be sent: messages are reduced to classes here, and the server refuses all others by
// the same table (`errorsReportSchema`).

const WORD = '[A-Za-z_$]{1,40}';
const CODE = '[A-Za-z_$][A-Za-z_$.()[\\]]{0,79}';

/** Messages of browsers and React that contain only names from our code. Text after the match is cut off. */
const KNOWN_MESSAGES = [
  new RegExp(`^Cannot (?:read|set) propert(?:y|ies) of (?:undefined|null)(?: \\((?:reading|setting) '${WORD}'\\))?`),
  new RegExp(`^(?:undefined|null) is not an object(?: \\(evaluating '${CODE}'\\))?`),
  new RegExp(`^${CODE} is (?:not a function|not defined|not iterable|not a constructor|undefined|null)\\b`),
  new RegExp(`^Can't find variable: ${WORD}$`),
  new RegExp(`^Cannot access '${WORD}' before initialization`),
  /^can't access property "[A-Za-z_$]{1,40}"/,
  /^Failed to execute '[A-Za-z]{1,40}' on '[A-Za-z]{1,40}'/,
  /^Minified React error #\d{1,4}/,
  /^Maximum call stack size exceeded/,
  /^too much recursion/,
  /^Assignment to constant variable/,
  /^Invalid array length/,
  /^Invalid time value/,
  /^Failed to fetch/,
  /^Load failed/,
  /^NetworkError when attempting to fetch resource/,
  /^The object can not be found here/,
  /^The quota has been exceeded/,
  /^Out of memory/i,
];

/** These messages quote the text that could not be parsed. */
const UNREADABLE_JSON = /not valid JSON|^JSON(?:\.parse| Parse error)|^Unexpected (?:token|end of|non-whitespace)/;
const INVALID_JSON = 'invalid JSON';

/** Returns the class of an error's message, without user text; null for an unknown message. */
export function messageClass(message: string): string | null {
  if (message === INVALID_JSON || UNREADABLE_JSON.test(message)) return INVALID_JSON;
  for (const pattern of KNOWN_MESSAGES) {
    const [match] = pattern.exec(message) ?? [];
    if (match) return match;
  }
  return null;
}

/** Errors in a build's code, besides the failures to load it. */
export const scriptErrors = ['uncaught', 'rejection'] as const;

export const MAX_FRAMES = 5;

/** `chat/1.4.0-3f9c1a7b20de/static/js/chat.js:1:8123`: file of a build, line, column. */
export const FRAME =
  /^[a-z][a-z0-9-]{0,39}\/[\w.-]{1,120}\/(?:[\w@~+()[\]-][\w@~+.()[\]-]*\/){0,6}[\w@~+.()[\]-]{1,120}\.m?js:\d{1,7}:\d{1,9}$/;

/** Returns the positions in build files that a stack names, innermost first; skips other files and query strings. */
export function framesOf(stack: string): string[] {
  const places = stack.matchAll(/\/builds\/([^\s?#:]+)(?:[?#][^\s:)]*)?(:\d+:\d+)/g);
  const frames = [...places].map(([, file = '', place = '']) => file + place);
  return frames.filter((frame) => FRAME.test(frame)).slice(0, MAX_FRAMES);
}
