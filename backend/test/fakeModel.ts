import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** The body of a request to the model. */
export interface ModelRequest {
  messages: { role: string; content: string }[];
  stream?: boolean;
  [field: string]: unknown;
}

/** Behaviour of a fake endpoint; `attempt` counts the calls from 1. */
export type Behaviour = (response: ServerResponse, request: ModelRequest, attempt: number) => void | Promise<void>;

/** Starts a local OpenAI-compatible endpoint with the given behaviour. */
export async function startModel(behave: Behaviour, port = 0) {
  const requests: ModelRequest[] = [];
  const server = createServer(async (incoming, response) => {
    let body = '';
    for await (const chunk of incoming) body += chunk;
    const request = JSON.parse(body) as ModelRequest;
    requests.push(request);
    await behave(response, request, requests.length);
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const event = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;
export const delta = (content: unknown): string => event({ choices: [{ index: 0, delta: { content } }] });
export const finish = (reason: string | null): string => event({ choices: [{ delta: {}, finish_reason: reason }] });
const done = 'data: [DONE]\n\n';

/** Responds with an event stream of these writes. */
export const streams =
  (...writes: (string | Uint8Array)[]): Behaviour =>
  async (response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    for (const write of writes) {
      response.write(write);
      // a pause, so that each write is a separate packet
      if (writes.length < 50) await sleep(2);
    }
    response.end();
  };

/** Responds with these writes and waits between them for longer than the end of an answer takes. */
const slowly =
  (...writes: string[]): Behaviour =>
  async (response) => {
    for (const [index, write] of writes.entries()) {
      if (index > 0) await sleep(1_100);
      response.write(write);
    }
    response.end();
  };

/** Responds with one body. */
const answers =
  (body: string | object, status = 200, headers: Record<string, string> = {}): Behaviour =>
  (response) => {
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
  };

export const message = (content: unknown, finish_reason = 'stop') =>
  answers({ choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason }] });

const whole = '*她抬眼*\n\n“公子，夜里风大。”';
const [first, second] = ['*她抬眼*\n\n', '“公子，夜里风大。”'] as const;
const half = '*她抬眼*\n\n“公子，夜里风大。”她又';
const bytes = (text: string) => Buffer.from(text);

/** Cuts a text into packets of `size` bytes. */
const inPackets = (text: string, size: number): Uint8Array[] => {
  const all = bytes(text);
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.subarray(index * size, (index + 1) * size),
  );
};

/** A piece of text with a finish reason of its own. */
const finalPiece = (content: string): string => event({ choices: [{ delta: { content }, finish_reason: 'stop' }] });

const ordinary = delta(first) + delta(second) + finish('stop') + done;
const chunk = (fields: object) => event({ choices: [{ delta: { content: first } }], ...fields }) + delta(second);

/** Complete answers, which are stored as `text` and charged. */
export const wholeAnswers: Record<string, { behave: Behaviour; text?: string }> = {
  'ordinary events': { behave: streams(ordinary) },
  'UTF-8 cut between bytes': { behave: streams(...inPackets(ordinary, 7)) },
  'data without a space': { behave: streams(ordinary.replaceAll('data: ', 'data:')) },
  'CRLF, with CR and LF in two writes': {
    behave: streams(
      ...inPackets(ordinary.replaceAll('\n', '\r\n'), 1).slice(0, 40),
      ...inPackets(ordinary.replaceAll('\n', '\r\n'), 1).slice(40),
    ),
  },
  'CR alone': { behave: streams(ordinary.replaceAll('\n', '\r')) },
  'comments between events': {
    behave: streams(': hi\n\n', delta(first), ':\n\n: keep-alive\n\n', delta(second), finish('stop'), done),
  },
  'a BOM first': { behave: streams('\uFEFF', ordinary) },
  'id, retry and event lines': {
    behave: streams(
      `id: 1\nretry: 10\nevent: message\n${delta(first)}`,
      `id: 2\n${delta(second)}`,
      finish('stop'),
      done,
    ),
  },
  'no [DONE]': { behave: streams(delta(first), delta(second), finish('stop')) },
  '[DONE] without a finish reason': { behave: streams(delta(first), delta(second), done) },
  'something after [DONE]': { behave: streams(ordinary, delta('多余'), event({ error: 'late' })) },
  'an error after the finish reason': {
    behave: streams(delta(first), delta(second), finish('stop'), event({ error: 'late' })),
  },
  'text after the finish reason': { behave: streams(delta(first), delta(second), finish('stop'), delta('多余'), done) },
  'text after a finish reason in the last piece': {
    behave: streams(delta(first), finalPiece(second), delta('多余')),
  },
  'a finish reason in each piece, the first one empty': {
    behave: slowly(finalPiece('') + finish('stop'), finalPiece(first), finalPiece(second)),
  },
  'a last line without a line feed': {
    behave: streams(delta(first), finalPiece(second).trimEnd()),
  },
  'data over several lines': {
    behave: streams(
      `data: {"choices":\ndata: [{"delta":{"content":\ndata: ${JSON.stringify(whole)}}}]}\n\n`,
      finish('stop'),
      done,
    ),
  },
  'pieces that each repeat the text so far': {
    behave: streams(...[1, 2, 3, 5, 8, 12, 16].map((end) => delta(whole.slice(0, end))), delta(whole), finish('stop')),
  },
  'pieces that repeat the text so far, none twice as long': {
    behave: streams(delta(first + second.slice(0, 5)), delta(whole), finish('stop')),
  },
  'the whole text again at the end': { behave: streams(delta(first), delta(second), delta(whole), finish('stop')) },
  'words that begin alike': {
    behave: streams(...['哈', '哈哈', '哈哈哈', '，公子'].map(delta), finish('stop')),
    text: '哈哈哈哈哈哈，公子',
  },
  'one sentence again and again without an end': {
    behave: async (response) => {
      for (; !response.destroyed; await sleep(1)) response.write(delta('夜里风大。').repeat(20));
    },
    text: '夜里风大。'.repeat(1_200),
  },
  'few letters, whose pieces each repeat the text so far': {
    behave: streams(...['她', '她点', '她点头。', '她点头。'].map(delta), finish('stop')),
    text: '她点头。',
  },
  'nothing but laughter': {
    behave: streams(...['哈', '哈哈', '哈哈哈'].map(delta), finish('stop')),
    text: '哈哈哈哈哈哈',
  },
  'nothing but words that begin alike': { behave: streams(delta('好'), delta('好的'), finish('stop')), text: '好好的' },
  'text escaped for HTML': {
    behave: streams(
      ...['“&qu', 'ot;甲 &am', 'p; 乙&#', '39;&#x27', ';&lt;丙&amp;lt;&nbsp;&fo', 'o;&'].map(delta),
      finish('stop'),
    ),
    text: `“"甲 & 乙''<丙&lt; &foo;&`,
  },
  'quotation marks escaped for HTML': {
    behave: streams(...['她笑&hell', 'ip;&ldqu', 'o;夜里风大&rdquo;'].map(delta), finish('stop')),
    text: '她笑…“夜里风大”',
  },
  'thoughts escaped for HTML': {
    behave: streams(...['&lt;thi', 'nk&gt;想', '&lt;/think&gt;', first, second].map(delta), finish('stop')),
  },
  'half a pair of surrogates in each of two pieces': {
    behave: streams(...['她笑\ud83d', '\ude00。&#55357;', '&#56832;', '\udc00\ud83d。'].map(delta), finish('stop')),
    text: '她笑😀。😀。',
  },
  'characters that are broken, invisible or turn the text round': {
    behave: streams(
      ...[
        '\ufffd夜\u0000\ufffd里&#0;',
        '\u202e风&#x202e;\u2066\u200b',
        '\u200b大\ue200\u{e0041}\u200d\u200d',
        '\u200d\u200d\u200d。❤️',
      ].map(delta),
      finish('stop'),
    ),
    text: '夜里风大\u200d\u200d\u200d\u200d。❤️',
  },
  'a finish reason in the last piece': {
    behave: streams(delta(first), finalPiece(second)),
  },
  'a finish reason in each piece, with pauses': { behave: slowly(finalPiece(first), finalPiece(second)) },
  'empty finish reasons': {
    behave: streams(
      event({ choices: [{ delta: { content: first }, finish_reason: '' }] }),
      delta(second),
      finish('stop'),
    ),
  },
  'a finish reason in capitals': { behave: streams(delta(whole), finish('STOP')) },
  'a connection that stays open after the finish reason': {
    behave: async (response) => {
      response.write(delta(whole) + finish('stop'));
      await sleep(3_000, undefined, { ref: false });
      response.destroy();
    },
  },
  'a connection that breaks after the finish reason': {
    behave: async (response) => {
      response.write(delta(whole) + finish('stop'));
      await sleep(20);
      response.destroy();
    },
  },
  'a whole JSON answer': { behave: message(whole) },
  'comments before a whole JSON answer': {
    behave: streams(
      ': keep-alive\n\n',
      ': keep-',
      'alive\r\n',
      JSON.stringify({ choices: [{ message: { content: whole } }] }),
    ),
  },
  'a whole JSON answer that calls itself a stream': {
    behave: answers({ choices: [{ message: { content: whole } }] }, 200, { 'Content-Type': 'text/event-stream' }),
  },
  'an event stream that calls itself HTML': { behave: answers(ordinary, 200, { 'Content-Type': 'text/html' }) },
  'a whole message in one event': {
    behave: streams(event({ choices: [{ message: { content: whole }, finish_reason: 'stop' }] })),
  },
  'the whole message again at the end': {
    behave: streams(
      delta(first),
      delta(second),
      event({ choices: [{ message: { content: whole }, finish_reason: 'stop' }] }),
    ),
  },
  'content as a list of parts': {
    behave: streams(
      delta([{ type: 'text', text: first }]),
      delta([
        { type: 'thinking', thinking: '想' },
        { type: 'text', text: second },
      ]),
      finish('stop'),
    ),
  },
  'pieces that a gateway made numbers': {
    behave: streams(delta('第'), delta(3), delta('天'), finish('stop')),
    text: '第3天',
  },
  'a JSON answer with a list of parts': { behave: message([{ type: 'text', text: whole }]) },
  'text instead of delta': {
    behave: streams(
      event({ choices: [{ text: first }] }),
      event({ choices: [{ text: second, finish_reason: 'stop' }] }),
    ),
  },
  'usage without totals': { behave: streams(chunk({ usage: { prompt_tokens: 3 } }), finish('stop')) },
  'usage as an empty object': { behave: streams(chunk({ usage: {} }), finish('stop')) },
  'usage null': { behave: streams(chunk({ usage: null }), finish('stop')) },
  'usage as text': { behave: streams(chunk({ usage: 'many' }), finish('stop')) },
  'usage with totals as text': { behave: streams(chunk({ usage: { total_tokens: '12' } }), finish('stop')) },
  'usage before the first word': { behave: streams(event({ usage: { total_tokens: 3 }, choices: [] }), ordinary) },
  'usage with null choices': {
    behave: streams(ordinary.replace(done, ''), event({ usage: { total_tokens: 3 }, choices: null }), done),
  },
  'choices null': { behave: streams(event({ choices: null }), ordinary) },
  'data: null': { behave: streams('data: null\n\n', ordinary) },
  'data: ping': {
    behave: streams('data: ping\n\n', delta(first), 'event: ping\ndata: {}\n\n', delta(second), finish('stop'), done),
  },
  'delta null': { behave: streams(event({ choices: [{ delta: null }] }), ordinary) },
  'content null': { behave: streams(delta(null), ordinary) },
  'error null': { behave: streams(event({ error: null, choices: [] }), ordinary) },
  'a second choice': { behave: streams(event({ choices: [{ index: 1, delta: { content: '另一' } }] }), ordinary) },
  'reasoning before the text': {
    behave: streams(
      event({ choices: [{ delta: { reasoning_content: '想' } }] }),
      event({ choices: [{ delta: { reasoning: '想' } }] }),
      ordinary,
    ),
  },
  'a think block': { behave: streams(delta('<thi'), delta('nk>想一想\n- 想'), delta('</think>\n\n'), ordinary) },
  'thoughts whose beginning is not marked': { behave: streams(delta('想一想。'), delta('再想。</think>'), ordinary) },
  'a code fence': { behave: streams(delta('```mark'), delta(`down\n${whole}\n\`\`\``), finish('stop')) },
  'headings, list marks and bold': {
    behave: streams(delta('## **第一幕**\n\n- *她'), delta('抬眼*\n1. “**请坐**。”'), finish('stop')),
    text: '第一幕\n\n*她抬眼*\n“请坐。”',
  },
  'quotation marks around all of it': {
    behave: streams(delta('"*她抬眼*'), delta('，夜里风大。"'), finish('stop')),
    text: '*她抬眼*，夜里风大。',
  },
  'thousands of pieces of one letter': {
    behave: streams([...'夜'.repeat(3_000)].map(delta).join(''), finish('stop')),
    text: '夜'.repeat(3_000),
  },
  'one piece of 200,000 letters': {
    behave: streams(delta('夜'.repeat(200_000)), finish('stop')),
    text: '夜'.repeat(6_000),
  },
  'a million letters without a blank': {
    behave: streams(delta('a'.repeat(1_000_000)), finish('stop')),
    text: 'a'.repeat(6_000),
  },
  'more sentences than fit': {
    behave: streams(delta('夜里风大。'.repeat(2_001)), finish('stop')),
    text: '夜里风大。'.repeat(1_200),
  },
  'one chunk on each line': {
    behave: streams([delta(first), delta(second), finish('stop')].map((each) => each.slice(6, -1)).join('')),
  },
  'a list of chunks': {
    behave: answers([{ choices: [{ delta: { content: whole }, finish_reason: 'stop' }] }]),
  },
  'a mark of byte order amid the stream': { behave: streams(delta(first), `\ufeff${delta(second)}`, finish('stop')) },
  'one choice without a list': { behave: streams(event({ choices: { delta: whole, finish_reason: 'stop' } })) },
  'a part of an object': {
    behave: streams(delta({ parts: [{ text: whole }, { text: '想', thought: true }] }), finish('stop')),
  },
  'a reason in capitals, named otherwise': {
    behave: streams(delta(whole), event({ choices: [{ delta: {}, finishReason: 'FINISH_REASON_STOP' }] })),
  },
  'an error without content': { behave: streams(event({ error: {}, code: 0, message: 'Success' }), ordinary) },
  'an event for the end': { behave: streams(delta(whole), 'event: done\ndata: {}\n\n') },
  'tokens that end a turn': { behave: streams(delta(`${whole}<|im_`), delta('end|></s>'), finish('stop')) },
  'tokens that end a turn, then another turn without an end': {
    behave: async (response) => {
      response.write(delta(`${whole}<|im_end|>\n<|im_start|>user\n`));
      await sleep(5_000, undefined, { ref: false });
      response.destroy();
    },
  },
  'the next line of the reader, up to the limit': {
    behave: streams(delta(`助手：${whole}\n\n用`), delta('户：你是谁？\n\n助手：小倩。'), finish('length')),
  },
  'the next line of the reader as a heading': {
    behave: streams(delta(`### Assistant:\n${whole}\n\n###`), delta(' Human\n你是谁？'), finish('stop')),
  },
  'thoughts in brackets': { behave: streams(delta('[THI'), delta(`NK]想[/THINK]${whole}`), finish('stop')) },
  'thoughts with a prefix': { behave: streams(delta(`<seed:think>想</seed:think>${whole}`), finish('stop')) },
  'a mark of a call that does not exist': { behave: streams(delta(`${whole}\n</tool_call>`), finish('stop')) },
  'a connection that closes before the answer, then whole': {
    behave: (response, request, attempt) =>
      attempt === 1 ? void response.socket?.destroy() : message(whole)(response, request, attempt),
  },
  'busy, then whole': {
    behave: (response, request, attempt) =>
      attempt === 1
        ? answers('busy', 429, { 'Retry-After': '0.1' })(response, request, 1)
        : streams(ordinary)(response, request, attempt),
  },
  'overloaded, then whole': {
    behave: (response, request, attempt) =>
      (attempt === 1 ? answers('', 529) : streams(ordinary))(response, request, attempt),
  },
  'a gateway that fails once': {
    behave: (response, request, attempt) =>
      (attempt === 1 ? answers('<html>', 502, { 'Retry-After': '0' }) : streams(ordinary))(response, request, attempt),
  },
  'thoughts marked next to the content': {
    behave: streams(
      event({ choices: [{ delta: { content: '想', thought: true } }] }),
      event({ choices: [{ delta: { content: '想', extra_content: { google: { thought: true } } } }] }),
      ordinary,
    ),
  },
  'channels that no server parsed': {
    behave: streams(
      delta('<|channel|>analysis<|mess'),
      delta('age|>想<|end|><|start|>assistant<|channel|>fi'),
      delta(`nal<|message|>${whole}<|return|>`),
      finish('stop'),
    ),
  },
  'busy by two headers, then whole': {
    behave: (response, request, attempt) =>
      (attempt === 1 ? answers('', 429, { 'Retry-After': '0, 0.1' }) : streams(ordinary))(response, request, attempt),
  },
  'unavailable until a date, then whole': {
    behave: (response, request, attempt) =>
      attempt === 1
        ? answers('', 503, { 'Retry-After': new Date().toUTCString() })(response, request, 1)
        : streams(ordinary)(response, request, attempt),
  },
};

/** Answers that break off. Their text is stored, and nothing is charged. */
export const cutAnswers: Record<string, { behave: Behaviour; text?: string; code?: string; outcome?: string }> = {
  'an error object': { behave: streams(delta(half), event({ error: { message: 'out of memory' } }), done) },
  'an error object after finish reasons in each piece': {
    behave: streams(finalPiece(first), finalPiece(half.slice(first.length)), event({ error: 'out of memory' }), done),
  },
  'an error event': { behave: streams(delta(half), 'event: error\ndata: {"message":"no"}\n\n', done) },
  'finish_reason error': { behave: streams(delta(half), finish('error'), done) },
  'a call of a tool': { behave: streams(delta(half), finish('tool_calls'), done) },
  'a call of a function': { behave: message(half, 'function_call') },
  'a call of a tool that is called complete': {
    behave: streams(delta(half), event({ choices: [{ delta: { tool_calls: [{ index: 0 }] } }] }), finish('stop'), done),
  },
  'a call of a tool in the text': {
    behave: streams(delta(half), delta('<tool_call>{"name":"search"}</tool_call>\n'), finish('stop'), done),
  },
  'a text of another encoding': { behave: streams(delta(half), delta('\ufffd'.repeat(9)), finish('stop'), done) },
  'an unknown finish reason': { behave: streams(delta(half), finish('insufficient_system_resource'), done) },
  content_filter: {
    behave: streams(delta(half), finish('content_filter'), done),
    code: 'filtered',
    outcome: 'filtered',
  },
  'a reason of another filter': {
    behave: streams(delta(half), finish('RECITATION'), finish('stop')),
    code: 'filtered',
    outcome: 'filtered',
  },
  'a limit of tokens under another name': {
    behave: streams(delta(half), finish('max_completion_tokens')),
    text: whole,
    code: 'too_long',
    outcome: 'length',
  },
  'an error by its code': { behave: streams(delta(half), event({ error_code: 336003, error_msg: 'bad' }), done) },
  'a clean end without a reason': { behave: streams(delta(half)) },
  'HTML in the stream': { behave: streams(delta(half), '<html><body>502 Bad Gateway</body></html>\n') },
  'HTML as data': { behave: streams(delta(half), 'data: <html>\n\n', done) },
  'half an event': { behave: streams(delta(half), 'data: {"choices":[{"delta":{"content":"夜') },
  'a broken connection': {
    behave: async (response) => {
      response.write(delta(half));
      await sleep(20);
      response.destroy();
    },
  },
  'a broken connection after finish reasons in each piece': {
    behave: async (response) => {
      response.write(finalPiece(first) + finalPiece(half.slice(first.length)));
      await sleep(20);
      response.destroy();
    },
  },
  'a JSON answer with an error': { behave: message(half, 'content_filter'), code: 'filtered', outcome: 'filtered' },
  'finish_reason length': {
    behave: streams(delta(half), finish('length'), done),
    text: whole,
    code: 'too_long',
    outcome: 'length',
  },
  'a JSON answer cut by its length': {
    behave: message(half, 'length'),
    text: whole,
    code: 'too_long',
    outcome: 'length',
  },
  silence: {
    behave: async (response) => {
      response.write(delta(half));
      await sleep(5_000, undefined, { ref: false });
      response.destroy();
    },
    code: 'timeout',
    outcome: 'timeout',
  },
};

/** Answers without visible text, which are refunded. */
export const failedAnswers: Record<string, { behave: Behaviour; said?: string; outcome: string; code?: string }> = {
  'nothing but blanks': { behave: streams(delta(' \n'), delta('　\t'), finish('stop'), done), outcome: 'empty' },
  'zero-width marks': {
    behave: streams(delta('\u200b\u2060\ufeff\u00ad\u3164'), finish('stop'), done),
    outcome: 'empty',
  },
  'no text': { behave: streams(finish('stop'), done), outcome: 'empty' },
  'an empty body': { behave: answers(''), outcome: 'empty' },
  'only thoughts': { behave: streams(delta('<think>想'), finish('length')), outcome: 'empty' },
  'only a call of a tool': {
    behave: streams(delta('<tool_call>\n{"name":'), delta('"search"}\n</tool_call>'), finish('stop')),
    outcome: 'empty',
  },
  'only broken characters': { behave: streams(delta('\ufffd\ufffd'), finish('stop')), outcome: 'cut' },
  'only a line of the reader': { behave: streams(delta('用户：夜里好冷'), finish('stop')), outcome: 'empty' },
  'only a refusal': {
    behave: streams(
      event({ choices: [{ delta: { content: null, refusal: '我不' } }] }),
      event({ choices: [{ delta: { refusal: '能写' } }] }),
      finish('stop'),
    ),
    outcome: 'filtered',
    code: 'filtered',
  },
  'only a refusal as a part': {
    behave: message([{ type: 'refusal', refusal: '我不能写' }]),
    outcome: 'filtered',
    code: 'filtered',
  },
  'only a code fence': { behave: streams(delta('```\n```'), finish('stop')), outcome: 'empty' },
  'an error first': {
    behave: streams(event({ error: { message: 'model not loaded' } })),
    outcome: 'failed',
    said: 'model not loaded',
  },
  'an error in a stream that quotes the key': {
    behave: streams(event({ error: { message: `${'x'.repeat(175)} bad key sk-secret` } })),
    outcome: 'failed',
    said: 'bad key …',
  },
  'a page that quotes the key': { behave: answers('<p>Bearer sk-secret'), outcome: 'failed', said: 'Bearer …' },
  'a proxy that wants a password': { behave: answers('', 407), outcome: 'unreachable', said: 'fetch failed' },
  'an error of another form': {
    behave: answers({ object: 'error', message: 'no such model' }),
    outcome: 'failed',
    said: 'no such model',
  },
  'no success': { behave: answers({ success: false, msg: 'quota' }), outcome: 'failed', said: 'quota' },
  'a code in place of an answer': {
    behave: answers({ code: 1210, msg: 'bad call' }),
    outcome: 'failed',
    said: 'bad call',
  },
  HTML: { behave: answers('<!doctype html><title>Sign in</title>'), outcome: 'failed', said: 'Sign in' },
  'half of a JSON answer': { behave: answers('{"choices":[{"message":{"content":"夜'), outcome: 'failed' },
  '401': { behave: answers({ error: { message: 'bad key sk-secret' } }, 401), outcome: 'refused', said: 'bad key …' },
  '400 of a filter': {
    behave: answers({ error: { code: 'content_filter' } }, 400),
    outcome: 'filtered',
    code: 'filtered',
  },
  '404': { behave: answers('404 page not found', 404), outcome: 'refused', said: 'page not found' },
  'a redirect': { behave: answers('', 301, { Location: '/login' }), outcome: 'refused', said: '/login' },
  'redirects without an end': { behave: answers('', 307, { Location: '/v1/x' }), outcome: 'refused', said: '/v1/x' },
  '429 twice': { behave: answers('slow down', 429, { 'Retry-After': '0' }), outcome: 'busy', said: 'slow down' },
  '429 until tomorrow': { behave: answers('quota', 429, { 'Retry-After': '86400' }), outcome: 'busy', said: 'quota' },
  '500': { behave: answers('boom', 500, { 'Retry-After': '0' }), outcome: 'failed', said: 'boom' },
  '100 kB of something else': {
    behave: answers(`<p>${'x'.repeat(100_000)}`, 502, { 'Retry-After': '0' }),
    outcome: 'failed',
    said: '<p>xxx',
  },
  'a refusal that goes on without an end': {
    behave: async (response) => {
      response.writeHead(500, { 'Retry-After': '0' });
      response.write('boom');
      await sleep(5_000, undefined, { ref: false });
      response.destroy();
    },
    outcome: 'failed',
    said: 'boom',
  },
  'no answer at all': {
    behave: async (response) => {
      await sleep(5_000, undefined, { ref: false });
      response.destroy();
    },
    outcome: 'timeout',
    code: 'timeout',
  },
  'a connection that breaks before the answer': {
    behave: (response) => void response.destroy(),
    outcome: 'unreachable',
  },
};

export const wholeText = whole;
export const halfText = half;
