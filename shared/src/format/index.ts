export { serverNow } from '../contract/clock';
export { isBlank } from '../contract/visible';
export { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../contract/waits';
export { copiedCredentials, SESSION_EXPIRED } from './credentials';
export {
  anyErrorText,
  errorText,
  failureText,
  hasNetwork,
  problemId,
  toastText,
} from './errorText';
export { type Found, findAll } from './find';
export { inSentence, UNNAMED, UNREADABLE, UNTITLED } from './foreignText';
export {
  codePoints,
  emailProblem,
  firstCodePoints,
  firstGrapheme,
  meantLogin,
  meantPassword,
  missingText,
  PASSWORD_CHARACTERS,
  parseUrl,
  passwordProblem,
  shorten,
} from './input';
export { listenTo, stopAll } from './listening';
export { formatNumber, formatPoints, formatSignedPoints, formatWait } from './numbers';
export { type ProductRules, signUpGiftText, toProductRules } from './productRules';
export { linesOf, type Passage, passagesOf, saysNothing, wordsOf } from './storyText';
export {
  type DayGroup,
  dayKey,
  formatClock,
  formatDate,
  formatDay,
  formatMoment,
  formatRelative,
  groupByDay,
  type Instant,
} from './time';
