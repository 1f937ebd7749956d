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

const schema = z.object({
  PORT: whole(0, 0, 65_535),
  DATA_DIR: z.string().min(1).default('.data'),
  APP_ORIGIN: origins,
  APP_KEY: z.string().min(16, 'at least 16 characters, or leave it out').optional(),
  REVERB_APP_KEY: z.string().min(1).default('{key}'),
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

export type Env = z.infer<typeof schema>;

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
  return parsed.data;
}
