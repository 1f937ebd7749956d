// Definitions that several packages share. Runs in browsers and in Node; depends only on the schema library.
export * from './addresses.ts';
export { BRAND, type Brand } from './brand.ts';
export * from './capabilities.ts';
export * from './clock.ts';
export { flatPage, type Id, identityOf, losslessJson, parseJson, prose, type ReportUnread, readAs } from './decode.ts';
export * from './errorReports.ts';
export * from './events.ts';
export * from './failures.ts';
export { fieldErrors } from './fieldErrors.ts';
export { GATE_FILE, type GateFile, gateFileSchema } from './gateFile.ts';
export { commaSeparated, contentSecurityPolicy, type FurtherOrigins, furtherOrigins, originsSchema } from './policy.ts';
export { pointsOf, priceOf, readersWords } from './refusals.ts';
export * from './releases.ts';
export * from './remote.ts';
export * from './slots.ts';
export { statedFailure } from './statedFailure.ts';
export { clean } from './visible.ts';
export {
  DAY_MS,
  HOUR_MS,
  MAX_WAIT_SECONDS,
  MINUTE_MS,
  PATIENT,
  type Pace,
  pauseMs,
  retryAfterSeconds,
  SECOND_MS,
  waitOf,
} from './waits.ts';
export * from './wire.ts';
