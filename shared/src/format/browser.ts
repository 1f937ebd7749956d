/** Returns the result of `read`; undefined if it throws, as where a browser or an extension withholds an API. */
export function attempt<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Parses a URL; undefined if malformed. The oldest supported browsers lack `URL.canParse` and `URL.parse`. */
export const parseUrl = (address: string, base?: string): URL | undefined => attempt(() => new URL(address, base));

/**
 * Subscribes to events of a target, such as `['visibilitychange']` of the document. Returns the unsubscribe function, which is
 * also the cleanup of an effect.
 */
export function listenTo<Kind extends Event>(
  target: Pick<EventTarget, 'addEventListener'>,
  types: readonly string[],
  listener: (event: Kind) => void,
  options?: AddEventListenerOptions,
): () => void {
  const controller = new AbortController();
  for (const type of types)
    target.addEventListener(type, listener as EventListener, { ...options, signal: controller.signal });
  return () => controller.abort();
}

/** Joins the stop functions of several subscriptions into one. */
export const stopAll =
  (...stops: readonly (() => void)[]) =>
  (): void => {
    for (const stop of stops) stop();
  };

/** Passes on what a promise resolves to. Returns the function that prevents it, which is also the cleanup of an effect. */
export function whenResolved<Value>(promise: Promise<Value>, pass: (value: Value) => void): () => void {
  let isStopped = false;
  void promise.then((value) => isStopped || pass(value));
  return () => {
    isStopped = true;
  };
}
