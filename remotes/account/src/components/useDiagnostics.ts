import { pageInfo, useOnline, useRealtimeStatus, useUser } from '@liaozhai/shared/runtime';
import { texts } from '../texts';

export interface DiagnosticLine {
  name: string;
  value: string;
}

/** What support needs to know of this page; `at` is when, in milliseconds since 1970. */
export function useDiagnostics(at: number): DiagnosticLine[] {
  const user = useUser();
  const online = useOnline();
  const realtime = useRealtimeStatus();
  const { channel, set, builds } = pageInfo();
  const { support } = texts;
  return [
    { name: support.userId, value: user?.id ?? '' },
    { name: support.time, value: new Date(at).toISOString() },
    { name: support.channel, value: channel },
    { name: support.set, value: set },
    ...Object.entries(builds).map(([name, build]) => ({ name: support.build(name), value: build })),
    { name: support.network, value: online ? support.online : support.offline },
    { name: support.realtime, value: support.realtimeStates[realtime] },
    { name: support.screen, value: `${window.innerWidth}×${window.innerHeight} @${window.devicePixelRatio}` },
    { name: support.browser, value: navigator.userAgent },
  ].filter(({ value }) => value !== '');
}

/** One line each, as it is pasted into a mail. */
export const diagnosticsText = (lines: DiagnosticLine[]): string =>
  lines.map(({ name, value }) => `${name}：${value}`).join('\n');
