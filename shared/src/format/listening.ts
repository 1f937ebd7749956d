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
