// What two packages must agree on, once. Runs in browsers and in Node; depends on the schema library alone.
export * from './addresses.ts';
export { BRAND, type Brand } from './brand.ts';
export * from './clock.ts';
export { type Id, losslessJson, parseJson, type ReportUnread, readAs } from './decode.ts';
export * from './errorReports.ts';
export * from './failures.ts';
export { fieldErrors } from './fieldErrors.ts';
export { GATE_FILE, type GateFile, gateFileSchema } from './gateFile.ts';
export { commaSeparated, contentSecurityPolicy, type FurtherOrigins, furtherOrigins, originsSchema } from './policy.ts';
export { pointsOf, readersWords } from './refusals.ts';
export * from './releases.ts';
export * from './remote.ts';
export * from './slots.ts';
export * from './units.ts';
export { LONGEST_WAIT_SECONDS, PATIENT, type Pace, pauseMs, retryAfterSeconds, waitOf } from './waits.ts';
export { wechatSignatureSchema } from './wechat.ts';
export * from './wire.ts';
