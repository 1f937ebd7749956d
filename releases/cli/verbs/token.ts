import type { Command } from 'commander';
import { createToken, listTokens, revokeToken } from '../../src/operations/tokens.ts';
import { localStore, whoami } from '../context.ts';
import { localTime, print, table } from '../output.ts';
import { count, examples, options } from '../shared.ts';

function addCreate(token: Command) {
  token
    .command('create <grant>')
    .description('manager, viewer, publisher:<name> or deployer:<name>; the token is shown once')
    .option('--label <text>', 'who it is for', '')
    .option('--days <n>', 'ends by itself after this many days', count)
    .action(async (grant: string, _, command: Command) => {
      const { json, label, days = null, ...rest } = options<{ label: string; days?: number }>(command);
      const { store } = await localStore(rest);
      const { token: secret, record } = await createToken(store, { grant, label, by: whoami(), days });
      print(json, { token: secret, id: record.id, grant, expires: record.expires }, [
        secret,
        `Shown only now. Revoke it with: token revoke ${record.id}`,
      ]);
    });
}

function addList(token: Command) {
  token
    .command('list')
    .description('all tokens; never their secrets')
    .action(async (_, command: Command) => {
      const { json, ...rest } = options(command);
      const tokens = (await listTokens((await localStore(rest)).store)).map(({ hash: _hash, ...shown }) => shown);
      const rows = tokens.map(({ id, role, name, label, at, by, revoked, expires }) => [
        id,
        name ? `${role}:${name}` : role,
        label,
        `${localTime(at)} by ${by}`,
        revoked ? `revoked ${localTime(revoked)}` : expires ? `until ${localTime(expires)}` : '',
      ]);
      print(json, tokens, table(rows));
    });
}

function addRevoke(token: Command) {
  token
    .command('revoke <id>')
    .description('ends a token at once')
    .action(async (id: string, _, command: Command) => {
      const { json, ...rest } = options(command);
      const { hash: _hash, ...shown } = await revokeToken((await localStore(rest)).store, id);
      print(json, shown, [`Token ${id} is revoked.`]);
    });
}

export function addToken(program: Command) {
  const token = program
    .command('token')
    .description('who may use the console and its API')
    .addHelpText(
      'after',
      examples('token create deployer:stories --label "stories CI"', 'token list', 'token revoke 3f9c1a7b20de'),
    );
  addCreate(token);
  addList(token);
  addRevoke(token);
}
