import type { Command } from 'commander';
import * as v from 'valibot';
import { initChannel } from '../src/channel/changeChannel.ts';
import { listChannels } from '../src/channel/readChannel.ts';
import { usage } from '../src/errors.ts';
import { collectGarbage, sweepUploads } from '../src/operations/collectGarbage.ts';
import { exportSite } from '../src/operations/exportSite.ts';
import { sweepPreviews } from '../src/operations/override.ts';
import { createChannelFrom, sourceIn } from '../src/operations/promoteFrom.ts';
import { createToken, listTokens, revokeToken } from '../src/operations/tokens.ts';
import { consoleSender } from '../src/releaseClient.ts';
import { readSiteConfig } from '../src/serve/siteConfig.ts';
import { openStore, prepareStore } from '../src/store/store.ts';
import {
  addVerb,
  bearerFor,
  examples,
  formatBytes,
  isRemote,
  localStore,
  localTime,
  note,
  options,
  parseCount,
  print,
  spanOption,
  storeUrl,
  table,
  whoami,
  writerTo,
} from './context.ts';
import { loadSignIn, signIn, signOut } from './signIn.ts';
import { type FromOptions, openSource } from './switching.ts';

export const addInit = (program: Command) =>
  addVerb(program, 'init', 'make a store and its channel; on an existing one: prove it again and renew the channel')
    .addHelpText('after', examples('init', 'init --channel preview', 'init --store s3://bucket/liaozhai'))
    .action(async (_, command: Command) => {
      const { channel } = options(command);
      const openedStore = await openStore(storeUrl(command));
      const key = await prepareStore(openedStore);
      const { store } = openedStore;
      const { document, changed } = await initChannel(writerTo(store, key, channel));
      const result = {
        store: store.label,
        channel,
        seq: document.seq,
        renewed: changed,
        expires: document.expires,
        publicKey: key.publicKey,
      };
      print(command, result, [
        `${store.label} refuses conflicting writes, as it must.`,
        `Channel ${channel} is at state ${document.seq}, signed until ${document.expires}.`,
        `Public key: ${key.publicKey}`,
      ]);
    });

export function addChannel(program: Command) {
  const channel = addVerb(
    program,
    'channel',
    'the channels of a store: each is served separately, from the same builds',
  ).addHelpText('after', examples('channel create preview --from production', 'channel list'));
  addVerb(channel, 'create <name>', 'a channel that begins with what another one runs')
    .requiredOption('--from <channel>', 'the other channel')
    .option('--from-store <url>', 'its store, if it is another one')
    .option('--from-key <key>', "the other store's public key; without it its own record is believed")
    .action(async (name: string, { from, fromStore, fromKey }: FromOptions & { from: string }, command: Command) => {
      const writer = await localStore(command, name);
      const source = fromStore ? await openSource(from, fromStore, fromKey) : sourceIn(writer, from);
      const { document } = await createChannelFrom(writer, source);
      const { seq, stable } = document;
      print(command, { channel: name, seq, stable }, [
        `Channel ${name} is at state ${seq} and runs what ${from} runs:`,
        ...(stable?.builds ?? []).map((id) => `  ${id}`),
        `Serve it: CHANNEL=${name} npm start -- --serve`,
      ]);
    });
  addVerb(channel, 'list', 'the channels of the store').action(async (_, command: Command) => {
    const writer = await localStore(command);
    const names = await listChannels(writer.store);
    print(command, names, names);
  });
}

interface TokenOptions {
  label?: string;
  person?: string;
  days?: number;
}

export function addToken(program: Command) {
  const token = addVerb(program, 'token', 'who may use the console and its API').addHelpText(
    'after',
    examples('token create deployer:stories --label "stories CI"', 'token list', 'token revoke 3f9c1a7b20de'),
  );
  addVerb(token, 'create <grant>', 'manager, viewer, publisher:<name> or deployer:<name>; the token is shown once')
    .option('--label <text>', 'who it is for')
    .option('--person <name>', 'whose it is, in the log and where two persons decide; the label if left out')
    .option('--days <n>', 'expires after this many days; never if left out', parseCount)
    .action(async (grant: string, own: TokenOptions, command: Command) => {
      const writer = await localStore(command);
      const request = { grant, label: '', days: null, by: whoami(), ...own };
      const { token: secret, record } = await createToken(writer.store, writer.key, request);
      print(command, { token: secret, id: record.id, grant, expires: record.expires }, [
        secret,
        `Shown only now. Revoke it with: token revoke ${record.id}`,
        ...(record.name && (await writer.store.children(`versions/${record.name}/`)).length === 0
          ? [`Nothing of ${record.name} was published yet: check the name, or go on if its first build is to come.`]
          : []),
      ]);
    });
  addVerb(token, 'list', 'all tokens; never their secrets').action(async (_, command: Command) => {
    const writer = await localStore(command);
    const tokens = await listTokens(writer.store, writer.key.publicKey);
    const rows = tokens.map(({ id, role = '', name, label = '', person, at, by, revoked, expires, problem }) => [
      id,
      name ? `${role}:${name}` : role,
      person ? `${label} (${person})` : label,
      at ? `${localTime(at)} by ${by}` : '',
      problem ?? (revoked ? `revoked ${localTime(revoked)}` : expires ? `until ${localTime(expires)}` : ''),
    ]);
    print(command, tokens, table(rows));
  });
  addVerb(token, 'revoke <id>', 'revokes a token immediately').action(async (id: string, _, command: Command) => {
    const writer = await localStore(command);
    const { hash: _hash, ...shown } = await revokeToken(writer.store, writer.key, id);
    print(command, shown, [`Token ${id} is revoked.`]);
  });
}

/** Throws usage for a store without a console. */
function consoleUrl(url: string): string {
  if (isRemote(url) && URL.canParse(url)) return url;
  throw usage(`${url} is not a console's address`, 'Name it: `pnpm release login https://console.example`.');
}

export const addLogin = (program: Command) =>
  addVerb(
    program,
    'login [console]',
    "sign in as a person at the console's OpenID provider; programs use RELEASES_TOKEN",
  )
    .option('--browser', 'by a browser on this machine, though the provider offers a code for any other')
    .addHelpText('after', examples('login https://console.example', 'login --store https://console.example --browser'))
    .action(async (address: string | undefined, { browser = false }: { browser?: boolean }, command: Command) => {
      const url = consoleUrl(address ?? storeUrl(command));
      const { origin, person, expires } = await signIn({ url, browser, report: note });
      const { RELEASES_STORE: store, RELEASES_TOKEN: token } = process.env;
      print(command, { console: origin, person, expires }, [
        `Signed in to ${origin} as ${person}, until ${localTime(expires)}.`,
        ...(store && isRemote(store) && new URL(store).origin === origin ? [] : [`Use it with --store ${origin}.`]),
      ]);
      if (token) note('RELEASES_TOKEN is set and goes before this: unset it to act as yourself.');
    });

export const addLogout = (program: Command) =>
  addVerb(
    program,
    'logout [console]',
    'end the sign-in here, at the console, and as far as it can be renewed at the provider',
  )
    .addHelpText('after', examples('logout https://console.example'))
    .action(async (consoleAddress: string | undefined, _, command: Command) => {
      const url = consoleUrl(consoleAddress ?? storeUrl(command));
      const storedSignIn = await loadSignIn(url);
      const problems = storedSignIn ? await signOut(storedSignIn) : [];
      const { origin } = new URL(url);
      print(command, { console: origin, signedOut: storedSignIn !== null, problems }, [
        storedSignIn
          ? `Signed out of ${origin}: nothing of it is left here.`
          : `Nobody is signed in to ${origin} here.`,
      ]);
      for (const problem of problems) note(`not ended elsewhere, where it expires: ${problem}`);
    });

const grantEntries = { role: v.string(), name: v.nullable(v.string()) };
const meSchema = v.object({
  /** Missing in responses of older consoles. */
  id: v.optional(v.string()),
  label: v.string(),
  ...grantEntries,
  /** Grants of a person's other groups. */
  more: v.optional(v.array(v.object(grantEntries)), []),
});

export const addWhoami = (program: Command) =>
  addVerb(program, 'whoami', 'who acts, as the log names it, and what that person or token may')
    .addHelpText('after', examples('whoami', 'whoami --store https://console.example --json'))
    .action(async (_, command: Command) => {
      const url = storeUrl(command);
      if (!isRemote(url))
        return print(command, { who: whoami(), by: 'store', store: url }, [
          `${whoami()}, directly on ${url}: the holder of its signing key may do everything.`,
        ]);
      const by = process.env.RELEASES_TOKEN ? 'token' : 'login';
      const me = v.parse(meSchema, await consoleSender({ origin: url, token: await bearerFor(url) })('GET', '/v1/me'));
      const expires = by === 'login' ? ((await loadSignIn(url))?.expires ?? null) : null;
      const grants = [me, ...me.more].map(({ role, name }) => (name ? `${role}:${name}` : role));
      const who = me.id ? `${me.label} (${me.id})` : me.label;
      print(command, { who, by, grants, console: new URL(url).origin, expires }, [
        `${who}: ${grants.join(', ')}`,
        `at ${new URL(url).origin}, by ${expires ? `login, until ${localTime(expires)}` : 'RELEASES_TOKEN'}`,
      ]);
    });

interface ExportFlags {
  config?: string;
  connect?: string[];
  img?: string[];
}

const collect = (value: string, before: string[] = []): string[] => [...before, value];

export const addExport = (program: Command) =>
  addVerb(program, 'export <dir>', 'what is stable as a tree for static hosting; run it after every switch')
    .option('--config <file>', "JSON of the page's runtime configuration")
    .option('--connect <source>', 'a further connect-src, e.g. wss://app.example', collect)
    .option('--img <source>', 'a further img-src', collect)
    .addHelpText('after', examples('export site', 'export site --config config.json --connect wss://app.example'))
    .action(async (folder: string, { config, connect, img }: ExportFlags, command: Command) => {
      const writer = await localStore(command);
      const result = await exportSite(writer, {
        folder,
        config: config ? readSiteConfig(config) : {},
        connectSrc: connect,
        imgOrigins: img,
      });
      print(command, result, [
        `${result.pages.length} pages and ${result.builds.length} builds in ${folder}, headers in _headers.`,
      ]);
    });

export const addGc = (program: Command) =>
  addVerb(
    program,
    'gc',
    'remove builds that nothing reaches any more, none younger than 7 days, and uploads that were given up',
  )
    .option('--dry-run', 'only say which')
    .addOption(
      spanOption('--unclaimed <span>', 'uploads that never became a build go after so long: 30m, 24h, 3d', '24h'),
    )
    .addHelpText('after', examples('gc --dry-run', 'gc', 'gc --unclaimed 1h'))
    .action(async ({ dryRun = false, unclaimed }: { dryRun?: boolean; unclaimed: number }, command: Command) => {
      const writer = await localStore(command);
      const abortController = new AbortController();
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => abortController.abort());
      const { signal } = abortController;
      // first, because removing uploads needs no free space
      const sweptUploads = await sweepUploads(writer.store, { dryRun, unclaimedHours: unclaimed });
      const now = await writer.store.time();
      const previews = dryRun ? 0 : await sweepPreviews(writer.store, writer.key.publicKey, now);
      const { removed, kept } = await collectGarbage(writer.store, writer.key.publicKey, { dryRun, signal });
      const outcome = dryRun ? 'would be removed' : 'removed';
      print(command, { dryRun, removed, kept, previews, ...sweptUploads }, [
        ...sweptUploads.uploads,
        ...removed,
        `${sweptUploads.uploads.length} given up uploads (${formatBytes(sweptUploads.bytes)}) and ${removed.length} builds ${outcome}, ${kept} builds kept.`,
      ]);
    });
