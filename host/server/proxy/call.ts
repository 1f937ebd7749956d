import { Agent, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import { endToEnd, forwardedHeaders, sendTo } from './upstream.ts';

/** Shorter than any server keeps an idle connection (Node 5 s, nginx 75 s): one closed at the moment of reuse loses a call. */
const idle = { keepAlive: true, timeout: 2_000 };
const agents = { 'http:': new Agent(idle), 'https:': new SecureAgent(idle) };

/** Shorter than the minute after which nginx considers this server failed. */
const ANSWER_MS = 50_000;
/** A response is buffered until it is complete, or up to this size and time. If it breaks off before, it becomes a 502. */
const HELD_BYTES = 64 * 1024;
const HELD_MS = 100;

interface Call {
  /** origin of the backend */
  target: string;
  trustsProxy: boolean;
  answerMs?: number;
  /** Answers the request if there is no response to pass on. */
  refuse: (error: Error) => void;
}

/** Forwards a call and passes its response on. */
export function passCall(request: IncomingMessage, response: ServerResponse, call: Call) {
  const { target, trustsProxy, answerMs = ANSWER_MS, refuse } = call;
  const { method, url: path, headers: given } = request;
  const isChunked = given['transfer-encoding'] !== undefined;
  const headers = forwardedHeaders(request, trustsProxy);
  if (isChunked) headers['transfer-encoding'] = 'chunked';
  const agent = agents[target.startsWith('https:') ? 'https:' : 'http:'];
  // a visitor who disconnects cancels the call and needs no answer
  const refuseUnlessGone = (error: Error) => {
    if (!response.destroyed) refuse(error);
  };
  const options = { method, path, headers, agent, timeout: answerMs };
  const sent = sendTo(target, options, {
    answered: (answer) => passAnswer(answer, response, () => refuseUnlessGone(new Error('the answer broke off'))),
    refused: refuseUnlessGone,
  });
  response.once('close', () => sent.destroy());
  request.on('error', () => sent.destroy());
  if (isChunked || given['content-length'] !== undefined) request.pipe(sent);
  else sent.end();
}

/** Passes a response on. Nothing in it can end this process. */
function passAnswer(answer: IncomingMessage, response: ServerResponse, broken: () => void): void {
  const held: Buffer[] = [];
  let heldBytes = 0;
  let isHeld = true;
  const begin = () => {
    isHeld = false;
    response.statusCode = answer.statusCode ?? 502;
    for (const [name, value = ''] of Object.entries(endToEnd(answer.headers))) setSafely(response, name, value);
  };
  const stream = () => {
    clearTimeout(timer);
    answer.off('data', hold);
    begin();
    for (const piece of held) response.write(piece);
    answer.pipe(response);
  };
  const timer = setTimeout(stream, HELD_MS);
  const hold = (piece: Buffer) => {
    held.push(piece);
    heldBytes += piece.length;
    if (heldBytes > HELD_BYTES) stream();
  };
  answer.on('data', hold);
  answer.once('end', () => {
    if (!isHeld) return;
    begin();
    response.end(Buffer.concat(held));
  });
  answer.once('close', () => {
    clearTimeout(timer);
    if (answer.complete) return;
    if (isHeld) broken();
    else response.destroy();
  });
  // `close` follows
  answer.on('error', () => {});
}

function setSafely(response: ServerResponse, name: string, value: string | string[]): void {
  try {
    response.setHeader(name, value);
  } catch {
    // a header that HTTP does not allow is left out
  }
}
