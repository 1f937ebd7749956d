import { z } from 'zod';
import type { Change } from '../channel/changeChannel.ts';
import { conflict, messageOf, type ReleaseError, refused, unreachable, usage } from '../errors.ts';
import type { Provenance } from '../model/build.ts';
import { canonicalJson } from '../model/canonicalJson.ts';
import { buildFolder } from '../model/ids.ts';
import { recordOf } from '../publish/publish.ts';
import { readPackage } from '../publish/readPackage.ts';
import type { PublishResult, ReleaseClient } from './ReleaseClient.ts';

const REQUEST_MILLISECONDS = 120_000;
const errorSchema = z.object({
  message: z.string(),
  cure: z.string().default(''),
  details: z.array(z.string()).default([]),
});

export interface HttpClientOptions {
  origin: string;
  token: string;
  channel: string;
  provenance: () => Provenance;
}

function failure(status: number, body: unknown): ReleaseError {
  const parsed = errorSchema.safeParse(body);
  const { message, cure, details } = parsed.success
    ? parsed.data
    : { message: `the console answered ${status}`, cure: '', details: [] };
  if (status === 409) return conflict(message, cure);
  if (status === 400) return usage(message, cure);
  if (status === 422) return refused(message, cure, details);
  return unreachable(message, cure || 'Check --store and RELEASES_TOKEN.');
}

type Send = <Answer>(method: string, path: string, body?: unknown) => Promise<Answer>;

function sender({ origin, token }: HttpClientOptions): Send {
  return async (method, path, body) => {
    const isBytes = body instanceof Uint8Array;
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': isBytes ? 'application/octet-stream' : 'application/json',
    };
    const payload = body === undefined ? undefined : isBytes ? new Uint8Array(body) : JSON.stringify(body);
    const signal = AbortSignal.timeout(REQUEST_MILLISECONDS);
    const response = await fetch(new URL(path, origin), {
      method,
      headers,
      body: payload,
      signal,
      redirect: 'error',
    }).catch((cause) => {
      throw unreachable(`${origin} does not answer: ${messageOf(cause)}`, 'Check --store and the network.');
    });
    const answer: unknown = await response.json().catch(() => null);
    if (!response.ok) throw failure(response.status, answer);
    return answer as never;
  };
}

async function publishOver(
  send: Send,
  options: HttpClientOptions,
  folder: string,
  version?: string,
): Promise<PublishResult> {
  const built = await readPackage(folder, version);
  const record = recordOf(built, options.provenance());
  const root = `/v1/${buildFolder(record.id)}`;
  for (const [path, body] of built.files) await send('PUT', `${root}/${path}`, body);
  return send<PublishResult>('PUT', `${root}/build.json`, Buffer.from(canonicalJson(record)));
}

/** Works through a console's HTTP API, as whoever the token belongs to. */
export function httpClient(options: HttpClientOptions): ReleaseClient {
  const send = sender(options);
  const channel = `channel=${encodeURIComponent(options.channel)}`;
  const get = <Answer>(path: string) => send<Answer>('GET', `/v1/${path}${path.includes('?') ? '&' : '?'}${channel}`);
  const post = <Answer = Change>(verb: string, body: unknown) => send<Answer>('POST', `/v1/${verb}?${channel}`, body);
  const word = encodeURIComponent;
  return {
    status: () => get('status'),
    builds: (name) => get(name ? `builds?name=${word(name)}` : 'builds'),
    log: (limit) => get(`log?limit=${limit}`),
    diff: (a, b) => get(`diff?a=${word(a)}&b=${word(b)}`),
    publish: (folder, version) => publishOver(send, options, folder, version),
    check: (builds) => post('check', { builds }),
    activate: (request) => post('activate', request),
    canary: (request) => post('canary', request),
    promote: (request) => post('promote', request),
    abort: (request) => post('abort', request),
    rollback: (request) => post('rollback', request),
    kill: (request) => post('kill', request),
    override: (request) => post('override', request),
  };
}
