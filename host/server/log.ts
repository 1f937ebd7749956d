import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Logger, pino } from 'pino';

export type Log = Logger;

/** One JSON line an entry on stdout, with `service` and an ISO time; written before the call returns, so none is lost at an end. */
export const createLog = (level: string, destination?: { write(line: string): void }): Log => {
  const options = {
    level,
    base: { service: 'front', pid: process.pid },
    formatters: { level: (label: string) => ({ level: label }) },
    timestamp: pino.stdTimeFunctions.isoTime,
  };
  return destination ? pino(options, destination) : pino(options);
};

const healthPaths = ['/healthz', '/readyz'];

const sound = /^[\w-]{8,64}$/;

/**
 * Gives a request its id, the page's if that sent one: the backend gets it, the answer carries it. Logs one line when the answer is
 * over, without the query, since links of mails carry signatures there.
 */
export function logRequest(log: Log, request: IncomingMessage, response: ServerResponse): void {
  const from = performance.now();
  const given = request.headers['x-request-id'];
  const requestId = typeof given === 'string' && sound.test(given) ? given : randomUUID();
  request.headers['x-request-id'] = requestId;
  response.setHeader('x-request-id', requestId);
  response.once('close', () => {
    const { method, url = '' } = request;
    const [path] = url.split('?');
    const ms = Math.round(performance.now() - from);
    // who went away before the end got no answer, whatever its status was to be
    const status = response.writableFinished ? response.statusCode : 499;
    // asked every few seconds by whoever watches
    const level = path && healthPaths.includes(path) ? 'debug' : 'info';
    log[level]({ requestId, method, path, status, ms }, 'request');
  });
}
