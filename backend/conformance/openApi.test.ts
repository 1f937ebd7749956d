import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@rstest/core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { openBackend } from '../test/testBackend.ts';
import { missingCalls, openApi, openApiText } from './openApi.ts';

const file = join(import.meta.dirname, '../openapi.json');

test('backend/openapi.json is what the schemas say; `pnpm openapi` writes it', () => {
  expect(readFileSync(file, 'utf8') === openApiText()).toBe(true);
  expect(missingCalls()).toEqual([]);
});

test('it is valid OpenAPI 3.1, and no schema of it takes just anything', async () => {
  const { valid, errors } = await new Validator().validate(openApi());
  expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
  const { components } = openApi() as { components: { schemas: Record<string, { properties?: object }> } };
  const empty = Object.entries(components.schemas).filter(([, { properties }]) => !properties);
  expect(empty).toEqual([]);
  expect(openApiText()).not.toMatch(/: \{\}[,\n]/);
});

test('the reference backend serves it at /openapi.json, and again only if it changed', async () => {
  const { url } = await openBackend();
  const first = await fetch(`${url}/openapi.json`);
  expect([first.status, first.headers.get('content-type')]).toEqual([200, 'application/json']);
  expect(await first.json()).toEqual(openApi());
  const etag = first.headers.get('etag') ?? '';
  expect((await fetch(`${url}/openapi.json`, { headers: { 'If-None-Match': etag } })).status).toBe(304);
});
