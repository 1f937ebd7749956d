import type { RemoteModule } from '@liaozhai/shared/runtime';

/** Only the monolith build (development, benchmark) has remotes compiled in; it replaces this file. */
export const bundledRemotes: Record<string, { label: string; module: RemoteModule }> | null = null;
