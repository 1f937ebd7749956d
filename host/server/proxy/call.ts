import { Agent, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import { endToEnd, forwardedHeaders, sendTo } from './upstream.ts';

/** Shorter than any server keeps an idle connection (Node 5 s, nginx 75 s): one closed at the moment of reuse loses a call. */
const agentOptions = { keepAlive: true, timeout: 2_000 };
const agents = { 'http:': new Agent(agentOptions), 'https:': new SecureAgent(agentOptions) };

/** Shorter than the minute after which nginx considers this server failed. */
const ANSWER_TIMEOUT_MS = 50_000;
/** A response is buffered until it is complete, or up to this size and time. If it breaks off before, it becomes a 502. */
const MAX_BUFFERED_BYTES = 64 * 1024;
const MAX_BUFFER_MS = 100;

interface Call {
  /** origin of the backend */
  target: string;
  trustsProxy: boolean;
  answerMs?: number;
  /** Answers the request if there is no response to pass on. */
  refuse: (error: Error) => void;
}

export function forwardCall(request: IncomingMessage, response: ServerResponse, call: Call) {
  const { target, trustsProxy, answerMs = ANSWER_TIMEOUT_MS, refuse } = call;
  const { method, url: path, headers: requestHeaders } = request;
  const isChunked = requestHeaders['transfer-encoding'] !== undefined;
  const headers = forwardedHeaders(request, trustsProxy);
  if (isChunked) headers['transfer-encoding'] = 'chunked';
  const agent = agents[target.startsWith('https:') ? 'https:' : 'http:'];
  // a visitor who disconnects cancels the call and needs no answer
  const refuseUnlessGone = (error: Error) => {
    if (!response.destroyed) refuse(error);
  };
  const options = { method, path, headers, agent, timeout: answerMs };
  const upstreamRequest = sendTo(target, options, {
    onAnswer: (answer) => forwardAnswer(answer, response, () => refuseUnlessGone(new Error('the answer broke off'))),
    onRefused: refuseUnlessGone,
  });
  response.once('close', () => upstreamRequest.destroy());
  request.on('error', () => upstreamRequest.destroy());
  if (isChunked || requestHeaders['content-length'] !== undefined) request.pipe(upstreamRequest);
  else upstreamRequest.end();
}

/** Passes a response on. Nothing in it can end this process. */
function forwardAnswer(answer: IncomingMessage, response: ServerResponse, onBroken: () => void): void {
  const bufferedChunks: Buffer[] = [];
  let bufferedBytes = 0;
  let isBuffering = true;
  const writeHead = () => {
    isBuffering = false;
    response.statusCode = answer.statusCode ?? 502;
    for (const [name, value = ''] of Object.entries(endToEnd(answer.headers))) trySetHeader(response, name, value);
  };
  const stream = () => {
    clearTimeout(timer);
    answer.off('data', bufferChunk);
    writeHead();
    for (const chunk of bufferedChunks) response.write(chunk);
    answer.pipe(response);
  };
  const timer = setTimeout(stream, MAX_BUFFER_MS);
  const bufferChunk = (chunk: Buffer) => {
    bufferedChunks.push(chunk);
    bufferedBytes += chunk.length;
    if (bufferedBytes > MAX_BUFFERED_BYTES) stream();
  };
  answer.on('data', bufferChunk);
  answer.once('end', () => {
    if (!isBuffering) return;
    writeHead();
    response.end(Buffer.concat(bufferedChunks));
  });
  answer.once('close', () => {
    clearTimeout(timer);
    if (answer.complete) return;
    if (isBuffering) onBroken();
    else response.destroy();
  });
  // `close` follows
  answer.on('error', () => {});
}

function trySetHeader(response: ServerResponse, name: string, value: string | string[]): void {
  try {
    response.setHeader(name, value);
  } catch {
    // a header that HTTP does not allow is left out
  }
}
