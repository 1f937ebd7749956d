export { codePoints, firstCodePoints, shorten } from './codePoints';
export { anyErrorText, errorText, failureText, toastText } from './errorText';
export { formatPoints, formatSignedPoints } from './money';
export { formatBytes, formatCount, formatNumber } from './numbers';
export { parseUrl } from './parseUrl';
export { linesOf, type Passage, passagesOf } from './storyText';
export {
  type DayGroup,
  dayKey,
  formatClock,
  formatDate,
  formatDay,
  formatRelative,
  groupByDay,
  type Instant,
} from './time';
