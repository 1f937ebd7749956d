import { z } from 'zod';

/** How a remote failed to show, as the page tells apart. */
export const FAILURES = [
  'unreachable', // 404, 5xx, network
  'hang',
  'integrity',
  'entry-threw',
  'init-threw',
  'module-missing',
  'chunk-lost',
  'render-threw',
  'contract',
] as const;

/** The JSON a page posts to `/beacon`. */
export const beaconSchema = z.object({
  build: z.string().max(140),
  set: z.string().max(40),
  candidate: z.boolean(),
  outcome: z.enum(['loaded', 'failed']),
  failure: z.enum(FAILURES).optional(),
  loadMilliseconds: z.number().min(0).max(120_000).optional(),
});

export const healthEventSchema = beaconSchema.extend({
  at: z.iso.datetime(),
  /** A hash, so that the record tells visitors apart and nothing more. */
  visitor: z.string().max(32),
});

export type Beacon = z.infer<typeof beaconSchema>;
export type HealthEvent = z.infer<typeof healthEventSchema>;
export type Failure = (typeof FAILURES)[number];
