import { defineConfig } from '@rstest/core';
import config from '../../rstest.config.ts';

// Configuration of `pnpm test:postgres`: the backend's tests except those of the libsql file, and those of Postgres.
const programs = config.projects?.find((project) => typeof project === 'object' && project.name === 'programs');

export default defineConfig({
  ...(typeof programs === 'object' ? programs : {}),
  root: new URL('../..', import.meta.url).pathname,
  name: 'postgres',
  include: ['backend/**/*.test.ts', 'backend/test/*.postgres.ts'],
  exclude: ['backend/test/{backup,storage}.test.ts', '**/node_modules/**'],
});
