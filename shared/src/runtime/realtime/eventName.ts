/** The name as `broadcastAs` gives it: Echo marks such with a dot; `App\Events\MessageCreated` comes as `MessageCreated`. */
export const toEventName = (heard: string): string =>
  heard.startsWith('.')
    ? heard.slice(1)
    : heard
        .replace(/^.*\\/, '')
        .replace(/\B[A-Z]/g, '.$&')
        .toLowerCase();
