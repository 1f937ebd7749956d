import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageFacts } from '../../../shared/src/build/facts.ts';
import { repoRoot } from './repoRoot.ts';

/** A build of a remote from changed sources: one part shows `says`, or the build is broken in one way. */
export interface Edition {
  remote: string;
  /** route or slot that shows the text */
  part: string;
  says: string;
  broken?: Breakage;
}

export type Breakage = 'entry throws' | 'module throws' | 'module missing' | 'first render throws' | 'wrong contract';

function edit(file: string, change: (text: string) => string) {
  const before = readFileSync(file, 'utf8');
  const after = change(before);
  if (after === before) throw new Error(`nothing to change in ${file}: the sources have moved on, mend this test`);
  writeFileSync(file, after);
}

const page = (original: string, { says, broken }: Edition) => `import Page from '${original}';

export default function Edition(props: object) {
  ${broken === 'first render throws' ? `throw new Error('${says}');` : ''}
  return (
    <>
      <p>${says}</p>
      <Page {...props} />
    </>
  );
}
`;

/** Wraps the part's page. */
function changeSources(root: string, edition: Edition) {
  const pageImport = new RegExp(`(import\\(/\\* webpackChunkName: "${edition.part}" \\*/ )'([^']+)'`);
  let original = '';
  edit(join(root, 'src/routes.tsx'), (text) =>
    text.replace(pageImport, (_, start: string, path: string) => {
      original = path;
      return `${start}'./Edition'`;
    }),
  );
  writeFileSync(join(root, 'src/Edition.tsx'), page(original, edition));
  const remote = join(root, 'src/remote.ts');
  if (edition.broken === 'module throws') edit(remote, (text) => `throw new Error('broken module');\n${text}`);
  if (edition.broken === 'wrong contract')
    edit(remote, (text) => text.replace('defineRemote({', "defineRemote({ contract: '^9.0.0',"));
}

/** Applies breakages that a remote's sources cannot express. */
function changeBuild(dist: string, { broken }: Edition) {
  const entry = join(dist, 'remoteEntry.js');
  if (broken === 'entry throws') edit(entry, (text) => `throw new Error('broken entry');\n${text}`);
  if (broken === 'module missing') edit(entry, (text) => text.replaceAll('"./remote"', '"./elsewhere"'));
}

/** Finished editions, shared by workers and runs. The folder's name is a hash of the edition, its sources and this file. */
const editionsFolder = join(repoRoot, 'test-results/editions');

/** Returns the folder with the edition's build. If two workers build the same edition, one result remains. */
export async function buildEdition(edition: Edition): Promise<string> {
  const { sourceHash } = packageFacts('remote', join(repoRoot, 'remotes', edition.remote));
  const key = createHash('sha256')
    .update(JSON.stringify([edition, sourceHash, readFileSync(import.meta.filename, 'utf8')]))
    .digest('hex')
    .slice(0, 16);
  const folder = join(editionsFolder, `${edition.remote}-${key}`);
  if (existsSync(folder)) return folder;
  const { dist, remove } = await build(edition);
  mkdirSync(editionsFolder, { recursive: true });
  const temporaryFolder = mkdtempSync(join(editionsFolder, 'unfinished-'));
  cpSync(dist, temporaryFolder, { recursive: true });
  remove();
  try {
    renameSync(temporaryFolder, folder);
  } catch (cause) {
    if (!existsSync(folder)) throw cause;
    rmSync(temporaryFolder, { recursive: true });
  }
  return folder;
}

/** Builds an edition from a copy of the remote's sources. Returns the dist folder, and a function that removes the copy. */
async function build(edition: Edition): Promise<{ dist: string; remove: () => void }> {
  const original = join(repoRoot, 'remotes', edition.remote);
  const root = mkdtempSync(join(tmpdir(), `liaozhai-${edition.remote}-`));
  for (const name of ['package.json', 'rsbuild.config.ts', 'src'])
    cpSync(join(original, name), join(root, name), { recursive: true });
  symlinkSync(join(original, 'node_modules'), join(root, 'node_modules'), 'junction');
  changeSources(root, edition);
  const rsbuild = join(root, 'node_modules/@rsbuild/core/bin/rsbuild.js');
  const env = { ...process.env, NODE_ENV: 'production' };
  await promisify(execFile)(process.execPath, [rsbuild, 'build'], { cwd: root, env });
  const dist = join(root, 'dist');
  changeBuild(dist, edition);
  return { dist, remove: () => rmSync(root, { recursive: true, force: true }) };
}
