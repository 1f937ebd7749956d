import type { BuildSummary } from '../../src/builds/catalog';
import type { Difference, LogEntry } from '../../src/channel/readChannel';
import type { Health } from '../../src/health/autoStop';
import type { ChannelDocument } from '../../src/model/channel';
import { nameOf, versionOf } from './format';
import { texts } from './texts';

export type { BuildSummary, ChannelDocument, Difference, Health, LogEntry };

/** What the page shows besides the health figures, as last seen. */
export interface Seen {
  status: ChannelDocument;
  log: LogEntry[];
  names: string[];
}

export interface Me {
  role: 'viewer' | 'publisher' | 'deployer' | 'manager';
  name: string | null;
}

/** Whether to offer switching a build of this name; the server decides for itself. */
export const maySwitch = (me: Me, name?: string): boolean =>
  me.role === 'manager' || (me.role === 'deployer' && name !== undefined && me.name === name);

/** `stories：1.0.0 → 1.1.0` */
export function changeLine({ name, from, to }: Difference): string {
  if (!to) return `${name}：${texts.confirm.removed}（${versionOf(from ?? '')}）`;
  return `${name}：${from ? versionOf(from) : texts.confirm.added} → ${versionOf(to)}`;
}

/** What putting these builds over stable would change. */
export function changesBy(status: ChannelDocument, builds: readonly string[]): string[] {
  const live = new Map((status.stable?.builds ?? []).map((id) => [nameOf(id), id]));
  return builds
    .filter((id) => live.get(nameOf(id)) !== id)
    .map((id) => changeLine({ name: nameOf(id), from: live.get(nameOf(id)) ?? null, to: id }));
}
