import { MODULE_PROBES, type PageBuild } from '@liaozhai/shared/contract';
import type { Container } from './pagePlugin';
import { RemoteError, withTimeout } from './remoteError';

const canImport = (url: string) =>
  import(/* webpackIgnore: true */ url).then(
    () => true,
    () => false,
  );

/** Whether the browser enforces the integrity hashes of the page's import map. */
const checksIntegrity = async () => (await canImport(MODULE_PROBES.right)) && !(await canImport(MODULE_PROBES.wrong));

/** Runs a build's entry, an ES module. Rejects with RemoteError; `unchecked` if the browser does not enforce integrity hashes. */
export async function importEntry(remote: string, { entry }: PageBuild): Promise<Container> {
  if (!(await checksIntegrity())) throw new RemoteError(remote, 'unchecked');
  return withTimeout(remote, import(/* webpackIgnore: true */ new URL(entry, location.href).href));
}
