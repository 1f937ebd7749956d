// Settings that the shell may have exported for another product. Tests must not use its database, backend or model.

const SETTINGS =
  /^(?:AI|APP|BACKEND|BRAND|CHANNEL|CONNECT|CONSOLE|DATA|DATABASE|DEVTOOLS|DRAIN|HOST|IMG|LOCAL|LOG|MAIL|METRICS|NODE_ENV|OTEL|PAYMENT|PORT|PRICES|RATE|RECHARGE|RELEASES|REVERB|SECURITY|SENTRY|STORYTELLER|TRUST|VITALS|WECHAT)(?:_|$)/;

/** Removes the product's settings from an environment, except those to keep. */
export function forgetSettings(environment = process.env, isKept = () => false) {
  for (const name of Object.keys(environment)) if (SETTINGS.test(name) && !isKept(name)) delete environment[name];
}
