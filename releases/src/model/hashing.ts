import { createHash } from 'node:crypto';

type Bytes = Uint8Array | string;

/** Lower-case hex SHA-256. */
export const sha256Hex = (bytes: Bytes): string => createHash('sha256').update(bytes).digest('hex');

/** Integrity as HTML spells it: `sha384-<base64>`. */
export const sha384Integrity = (bytes: Bytes): string =>
  `sha384-${createHash('sha384').update(bytes).digest('base64')}`;

/** The CSP source of an inline element: `sha256-<base64>`. */
export const sha256Source = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`;
