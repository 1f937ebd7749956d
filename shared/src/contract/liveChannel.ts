import * as v from 'valibot';

const live = v.nullable(v.object({ set: v.string() }));

/**
 * What an open page reads of `channels/<name>.json`: no more than it needs and no stricter, since a page may outlive the
 * release system that served it. Apart from `channelFields`, whose checks would weigh on every page.
 */
export const liveChannelSchema = v.object({
  channel: v.string(),
  seq: v.number(),
  stable: live,
  candidate: live,
  moreCandidates: v.optional(v.array(v.object({ set: v.string() }))),
  /** Builds that must not run anywhere. */
  killed: v.array(v.string()),
  expires: v.string(),
});

export type LiveChannel = v.InferOutput<typeof liveChannelSchema>;
