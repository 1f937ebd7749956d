/** What `read` returns; undefined where a browser lacks what it names, or an extension forbids it. */
export function attempt<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** `matchMedia`, also where an extension withholds it or its events. */
export function media(query: string): Pick<MediaQueryList, 'matches' | keyof EventTarget> {
  const list = attempt(() => window.matchMedia(query));
  return list?.addEventListener ? list : Object.assign(new EventTarget(), { matches: list?.matches === true });
}
