import { z } from 'zod';

const port = z.coerce.number().int().min(0).max(65_535);
const origins = z
  .string()
  .transform((text) =>
    text
      .split(',')
      .map((item) => item.trim())
      .filter(Boolean),
  )
  .pipe(
    z.array(z.url({ protocol: /^(https?|wss?)$/, error: 'every entry must be an origin like https://cdn.example' })),
  );

/** Scheme, host and port; a path would be the business of the program that is asked there. */
const origin = z
  .string()
  .refine((text) => /^https?:/.test(text) && URL.canParse(text) && `${new URL(text).origin}/` === new URL(text).href, {
    error: 'must be an address like http://127.0.0.1:8080, without path, name or password',
  })
  .transform((text) => new URL(text).origin);

const schema = z.object({
  PORT: port.default(3000).describe('where the product is served'),
  HOST: z.string().min(1).default('127.0.0.1').describe('address to listen on; 0.0.0.0 for other machines'),
  DATA_DIR: z.string().min(1).describe('folder for everything that is kept'),
  CONSOLE_PORT: port.default(3001).describe('where the release console is served'),
  BACKEND_URL: z
    .url({ protocol: /^https?$/, error: 'must be a URL like http://127.0.0.1:8000' })
    .optional()
    .describe('a backend that runs elsewhere; the reference backend is not started then'),
  REVERB_URL: origin
    .optional()
    .describe('where Reverb listens, for the socket /app; unset: the backend answers it as well'),
  REVERB_APP_KEY: z
    .string()
    .regex(/^[^\s/\\?#%]+$/, 'must be the key of the Reverb app, without spaces and slashes')
    .optional()
    .describe("the page's key for the socket; unset: `realtime.key` of the page's configuration"),
  RELEASES_STORE: z.string().optional().describe('release store, file:<folder> or s3://bucket/prefix'),
  RELEASES_PUBLIC_KEY: z
    .string()
    .regex(/^MFkw[\w+/]{118}==$/, 'must be the public key that `pnpm release init` prints')
    .optional()
    .describe("the only key whose releases are served; unset: the store's own record is believed"),
  CHANNEL: z
    .string()
    .regex(/^[a-z][a-z0-9-]*$/)
    .default('production')
    .describe('channel that this server serves'),
  IMG_ORIGINS: origins.default([]).describe('further origins of images, comma-separated'),
  CONNECT_ORIGINS: origins.default([]).describe('further origins to connect to (a socket elsewhere), comma-separated'),
  TRUST_PROXY: z.stringbool().default(false).describe('true behind a proxy of your own that sets X-Forwarded-*'),
  HOST_CONFIG: z.string().optional().describe('JSON file with the runtime configuration handed to the page'),
});

export type ServerEnv = z.infer<typeof schema>;

/** Reads and checks the environment. A wrong value ends the process with one line that names the key and the cure. */
export function readEnv(source: NodeJS.ProcessEnv = process.env): ServerEnv {
  const parsed = schema.safeParse(source);
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    const key = String(issue.path[0]);
    const about = schema.shape[key as keyof typeof schema.shape]?.description ?? '';
    console.error(`${key}=${JSON.stringify(source[key])}: ${issue.message} (${about}). Correct or unset it.`);
  }
  process.exit(1);
}
