import { putOver } from '../channel/catalog.ts';
import type { Writer } from '../channel/changeChannel.ts';
import { compose, replan } from '../channel/compose.ts';
import { requireChannel } from '../channel/readChannel.ts';
import type { GateCheck } from '../gate/gateCheck.ts';
import { type CheckResult, makeGate } from '../gate/runGate.ts';
import type { Provenance } from '../model/build.ts';
import { activate, lastGoodAfter } from '../operations/activate.ts';
import { abort, canary, promote } from '../operations/canary.ts';
import { kill } from '../operations/kill.ts';
import { diff, listBuilds, readLog } from '../operations/look.ts';
import { createOverride } from '../operations/override.ts';
import { resolveBuilds } from '../operations/resolveBuilds.ts';
import { rollback } from '../operations/rollback.ts';
import { publish } from '../publish/publish.ts';
import { readPackage } from '../publish/readPackage.ts';
import type { ReleaseClient } from './ReleaseClient.ts';

export interface LocalClientOptions {
  /** The browser check, or null to go without. */
  smoke: GateCheck | null;
  provenance: () => Provenance;
}

/** Works on a store directly, in the writer's name. */
export function localClient(writer: Writer, { smoke, provenance }: LocalClientOptions): ReleaseClient {
  const { store, catalog, channel, key } = writer;
  const current = async () => (await requireChannel(store, channel, key.publicKey)).document;
  const gate = () => makeGate(writer, { smoke });
  const ids = (words: readonly string[]) => resolveBuilds(store, words);
  return {
    status: current,
    builds: (name) => listBuilds(catalog, name),
    log: async (limit) => readLog(store, await current(), key.publicKey, limit),
    diff: async (a, b) => diff(store, await current(), key.publicKey, a, b),
    publish: async (folder, version) => {
      const { id, created } = await publish(store, await readPackage(folder, version), provenance());
      return { id, created };
    },
    check: async (builds) => checkBuilds(writer, await ids(builds), smoke),
    activate: async ({ builds, ...options }) => activate(writer, await ids(builds), { ...options, gate: gate() }),
    canary: async ({ builds, percent, ...options }) =>
      canary(writer, await ids(builds), percent, { ...options, gate: gate() }),
    promote: (request) => promote(writer, { ...request, gate: gate() }),
    abort: (request) => abort(writer, request),
    rollback: (request) => rollback(writer, request),
    kill: async ({ build, ...options }) => kill(writer, (await ids([build])).join(), options),
    override: async ({ builds, hours, why }) => {
      const made = await createOverride(writer, await ids(builds), hours, why);
      return { id: made.id, builds: made.builds, expires: made.expires, query: `?override=${made.id}` };
    },
  };
}

/** The gate's word on the channel's set with these builds put in; nothing is switched. */
async function checkBuilds(writer: Writer, builds: string[], smoke: GateCheck | null): Promise<CheckResult[]> {
  const { document } = await requireChannel(writer.store, writer.channel, writer.key.publicKey);
  const stable = putOver(document.stable?.builds ?? [], builds);
  const changed = builds.length > 0 ? builds : stable;
  const lastGood = lastGoodAfter(document, builds);
  const next = await compose(writer, document, replan(document, { stable, lastGood, candidate: null }));
  let found: CheckResult[] = [];
  const onResults = (results: CheckResult[]) => {
    found = results;
  };
  const judge = makeGate(writer, { smoke, onResults });
  await judge({ current: document, next, part: 'stable', changed });
  return found;
}
