import type { RemoteModule } from '@liaozhai/shared/runtime';

/** Null except in the monolith build (development, benchmark), which replaces this file and compiles remotes in. */
export const bundledRemotes: Record<string, { label: string; module: RemoteModule }> | null = null;
