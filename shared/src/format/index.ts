export { anyErrorText, errorText, failureText, toastText } from './errorText';
export { formatBytes, formatCount, formatNumber, formatPoints, formatSignedPoints } from './numbers';
export { parseUrl } from './parseUrl';
export { codePoints, firstCodePoints, linesOf, type Passage, passagesOf, shorten, wordsOf } from './storyText';
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
