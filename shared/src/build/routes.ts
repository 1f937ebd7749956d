import { join } from 'node:path';
import { createJiti } from 'jiti';
import type { RouteDefinition, SlotDefinition } from '../contract/remote.ts';

type Declared = { routes?: RouteDefinition[]; slots?: SlotDefinition[] };

/** Reads what a remote declares by running its `src/routes.tsx` in Node; its pages stay unloaded behind `import()`. */
export async function readDeclaration(root: string): Promise<Required<Declared>> {
  const file = join(root, 'src/routes.tsx');
  const declared = await createJiti(import.meta.url, { jsx: { runtime: 'automatic' }, moduleCache: false })
    .import<Declared>(file)
    .catch((cause) => {
      throw new Error(
        `${file} cannot be read at build time: let it import only types, ./texts and pages behind import()`,
        { cause },
      );
    });
  return { routes: declared.routes ?? [], slots: declared.slots ?? [] };
}
