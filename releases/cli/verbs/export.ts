import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { parseJson } from '../../src/model/build.ts';
import { exportSite } from '../../src/operations/exportSite.ts';
import { localStore } from '../context.ts';
import { print } from '../output.ts';
import { examples, options } from '../shared.ts';

interface ExportFlags {
  config?: string;
  connect: string[];
  img: string[];
}

const collect = (value: string, before: string[]): string[] => [...before, value];

async function readConfig(file: string | undefined): Promise<Record<string, unknown>> {
  const value = file ? parseJson(await readFile(file, 'utf8'), file) : {};
  return value instanceof Object ? { ...value } : {};
}

export const addExport = (program: Command) =>
  program
    .command('export <dir>')
    .description('what is stable as a tree for static hosting; run it after every switch')
    .option('--config <file>', "JSON of the page's runtime configuration")
    .option('--connect <source>', 'a further connect-src, e.g. wss://app.example', collect, [])
    .option('--img <source>', 'a further img-src', collect, [])
    .addHelpText('after', examples('export site', 'export site --config config.json --connect wss://app.example'))
    .action(async (folder: string, _, command: Command) => {
      const { json, config, connect, img, ...rest } = options<ExportFlags>(command);
      const { writer } = await localStore(rest);
      const result = await exportSite(writer, {
        folder,
        config: await readConfig(config),
        connectSrc: connect,
        imgOrigins: img,
      });
      print(json, result, [
        `${result.pages.length} pages and ${result.builds.length} builds in ${folder}, headers in _headers.`,
      ]);
    });
