import { defineConfig } from '@rstest/core';
import config from '../../rstest.config.ts';

// The backend's suite as `pnpm test:postgres` runs it: all but what is about the file of libsql, and what is about Postgres.
const programs = config.projects?.find((project) => typeof project === 'object' && project.name === 'programs');

export default defineConfig({
  ...(typeof programs === 'object' ? programs : {}),
  root: new URL('../..', import.meta.url).pathname,
  name: 'postgres',
  include: ['backend/**/*.test.ts', 'backend/test/*.postgres.ts'],
  exclude: ['backend/test/{backup,storage}.test.ts', '**/node_modules/**'],
});
