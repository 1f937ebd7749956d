import type { Writer } from '../channel/changeChannel.ts';
import { requireChannel } from '../channel/readChannel.ts';
import { abort } from '../operations/canary.ts';
import type { HealthReader } from './HealthReader.ts';
import { countedFrom, type GroupHealth, summarise } from './summarise.ts';

const told = (name: string, { visitors, failedVisitors, failures, p75LoadMilliseconds }: GroupHealth): string => {
  const classes = Object.entries(failures).map(([failure, count]) => `${failure} ${count}`);
  return `${name}: ${failedVisitors} of ${visitors} visitors failed (${classes.join(', ') || 'no failures'}), p75 load ${p75LoadMilliseconds ?? '–'} ms`;
};

/** Ends the candidate if it fails more than stable beyond chance, with the figures in the audit. Returns whether it did. */
export async function stopIfWorse(writer: Writer, reader: HealthReader): Promise<boolean> {
  const { document } = await requireChannel(writer.store, writer.channel, writer.key.publicKey);
  if (!document.candidate) return false;
  const health = summarise(await reader.events(countedFrom(document), writer.now()), document);
  if (!health.verdict?.worse || !health.candidate) return false;
  const { test, pValue, alpha } = health.verdict;
  const evidence = [
    told('candidate', health.candidate),
    told('control', health.stable),
    `${test}: p = ${pValue.toExponential(1)}, limit ${alpha}`,
  ];
  const why = 'the candidate fails more often than stable, beyond chance';
  await abort({ ...writer, who: 'auto-stop' }, { why, seq: document.seq, evidence });
  return true;
}
