// What a shell has exported for a product of its own: tests must not use its database, its backend or its model.

const SETTINGS =
  /^(?:AI|APP|BACKEND|BRAND|CHANNEL|CONNECT|CONSOLE|DATA|DATABASE|DEVTOOLS|DRAIN|HOST|IMG|LOCAL|LOG|MAIL|METRICS|NODE_ENV|OTEL|PAYMENT|PORT|PRICES|RATE|RECHARGE|RELEASES|REVERB|SECURITY|SENTRY|STORYTELLER|TRUST|VITALS|WECHAT)(?:_|$)/;

/** Takes the product's settings out of an environment, but for those that are kept. */
export function forgetSettings(environment = process.env, isKept = () => false) {
  for (const name of Object.keys(environment)) if (SETTINGS.test(name) && !isKept(name)) delete environment[name];
}
