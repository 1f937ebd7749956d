import { z } from 'zod';

/** As browsers write them: in small letters, without the port that goes without saying. */
const origins = z
  .string()
  .default('')
  .transform((list) =>
    list
      .split(',')
      .map((item) => item.trim())
      .filter(Boolean),
  )
  .refine(
    (list) => list.every((item) => /^https?:\/\/[^/\s]+\/?$/.test(item) && URL.canParse(item)),
    'a comma list of origins like https://example.org',
  )
  .transform((list) => list.map((item) => new URL(item).origin));

const whole = (fallback: number, min = 0, max = 1_000_000) =>
  z.coerce.number(`a whole number from ${min} to ${max}`).int().min(min).max(max).default(fallback);

const perMinute = (fallback: number) => whole(fallback, 1);

/** Scheme, host and port, without a path. */
const reverbOrigin = z
  .string()
  .refine(
    (text) => /^https?:/.test(text) && URL.canParse(text) && `${new URL(text).origin}/` === new URL(text).href,
    'an address like http://127.0.0.1:8080, without path, name or password',
  )
  .transform((text) => new URL(text).origin);

const schema = z.object({
  PORT: whole(0, 0, 65_535),
  DATA_DIR: z.string().min(1).default('.data'),
  APP_ORIGIN: origins,
  APP_KEY: z.string().min(16, 'at least 16 characters, or leave it out').optional(),
  REVERB_URL: reverbOrigin.optional(),
  REVERB_APP_ID: z
    .string()
    .regex(/^[\w-]+$/, 'the id of the Reverb app, letters and digits')
    .optional(),
  REVERB_APP_KEY: z.string().min(1).optional(),
  REVERB_APP_SECRET: z.string().min(1).optional(),
  AI_BASE_URL: z.url('an address like https://host/v1').optional(),
  AI_API_KEY: z.string().optional(),
  AI_MODEL: z.string().optional(),
  STORYTELLER_START_DELAY_MS: whole(600, 0, 60_000),
  STORYTELLER_PIECE_DELAY_MS: whole(90, 0, 60_000),
  STORYTELLER_PIECE_CHARACTERS: whole(4, 1, 2_000),
  STORYTELLER_SUGGESTION_DELAY_MS: whole(700, 0, 60_000),
  STORYTELLER_FAIL_RATE: z.coerce.number('a number from 0 to 1').min(0).max(1).default(0),
  STORYTELLER_FAIL_WORD: z.string().min(1).optional(),
  STORYTELLER_HANG_WORD: z.string().min(1).optional(),
  STORYTELLER_IDLE_TIMEOUT_MS: whole(15_000, 50, 600_000),
  STORYTELLER_TOTAL_TIMEOUT_MS: whole(60_000, 50, 600_000),
  RATE_LIMIT_LOGIN: perMinute(5),
  RATE_LIMIT_REGISTER: perMinute(10),
  RATE_LIMIT_RESEND: perMinute(6),
  RATE_LIMIT_PASSWORD: perMinute(5),
  RATE_LIMIT_MESSAGES: perMinute(60),
  RATE_LIMIT_WRITES: perMinute(120),
});

/** The Reverb that events are published through, and its app. */
export interface ReverbApp {
  /** origin, without a slash at the end */
  url: string;
  id: string;
  key: string;
  secret: string;
}

export type Env = z.infer<typeof schema> & {
  /** the key in the socket's address */
  REVERB_APP_KEY: string;
  /** null: pages hear events from sockets of this server's own */
  reverb: ReverbApp | null;
};

/** The key of the product's requirements, for sockets of this server's own. */
const placeholderKey = '{key}';

/** Says in one line which variable is wrong and what it should be. */
export class ConfigError extends Error {}

/** Reads and checks the environment; empty variables count as absent. Throws ConfigError. */
export function readEnv(variables: Record<string, string | undefined>): Env {
  const present = Object.fromEntries(
    Object.entries(variables).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = schema.safeParse(present);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new ConfigError(`${String(issue?.path[0])}: ${issue?.message}`);
  }
  if (parsed.data.AI_BASE_URL && !parsed.data.AI_MODEL) {
    throw new ConfigError('AI_MODEL: name the model that AI_BASE_URL serves, or leave AI_BASE_URL out');
  }
  return {
    ...parsed.data,
    REVERB_APP_KEY: parsed.data.REVERB_APP_KEY ?? placeholderKey,
    reverb: readReverb(parsed.data),
  };
}

function readReverb(settings: z.infer<typeof schema>): ReverbApp | null {
  const { REVERB_URL: url, REVERB_APP_ID: id, REVERB_APP_KEY: key, REVERB_APP_SECRET: secret } = settings;
  // a key alone is that of this server's own sockets
  if (!url && !id && !secret) return null;
  if (url && id && key && secret) return { url, id, key, secret };
  const needed = { REVERB_URL: url, REVERB_APP_ID: id, REVERB_APP_KEY: key, REVERB_APP_SECRET: secret };
  const missing = Object.entries(needed).flatMap(([name, value]) => (value ? [] : [name]));
  throw new ConfigError(
    `${missing.join(', ')}: missing; to publish through a Reverb, set all of ${Object.keys(needed).join(', ')}`,
  );
}
