import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createRsbuild } from '@rsbuild/core';
import { latestMessages } from '../../backend/src/chat/message.ts';
import type { Row } from './experienceReport.ts';
import { mainThreadClock, type Stage, stories } from './experienceStage.ts';
import type { PeerMessage } from './peers/messages.ts';

const here = dirname(fileURLToPath(import.meta.url));
const perSecond = 100;
const seconds = 5;

const peers = { sillyTavern: 'as SillyTavern draws', libreChat: 'as LibreChat draws' };

/** The script of each peer's page, as a production build. */
async function buildPeers(): Promise<Record<keyof typeof peers, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'liaozhai-peers-'));
  try {
    const entry = { sillyTavern: join(here, 'peers/sillyTavern.ts'), libreChat: join(here, 'peers/libreChat.tsx') };
    const builder = await createRsbuild({
      cwd: here,
      config: {
        mode: 'production',
        logLevel: 'error',
        source: { entry },
        output: { distPath: { root: folder }, filenameHash: false, cleanDistPath: false },
        tools: { swc: { jsc: { transform: { react: { runtime: 'automatic' } } } }, htmlPlugin: false },
        splitChunks: false,
      },
    });
    await builder.build();
    const scriptOf = (name: string) => {
      const files = readdirSync(folder, { recursive: true }) as string[];
      return readFileSync(join(folder, files.find((file) => file.endsWith(`${name}.js`)) ?? ''), 'utf8');
    };
    return { sillyTavern: scriptOf('sillyTavern'), libreChat: scriptOf('libreChat') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * The same thousand messages and the same pieces, drawn the way two well-known chats draw them, without the rest of those
 * products: no socket, no menus. ms of CPU per token, by row.
 */
export async function measurePeers(stage: Stage, ours: number): Promise<Row[]> {
  const scripts = await buildPeers();
  const { data } = latestMessages(stage.services, stage.user, { story_id: stories.middle, limit: 1000 });
  const messages = data.map(({ id, role, body }): PeerMessage => ({ id: String(id), role, text: body ?? '' }));
  const rows: Row[] = [];
  for (const name of ['sillyTavern', 'libreChat'] as const) {
    const { page, cdp } = await stage.openPhone();
    await page.goto('data:text/html,<!doctype html><meta charset="utf-8"><body style="margin:0">');
    await page.bringToFront();
    await page.addScriptTag({ content: scripts[name] });
    await page.evaluate((all) => window.__peer.show(all), messages);
    await page.locator('[role=log] .message').last().waitFor();
    // the long list is laid out before the first piece comes
    await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve)));
    const taskMs = await mainThreadClock(cdp);
    const before = await taskMs();
    const pieces = await page.evaluate(
      ([rate, duration]) => window.__watch.pieces(rate, duration, window.__peer.grow),
      [perSecond, seconds] as const,
    );
    const each = ((await taskMs()) - before) / pieces;
    rows.push({
      what: `the same, ${peers[name]}`,
      goal: '–',
      figure: `${each.toFixed(2)} ms (${pieces} tokens), ${(each / ours).toFixed(2)} × ours`,
      isMet: true,
    });
    await page.close();
  }
  return rows;
}
