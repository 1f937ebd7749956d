/** The name as `broadcastAs` gives it, also of an event that comes by its class: `App\Events\MessageCreated`. */
export function toEventName(heard: string): string {
  // Echo takes its own namespace off, and puts a dot before everything else
  const name = heard.replace(/^\./, '').replace(/^.*\\/, '');
  return /^[A-Z]/.test(name) ? name.replace(/\B[A-Z]/g, '.$&').toLowerCase() : name;
}
