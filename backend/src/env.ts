import { httpOrigin, logLevel, numberBetween, wholeNumber } from '@liaozhai/http/settings';
import { metricsEntries } from '@liaozhai/telemetry/metrics';
import * as v from 'valibot';
import { type Prices, pricesFor, pricesSchema } from './prices.ts';
import type { WechatApp } from './wechat.ts';

/** Origins as browsers write them: in lower case, without a default port. */
const origins = v.pipe(
  v.optional(v.string(), ''),
  v.transform((list) => list.split(',').filter((item) => item.trim() !== '')),
  v.array(httpOrigin),
);

const integer = (fallback: number, min = 0, max = 1_000_000) => v.optional(wholeNumber(min, max), String(fallback));

const optionalInteger = (min: number, max = 1_000_000) => v.optional(wholeNumber(min, max));

const perMinute = (fallback: number) => integer(fallback, 1);

/** URL up to the API version; the path of the call is appended. */
const modelAddress = v.pipe(
  v.string(),
  v.trim(),
  v.check((text) => {
    const url = URL.canParse(text) ? new URL(text) : null;
    return !!url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.hash;
  }, 'an address like https://host/v1, without name and password (the key is AI_API_KEY)'),
  v.check((text) => !/\/completions\/?$/.test(new URL(text).pathname), 'leave /chat/completions out'),
);

const extraBodyCure = 'a JSON object of further fields like {"top_p":0.9}, without model, messages and stream';
const extraBody = v.pipe(
  v.string(),
  v.parseJson(undefined, extraBodyCure),
  v.record(v.string(), v.unknown(), extraBodyCure),
  v.check(
    (fields) => !Array.isArray(fields) && !['model', 'messages', 'stream'].some((key) => key in fields),
    extraBodyCure,
  ),
);

/** Text in the form of a key or an id, without the blanks around it. */
const matching = (pattern: RegExp, cure: string) => v.optional(v.pipe(v.string(), v.trim(), v.regex(pattern, cure)));

/** URL with a password, which the error must not contain. */
const secretUrl = (protocol: RegExp, isWhole: (url: URL) => boolean, cure: string) => {
  const fits = (text: string) => protocol.test(text) && URL.canParse(text) && isWhole(new URL(text));
  return v.optional(v.pipe(v.string(), v.check(fits, cure)));
};

const databaseUrl = secretUrl(
  /^postgres(ql)?:/,
  ({ pathname }) => pathname.length > 1,
  'an address like postgres://user:password@host:5432/liaozhai, or leave it out for a file in DATA_DIR',
);

const mailUrl = secretUrl(
  /^smtps?:/,
  ({ hostname }) => hostname !== '',
  'an address like smtps://user:password@mail.example:465, or leave it out for files in DATA_DIR',
);

const mailSender = matching(
  /^(?:[^<>\r\n]*<[^<>@\s]+@[^<>@\s]+>|[^<>@\s]+@[^<>@\s]+)$/,
  'a sender like Liaozhai <noreply@example.org>, an address your mail server sends for',
);

const secretKey = v.optional(v.pipe(v.string(), v.minLength(16, 'at least 16 characters, or leave it out')));

const text = v.optional(v.string());

const packagesCure =
  'a JSON list like [{"id":"p60","points":60,"priceCents":600}], the rechargePackages of the site\'s configuration';

const rechargePackage = v.object({
  id: v.pipe(v.string(), v.regex(/^[\w-]{1,64}$/)),
  points: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10_000_000)),
  priceCents: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100_000_000)),
  label: v.optional(v.string()),
});

export type RechargePackage = v.InferOutput<typeof rechargePackage>;

/** Parses `RECHARGE_PACKAGES`. Throws `ConfigError`. */
function readPackages(list: string): RechargePackage[] {
  try {
    return v.parse(v.pipe(v.array(rechargePackage), v.minLength(1)), JSON.parse(list));
  } catch {
    throw new ConfigError(`RECHARGE_PACKAGES: ${packagesCure}`);
  }
}

/** Parses `PRICES`. Throws `ConfigError`. */
function readPrices(text: string): Prices {
  try {
    return v.parse(v.pipe(v.string(), v.parseJson(), pricesSchema), text);
  } catch (error) {
    const [issue] = v.isValiError(error) ? error.issues : [];
    const at = issue ? (v.getDotPath(issue) ?? 'all of it') : 'all of it';
    throw new ConfigError(
      `PRICES: ${at}: a JSON object like {"continuePrice":2}, the rules of the site's configuration; whole points from 0`,
    );
  }
}

const schema = v.object({
  PORT: integer(0, 0, 65_535),
  BACKEND_HOST: v.optional(v.pipe(v.string(), v.ip('an IP address of this machine, 0.0.0.0 for all')), '127.0.0.1'),
  BACKEND_TRUST_PROXY: v.optional(v.picklist(['true', 'false'], 'true or false'), 'false'),
  DATA_DIR: v.optional(v.string(), '.data'),
  DATABASE_URL: databaseUrl,
  APP_ORIGIN: origins,
  DRAIN_SECONDS: integer(8, 0, 600),
  MAIL_URL: mailUrl,
  MAIL_FROM: mailSender,
  BRAND_NAME: v.optional(v.string(), '聊斋'),
  LOG_LEVEL: v.optional(logLevel, 'warn'),
  ...metricsEntries,
  APP_KEY: secretKey,
  REVERB_URL: v.optional(httpOrigin),
  REVERB_APP_ID: matching(/^[\w-]+$/, 'the id of the Reverb app, letters and digits'),
  REVERB_APP_KEY: text,
  REVERB_APP_SECRET: text,
  AI_BASE_URL: v.optional(modelAddress),
  AI_API_KEY: matching(/^[!-~]+$/, 'the key alone, without blanks and without the word Bearer'),
  AI_MODEL: v.optional(v.pipe(v.string(), v.trim(), v.minLength(1, 'the name of a model'))),
  AI_TEMPERATURE: v.optional(numberBetween(0, 2)),
  AI_MAX_TOKENS: optionalInteger(16),
  AI_EXTRA_BODY: v.optional(extraBody, '{}'),
  AI_PROMPTS_DIR: text,
  AI_HISTORY_CHARACTERS: integer(8_000, 500),
  WECHAT_APP_ID: matching(/^[\w-]+$/, 'the AppID of an Official Account, such as wx0123456789abcdef'),
  WECHAT_APP_SECRET: matching(/^[!-~]+$/, 'the AppSecret alone, without blanks'),
  WECHAT_API_ORIGIN: v.optional(httpOrigin, 'https://api.weixin.qq.com'),
  PAYMENT_PROVIDER: v.optional(v.picklist(['sandbox'], 'sandbox, or leave it out')),
  PAYMENT_WEBHOOK_SECRET: secretKey,
  PAYMENT_SANDBOX_DELAY_MS: integer(500, 0, 60_000),
  RECHARGE_PACKAGES: v.optional(v.string(), '[]'),
  PRICES: v.optional(v.string(), '{}'),
  STORYTELLER_START_DELAY_MS: integer(600, 0, 60_000),
  STORYTELLER_PIECE_DELAY_MS: integer(90, 0, 60_000),
  STORYTELLER_PIECE_CHARACTERS: integer(4, 1, 2_000),
  STORYTELLER_SUGGESTION_DELAY_MS: integer(700, 0, 60_000),
  STORYTELLER_FAIL_RATE: v.optional(numberBetween(0, 1), '0'),
  STORYTELLER_FAIL_WORD: text,
  STORYTELLER_HANG_WORD: text,
  STORYTELLER_FIRST_TIMEOUT_MS: optionalInteger(50, 600_000),
  STORYTELLER_IDLE_TIMEOUT_MS: integer(15_000, 50, 600_000),
  STORYTELLER_TOTAL_TIMEOUT_MS: integer(60_000, 50, 600_000),
  RATE_LIMIT_LOGIN: perMinute(5),
  RATE_LIMIT_REGISTER: perMinute(10),
  RATE_LIMIT_INVITES: perMinute(30),
  RATE_LIMIT_RESEND: perMinute(6),
  RATE_LIMIT_PASSWORD: perMinute(5),
  RATE_LIMIT_MESSAGES: perMinute(60),
  RATE_LIMIT_WRITES: perMinute(120),
});

/** The Reverb server and app through which events are published. */
export interface ReverbApp {
  /** origin, without a trailing slash */
  url: string;
  id: string;
  key: string;
  secret: string;
}

export type Env = v.InferOutput<typeof schema> & {
  /** the key in the socket's URL */
  REVERB_APP_KEY: string;
  /** null if this server's own sockets emit the events */
  reverb: ReverbApp | null;
  /** null if pages are not signed for WeChat */
  wechat: WechatApp | null;
  /** packages for sale; empty without a payment provider */
  packages: RechargePackage[];
  /** prices and rewards, with the price of the configured model applied */
  prices: Prices;
};

/** The literal key in the product's requirements, used for this server's own sockets. */
const literalKey = '{key}';

/** Its message names in one line the wrong variable and the expected value. */
export class ConfigError extends Error {}

/** Reads and validates the environment. Empty variables count as absent. Throws `ConfigError`. */
export function readEnv(variables: Record<string, string | undefined>): Env {
  const definedVariables = Object.fromEntries(
    Object.entries(variables).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = v.safeParse(schema, definedVariables, { abortPipeEarly: true });
  if (!parsed.success) {
    const [issue] = parsed.issues;
    throw new ConfigError(`${v.getDotPath(issue)}: ${issue.message}`);
  }
  assertModel(parsed.output);
  if (parsed.output.MAIL_URL && !parsed.output.MAIL_FROM) {
    throw new ConfigError('MAIL_FROM: name the sender that MAIL_URL sends for, such as Liaozhai <noreply@example.org>');
  }
  if (parsed.output.DATABASE_URL && !parsed.output.APP_KEY) {
    throw new ConfigError(
      'APP_KEY: with DATABASE_URL every backend needs the same one, since a link that one signs another has to know; make it with `openssl rand -hex 32`',
    );
  }
  return {
    ...parsed.output,
    REVERB_APP_KEY: parsed.output.REVERB_APP_KEY ?? literalKey,
    reverb: readReverb(parsed.output),
    wechat: readWechat(parsed.output),
    // packages are not validated if nothing is for sale
    packages: parsed.output.PAYMENT_PROVIDER ? readPackages(parsed.output.RECHARGE_PACKAGES) : [],
    prices: pricesFor(readPrices(parsed.output.PRICES), parsed.output.AI_MODEL),
  };
}

/** Requires an endpoint and a model together. A key alone is allowed: another program of the shell may use it. */
function assertModel(settings: v.InferOutput<typeof schema>): void {
  if (settings.AI_BASE_URL && !settings.AI_MODEL)
    throw new ConfigError('AI_MODEL: name the model that AI_BASE_URL serves, or leave AI_BASE_URL out');
  const names = ['AI_MODEL', 'AI_TEMPERATURE', 'AI_MAX_TOKENS', 'AI_PROMPTS_DIR'] as const;
  const dependentSetting = names.find((name) => settings[name] !== undefined);
  if (dependentSetting && !settings.AI_BASE_URL)
    throw new ConfigError(
      `AI_BASE_URL: missing, while ${dependentSetting} is set; name the endpoint, or leave ${dependentSetting} out`,
    );
}

function readReverb(settings: v.InferOutput<typeof schema>): ReverbApp | null {
  const { REVERB_URL: url, REVERB_APP_ID: id, REVERB_APP_KEY: key, REVERB_APP_SECRET: secret } = settings;
  // a key alone is the key of this server's own sockets
  if (!url && !id && !secret) return null;
  if (url && id && key && secret) return { url, id, key, secret };
  const requiredSettings = { REVERB_URL: url, REVERB_APP_ID: id, REVERB_APP_KEY: key, REVERB_APP_SECRET: secret };
  const missingNames = Object.entries(requiredSettings).flatMap(([name, value]) => (value ? [] : [name]));
  throw new ConfigError(
    `${missingNames.join(', ')}: missing; to publish through a Reverb, set all of ${Object.keys(requiredSettings).join(', ')}`,
  );
}

function readWechat(settings: v.InferOutput<typeof schema>): WechatApp | null {
  const { WECHAT_APP_ID: id, WECHAT_APP_SECRET: secret, WECHAT_API_ORIGIN: origin } = settings;
  if (!id && !secret) return null;
  if (id && secret) return { id, secret, origin };
  throw new ConfigError(
    `${id ? 'WECHAT_APP_SECRET' : 'WECHAT_APP_ID'}: missing; share cards in WeChat need both, or leave both out`,
  );
}
