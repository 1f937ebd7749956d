import { httpOrigin, logLevel, numberBetween, wholeNumber } from '@liaozhai/http/settings';
import { commaSeparated, originsSchema } from '@liaozhai/shared/contract';
import { metricsEntries } from '@liaozhai/telemetry/metrics';
import * as v from 'valibot';
import { readDsn } from './sentry.ts';

const port = wholeNumber(0, 65_535);
const someText = v.pipe(v.string(), v.minLength(1, 'must not be empty'));

const isAddress = (text: string, scheme: RegExp): boolean => URL.canParse(text) && scheme.test(new URL(text).protocol);

const reverbKey = v.pipe(
  v.string(),
  v.regex(/^[^\s/\\?#%]+$/, 'must be the key of the Reverb app, without spaces and slashes'),
);
const publicKey = v.pipe(
  v.string(),
  v.regex(/^MFkw[\w+/]{118}==$/, 'must be the public key that `pnpm release init` prints'),
);
const channel = v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]*$/, 'must be a name of small letters, digits and hyphens'));
const localModes = ['off', 'granted', 'anyone'] as const;
const localMode = v.picklist(localModes, `must be one of ${localModes.join(', ')}`);

/** A field of security.txt ends with its line, so blanks and control characters are refused. */
const securityAddress = (text: string): boolean =>
  /^[!-~]+$/.test(text) && isAddress(text, /^(https|mailto|tel):$/) && !/^mailto:[^@]*$/.test(text);
const contactCure = 'every entry must be an address like mailto:security@app.example or https://app.example/report';
const securityContacts = v.pipe(commaSeparated, v.array(v.pipe(v.string(), v.check(securityAddress, contactCure))));
const expiresCure = 'must be a time in UTC like 2027-06-30T00:00:00Z';
const securityExpires = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/, expiresCure),
  v.check((text) => !Number.isNaN(Date.parse(text)), expiresCure),
);
const webAddress = v.pipe(
  v.string(),
  v.check(
    (text) => securityAddress(text) && text.startsWith('https:'),
    'must be an address like https://app.example/security',
  ),
);
const dsnCure = 'must be a DSN like https://<key>@sentry.example/42';
const sentryDsn = v.pipe(
  v.string(),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const dsn = readDsn(dataset.value);
    if (dsn) return dsn;
    addIssue({ message: dsnCure });
    return NEVER;
  }),
);
const trueOrFalse = v.pipe(v.string(), v.parseBoolean(undefined, 'must be true or false'));

const setting = <Schema extends v.GenericSchema>(schema: Schema, about: string) => v.pipe(schema, v.description(about));

const schema = v.object(
  {
    PORT: setting(v.optional(port, '3000'), 'where the product is served'),
    HOST: setting(v.optional(someText, '127.0.0.1'), 'address to listen on; 0.0.0.0 for other machines'),
    DATA_DIR: setting(someText, 'folder for everything that is kept'),
    CONSOLE_PORT: setting(v.optional(port, '3001'), 'where the release console is served'),
    BACKEND_URL: setting(
      v.optional(httpOrigin),
      'a backend that runs elsewhere; the reference backend is not started then',
    ),
    REVERB_URL: setting(
      v.optional(httpOrigin),
      'where Reverb listens, for the socket /app; unset: the backend answers it as well',
    ),
    REVERB_APP_KEY: setting(
      v.optional(reverbKey),
      "the page's key for the socket; unset: `realtime.key` of the page's configuration",
    ),
    RELEASES_STORE: setting(v.optional(v.string()), 'release store, file:<folder> or s3://bucket/prefix'),
    RELEASES_PUBLIC_KEY: setting(
      v.optional(publicKey),
      "the only key whose releases are served; unset: the store's own record is believed",
    ),
    CHANNEL: setting(v.optional(channel, 'production'), 'channel that this server serves'),
    LOCAL_REMOTES: setting(
      v.optional(localMode, 'granted'),
      'who may run remotes from a dev server: nobody, by leave of a manager, or (development) anyone',
    ),
    IMG_ORIGINS: setting(v.optional(originsSchema, ''), 'further origins of images, comma-separated'),
    CONNECT_ORIGINS: setting(
      v.optional(originsSchema, ''),
      'further origins to connect to (a socket elsewhere), comma-separated',
    ),
    TRUST_PROXY: setting(v.optional(trueOrFalse, 'false'), 'true behind a proxy of your own that sets X-Forwarded-*'),
    DEVTOOLS: setting(
      v.optional(trueOrFalse, 'false'),
      "true: Redux DevTools in a visitor's browser may show the page's store",
    ),
    VITALS_SAMPLE: setting(
      v.optional(numberBetween(0, 1), '1'),
      'share of the pages that report what their readers felt; 0: none',
    ),
    SENTRY_DSN: setting(
      v.optional(sentryDsn),
      'where errors in the code of builds are forwarded to, without a word of readers',
    ),
    SECURITY_CONTACT: setting(
      v.optional(securityContacts, ''),
      'where to report security problems, for /.well-known/security.txt, comma-separated',
    ),
    SECURITY_EXPIRES: setting(
      v.optional(securityExpires),
      'until when security.txt is right, a year ahead at most; it is not served without, nor afterwards',
    ),
    SECURITY_POLICY: setting(v.optional(webAddress), 'address of the rules for reports, for security.txt'),
    LOG_LEVEL: setting(v.optional(logLevel), 'what is logged as JSON lines; unset: info with --serve, else warn'),
    DRAIN_SECONDS: setting(
      v.optional(wholeNumber(0, 600), '8'),
      'how long what is under way may take to finish after SIGTERM',
    ),
    ...metricsEntries,
    BACKEND_METRICS_PORT: setting(v.optional(port), 'port for /metrics of the reference backend that is started here'),
    HOST_CONFIG: setting(v.optional(v.string()), 'JSON file with the runtime configuration handed to the page'),
  },
  'must be set',
);

export type ServerEnv = v.InferOutput<typeof schema>;

const parse = (source: NodeJS.ProcessEnv) => v.safeParse(schema, source, { abortPipeEarly: true });

/** Returns one line for each invalid value, with its key and how to correct it. */
export const wrongSettings = (source: NodeJS.ProcessEnv): string[] =>
  (parse(source).issues ?? []).map(({ path, message }) => {
    const key = path?.[0].key as keyof typeof schema.entries;
    const about = v.getDescription(schema.entries[key]);
    return `${key}=${JSON.stringify(source[key])}: ${message} (${about}). Correct or unset it.`;
  });

/** Reads and checks the environment. Invalid values end the process, each with its line. */
export function readEnv(source: NodeJS.ProcessEnv = process.env): ServerEnv {
  const parsed = parse(source);
  if (parsed.success) {
    const problem = securityProblem(parsed.output);
    if (problem) console.warn(problem);
    return parsed.output;
  }
  for (const line of wrongSettings(source)) console.error(line);
  process.exit(1);
}

/** Returns a warning only: an expired date must not stop the server. */
function securityProblem({ SECURITY_CONTACT: contacts, SECURITY_EXPIRES: expires }: ServerEnv): string | null {
  if (contacts.length === 0) return null;
  if (expires && Date.parse(expires) > Date.now()) return null;
  const why = expires ? `SECURITY_EXPIRES=${expires} has passed` : 'SECURITY_EXPIRES is not set';
  return `! ${why}: security.txt is not served. Check the contact, and name a time within a year.`;
}
