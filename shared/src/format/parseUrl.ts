/** The address as a URL, undefined where it is none. `URL.canParse` and `URL.parse` are younger than the oldest supported browsers. */
export function parseUrl(address: string, base?: string): URL | undefined {
  try {
    return new URL(address, base);
  } catch {
    return undefined;
  }
}
