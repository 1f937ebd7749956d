import { MODULE_PROBES, type PageBuild } from '@liaozhai/shared/contract';
import type { Container } from './pagePlugin';
import { inTime, RemoteError } from './remoteError';

const runs = (url: string) =>
  import(/* webpackIgnore: true */ url).then(
    () => true,
    () => false,
  );

/** Whether the browser enforces the integrity hashes of the page's import map. */
const isChecking = async () => (await runs(MODULE_PROBES.right)) && !(await runs(MODULE_PROBES.wrong));

/** Runs a build's entry, an ES module. Rejects with RemoteError; `unchecked` if the browser does not enforce integrity hashes. */
export async function importEntry(remote: string, { entry }: PageBuild): Promise<Container> {
  if (!(await isChecking())) throw new RemoteError(remote, 'unchecked');
  return inTime(remote, import(/* webpackIgnore: true */ new URL(entry, location.href).href));
}
