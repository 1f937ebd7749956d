import { createSignal } from '@liaozhai/shared/runtime';
import { useLayoutEffect, useRef } from 'react';
import { indexOfKey, type Log } from '../model/log';
import { isRunning, keyOf, type Message } from '../model/message';
import type { LogVirtualizer } from './virtualLog';

/** After each commit and before its paint, measures the last row and scrolls to follow it. */
export function useStickToBottom(stick: StickToBottom, list: LogVirtualizer, log: Log, isCopy: boolean): void {
  const last = log.messages.at(-1);
  const lastPending = log.pending.at(-1);
  const isNewReply = last && isRunning(last) && (last.revision === 1 || last.body === '');
  const replyKey = isNewReply ? keyOf(last) : null;
  const lastCommit = useRef<CommitState | null>(null);

  useLayoutEffect(() => {
    const previous = lastCommit.current;
    lastCommit.current = { last, pendingId: lastPending?.clientId, replyKey, isCopy };
    stick.attach(list, (key) => indexOfKey(log, key));
    if (!previous) return stick.follow();
    // a user who sends wants to see the message and its reply
    if (lastPending && lastPending.clientId !== previous.pendingId) stick.pin();
    if (replyKey !== null && replyKey !== previous.replyKey) stick.setLimit(replyKey);
    // without a copy on the device only the opening was shown; the loaded conversation then opens at its end
    if (previous.isCopy && !isCopy && previous.last === undefined && stick.isUnmoved()) stick.pin();
    const hasSent = lastPending?.clientId !== previous.pendingId;
    if (last === previous.last && !hasSent) return;
    measureLast(list, log);
    stick.handleEndChange(hasSent || hasNewContent(last, previous.last));
  }, [stick, list, log, last, lastPending, replyKey, isCopy]);
}

interface CommitState {
  last: Message | undefined;
  pendingId: string | undefined;
  replyKey: string | null;
  isCopy: boolean;
}

/** Whether there is new content: the server's messages may equal the device's copy, but as other objects. */
function hasNewContent(current: Message | undefined, previous: Message | undefined): boolean {
  if (!current || !previous) return current !== previous;
  const isSame =
    keyOf(current) === keyOf(previous) && current.revision === previous.revision && current.status === previous.status;
  return !isSame || current.length !== previous.length;
}

/** Resizes the last row before the paint instead of after it, so that its end does not run ahead of the view. */
function measureLast(list: LogVirtualizer, log: Log): void {
  const last = log.messages.at(-1);
  const element = last && list.elementsCache.get(keyOf(last));
  if (last && element?.isConnected) list.resizeItem(indexOfKey(log, keyOf(last)), element.offsetHeight);
}

/** Distance from the end that still counts as being there. */
const AT_END_PX = 40;
/** Scrolling emits an event per frame; after a longer pause it has stopped. */
const GLIDE_MS = 150;
/** Smaller movements are rounding errors. */
const MIN_MOVE_PX = 1.5;

interface ViewState {
  atEnd: boolean;
  /** New content is below the visible part. */
  unseen: boolean;
}

/**
 * Follows growing content while the user is at the end, until the first line of a reply reaches the top. Never moves the view of
 * a user who has scrolled up.
 */
export class StickToBottom {
  #list: LogVirtualizer | null = null;
  #indexOf: (key: string) => number = () => -1;
  #isPinned: boolean;
  #isOpenEnded = false;
  #limitKey: string | null = null;
  #placedOffset = -1;
  #lastOffset = 0;
  #movedAt = Number.NEGATIVE_INFINITY;
  #state: ViewState;
  readonly #changeSignal = createSignal();

  constructor(startsAtEnd: boolean) {
    this.#isPinned = startsAtEnd;
    this.#state = { atEnd: startsAtEnd, unseen: false };
  }

  readonly state = (): ViewState => this.#state;

  readonly subscribe = this.#changeSignal.on;

  /** Called on each commit, since the rows' indexes change. */
  attach(list: LogVirtualizer, indexOf: (key: string) => number): void {
    this.#list = list;
    this.#indexOf = indexOf;
  }

  /** The shown messages end before the conversation does, so their end is not followed. */
  setOpenEnded(isOpenEnded: boolean): void {
    if (isOpenEnded) this.release();
    this.#isOpenEnded = isOpenEnded;
  }

  /** Sets the row of a new reply, whose top must stay in view. */
  setLimit(key: string): void {
    this.#limitKey = key;
  }

  /** Records a scroll position that this code has set. */
  recordPlacement(offset: number): void {
    this.#placedOffset = offset;
  }

  /** Scrolls to the end, or as far as the limit allows, if pinned. */
  readonly follow = (): void => {
    const view = this.#view();
    if (!view || !this.#isPinned || this.#isOpenEnded) return;
    const { element, list, end } = view;
    const limit = this.#limitKey === null ? -1 : this.#indexOf(this.#limitKey);
    const target = limit < 0 ? end : Math.min(end, list.getOffsetForIndex(limit, 'start')?.[0] ?? end);
    if (target > element.scrollTop + 0.5) list.scrollToOffset(target);
  };

  /** Handles a change of the view's height, e.g. by the keyboard: a user who was at the end stays there. */
  handleViewResize(): void {
    const view = this.#view();
    if (view && this.#state.atEnd) view.list.scrollToOffset(view.end);
    else this.follow();
  }

  /** Pins or releases on the user's own scrolling; scrolling by this code has no effect. */
  readonly handleScroll = (): void => {
    const view = this.#view();
    if (!view) return;
    const { atEnd } = view;
    const offset = view.element.scrollTop;
    const isProgrammatic = Math.abs(offset - this.#placedOffset) < MIN_MOVE_PX;
    // returning to the end pins; a user who was already there may only have been moved by shrinking rows
    if (!isProgrammatic && atEnd && !this.#state.atEnd) this.pin();
    else if (!isProgrammatic && !atEnd && offset < this.#lastOffset - MIN_MOVE_PX) this.#isPinned = false;
    this.#lastOffset = offset;
    if (!isProgrammatic) this.#movedAt = performance.now();
    this.#publish({ atEnd, unseen: this.#state.unseen && !atEnd });
  };

  /** Handles a change at the end; `isNew` if content was added and not only rendered again. */
  handleEndChange(isNew: boolean): void {
    this.follow();
    const view = this.#view();
    if (!view) return;
    const { atEnd } = view;
    this.#publish({ atEnd, unseen: (isNew || this.#state.unseen) && !atEnd && !this.#isOpenEnded });
  }

  pin(): void {
    this.#isPinned = true;
    this.#limitKey = null;
  }

  /** Whether the view is scrolling by momentum: then a touch only stops it and is not a long press. */
  readonly isGliding = (): boolean => performance.now() - this.#movedAt < GLIDE_MS;

  /** Whether the view is still at the top. */
  isUnmoved(): boolean {
    return (this.#list?.scrollElement?.scrollTop ?? 0) < MIN_MOVE_PX;
  }

  /** Stops following the end. */
  release(): void {
    this.#isPinned = false;
  }

  #view() {
    const list = this.#list;
    const element = list?.scrollElement;
    if (!list || !element || element.clientHeight === 0) return undefined;
    const end = element.scrollHeight - element.clientHeight;
    return { list, element, end, atEnd: !this.#isOpenEnded && end - element.scrollTop <= AT_END_PX };
  }

  #publish(next: ViewState): void {
    if (next.atEnd === this.#state.atEnd && next.unseen === this.#state.unseen) return;
    this.#state = next;
    this.#changeSignal.emit();
  }
}
