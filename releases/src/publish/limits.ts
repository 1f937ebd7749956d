/** What one build may hold at most. */
export const LIMITS = { files: 2000, fileBytes: 10 * 1024 * 1024, buildBytes: 50 * 1024 * 1024 } as const;
