import { createToken } from '../../src/operations/tokens.ts';
import { openTestStore } from '../../src/testing/openTestStore.ts';
import { createApi } from './api.ts';
import { ConsoleContext } from './ConsoleContext.ts';

export const GRANTS = ['viewer', 'publisher:stories', 'deployer:stories', 'deployer:chat', 'manager'];

/** The API over a test store of its own, without a browser check; `createOwn` makes another over the same store. */
export async function openTestApi() {
  const at = await openTestStore();
  const { store, key, writer } = at;
  const context = { store, catalog: writer.catalog, key, channel: 'production', smokeFor: async () => null };
  const createOwn = () => createApi(new ConsoleContext(context));
  const tokens: Record<string, string> = {};
  for (const grant of GRANTS)
    tokens[grant] = (await createToken(store, { grant, label: grant, by: 'test', days: null })).token;
  const bearer = (grant: string) => ({ authorization: `Bearer ${tokens[grant]}` });
  return { at, api: createOwn(), createOwn, tokens, bearer };
}
