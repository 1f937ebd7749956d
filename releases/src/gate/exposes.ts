import type { RemoteRecord } from '../model/build.ts';
import { buildFolder } from '../model/ids.ts';
import { type GateCheck, type GateSubject, isChanged } from './gateCheck.ts';

async function problemsOf({ store }: GateSubject, { id, description }: RemoteRecord): Promise<string[]> {
  const problems: string[] = [];
  const { exposes, module, entry, global, chunkGlobal, routes, slots } = description;
  if (!exposes.includes('./remote')) problems.push('exposes no "./remote": expose src/remote.ts under that name');
  if (module.js.length === 0) problems.push('names no script of its exposed module in module.js');
  if (routes.length + slots.length === 0) problems.push('has neither a route nor a slot, so nobody could open it');
  const source = (await store.read(`${buildFolder(id)}/${entry}`))?.toString('utf8') ?? '';
  for (const [field, name] of Object.entries({ global, chunkGlobal }))
    if (!source.includes(name))
      problems.push(`its ${entry} does not contain the ${field} "${name}" that its description names`);
  return problems.map((line) => `${id}: ${line}`);
}

/** A remote exposes what the host loads, under the names it says. */
export const exposes: GateCheck = {
  name: 'exposes',
  run: async (subject) => {
    const changed = subject.remotes.filter((remote) => isChanged(subject, remote));
    return (await Promise.all(changed.map((remote) => problemsOf(subject, remote)))).flat();
  },
};
