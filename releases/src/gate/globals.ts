import { type BuildRecord, isRemote, type RemoteRecord } from '../model/build.ts';
import type { GateCheck } from './gateCheck.ts';

const globalsOf = ({ description }: RemoteRecord): string[] => [description.global, description.chunkGlobal];

function others(remote: RemoteRecord, records: readonly BuildRecord[]): RemoteRecord[] {
  return records.filter(isRemote).filter(({ id }) => id !== remote.id);
}

const contentOf = (id: string): string => id.slice(id.lastIndexOf('+'));

const clash = (id: string, rival: string): string =>
  contentOf(id) === contentOf(rival)
    ? `has the very files of ${rival}, only its version is another: keep that one, or publish what you changed`
    : `shares a global with ${rival}: derive global and chunkGlobal from the hash of the sources`;

/** No two builds that can meet share a container or chunk global, or one would run the other's chunks. */
export const globals: GateCheck = {
  name: 'globals',
  run: async ({ remotes, neighbours }) =>
    remotes.flatMap((remote) => {
      const mine = globalsOf(remote);
      if (mine[0] === mine[1])
        return [`${remote.id}: container and chunks share the global ${mine[0]}: give each its own`];
      const rivals = others(remote, [...remotes, ...neighbours]).filter((rival) =>
        globalsOf(rival).some((name) => mine.includes(name)),
      );
      return [...new Set(rivals.map(({ id }) => id))].map((id) => `${remote.id}: ${clash(remote.id, id)}`);
    }),
};
