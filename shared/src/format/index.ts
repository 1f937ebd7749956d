export { codePoints, firstCodePoints, shorten } from './codePoints';
export { anyErrorText, errorText, failureText, toastText } from './errorText';
export { formatBytes, formatCount, formatNumber, formatPoints, formatSignedPoints } from './numbers';
export { parseUrl } from './parseUrl';
export { linesOf, type Passage, passagesOf, wordsOf } from './storyText';
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
export { missingText, PASSWORD_CHARACTERS, passwordProblem } from './validation';
