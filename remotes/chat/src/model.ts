/** The model of this remote: what comes over the wire, what it means here, and the rules it follows. */
export {
  type Conversation,
  type ConversationPage,
  conversationsOf,
  toConversation,
  toConversationPage,
  toExcerpt,
  withConversation,
  withLastMessage,
  withNewestPage,
  withoutConversation,
  withThread,
} from './model/conversation';
export {
  fromStoredLine,
  hadNoAnswer,
  isUncertain,
  type Line,
  linesOutside,
  toStoredLine,
  wasCutOff,
} from './model/line';
export { contentAt, indexOfKey, type Log, type Row, rowAt, rowCount, rowKeyAt } from './model/log';
export { type Delta, isRunning, keyOf, type Message, toDelta, toMessage } from './model/message';
export { type Speaker, type Story, toStory } from './model/story';
export { type Suggestion, toSuggestion } from './model/suggestion';
export {
  emptyThread,
  findMessage,
  type Heard,
  type Page,
  runningMessage,
  type Thread,
  toPage,
  withAnswer,
  withChanges,
  withEvent,
  withNewest,
  withOlder,
  withPiece,
} from './model/thread';
