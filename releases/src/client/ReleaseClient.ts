import type { Change } from '../channel/changeChannel.ts';
import type { CheckResult } from '../gate/runGate.ts';
import type { ChannelDocument } from '../model/channel.ts';
import type { BuildSummary, Difference, LogEntry } from '../operations/look.ts';

export interface SwitchRequest {
  builds: string[];
  why?: string;
  seq?: number;
  force?: boolean;
}

export interface RollbackRequest {
  name?: string;
  to?: number;
  why?: string;
  seq?: number;
}

export interface ReasonRequest {
  why?: string;
  seq?: number;
  force?: boolean;
}

export interface PublishResult {
  id: string;
  created: boolean;
}

export interface OverrideResult {
  id: string;
  builds: string[];
  expires: string;
  /** Appended to any page's address. */
  query: string;
}

/** What can be done to one channel, whether the store is here or behind a console. */
export interface ReleaseClient {
  status(): Promise<ChannelDocument>;
  builds(name?: string): Promise<BuildSummary[]>;
  log(limit: number): Promise<LogEntry[]>;
  diff(a: string, b: string): Promise<Difference[]>;
  publish(folder: string, version?: string): Promise<PublishResult>;
  check(builds: string[]): Promise<CheckResult[]>;
  activate(request: SwitchRequest): Promise<Change>;
  canary(request: SwitchRequest & { percent: number }): Promise<Change>;
  promote(request: ReasonRequest): Promise<Change>;
  abort(request: ReasonRequest): Promise<Change>;
  rollback(request: RollbackRequest): Promise<Change>;
  kill(request: { build: string; why?: string; seq?: number }): Promise<Change>;
  override(request: { builds: string[]; hours: number; why?: string }): Promise<OverrideResult>;
}
