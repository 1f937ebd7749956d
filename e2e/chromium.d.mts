/** Path of a Chromium that exists, or null after saying how to get one. */
export function findChromium(): string | null;
