import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@rstest/core';
import { parse } from 'acorn';
import { repoRoot } from './facts.ts';
import { floor } from './floor.ts';
import { pageTemplate } from './page.ts';

const html = pageTemplate(join(repoRoot, 'host'), '.a{color:red}');
const scripts = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, script = '']) => script);

test('the inline scripts are ES5, so that an unsupported browser can show the notice', () => {
  expect(scripts).toEqual([expect.stringContaining('data-theme'), expect.stringContaining('liaozhai-set')]);
  for (const script of scripts) expect(() => parse(script, { ecmaVersion: 5 })).not.toThrow();
});

test('the icon comes with the page', () => {
  const icon = readFileSync(join(repoRoot, 'host/public/favicon.svg'), 'utf8').trim();
  const [, address = ''] = /<link rel="icon" [^>]*href="data:image\/svg\+xml,([^"]*)"/.exec(html) ?? [];
  expect(decodeURIComponent(address)).toBe(icon);
});

test('the notice names the versions of the floor', () => {
  for (const version of Object.values(floor)) expect(html).toContain(version);
  expect(html).not.toContain('lz-floor');
  expect(html).toContain('.a{color:red}');
});
