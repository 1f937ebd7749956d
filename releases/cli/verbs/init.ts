import type { Command } from 'commander';
import { Catalog } from '../../src/channel/catalog.ts';
import { initChannel, prepareStore } from '../../src/operations/init.ts';
import { openStore } from '../../src/store/openStore.ts';
import { storeUrl, whoami } from '../context.ts';
import { print } from '../output.ts';
import { examples, options } from '../shared.ts';

export const addInit = (program: Command) =>
  program
    .command('init')
    .description('make a store and its channel; on an existing one: prove it again and renew the channel')
    .addHelpText('after', examples('init', 'init --channel preview', 'init --store s3://bucket/liaozhai'))
    .action(async (_, command: Command) => {
      const { json, channel, ...rest } = options(command);
      const opened = await openStore(storeUrl({ channel, ...rest }));
      const key = await prepareStore(opened);
      const { store } = opened;
      const writer = { store, catalog: new Catalog(store), key, channel, who: whoami(), now: () => new Date() };
      const { document, changed } = await initChannel(writer);
      const result = {
        store: store.label,
        channel,
        seq: document.seq,
        renewed: changed,
        expires: document.expires,
        publicKey: key.publicKey,
      };
      print(json, result, [
        `${store.label} refuses conflicting writes, as it must.`,
        `Channel ${channel} is at state ${document.seq}, signed until ${document.expires}.`,
        `Public key: ${key.publicKey}`,
      ]);
    });
