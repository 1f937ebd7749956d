import { createSignal } from '@liaozhai/shared/runtime';
import { useLayoutEffect, useRef } from 'react';
import { indexOfKey, type Log } from '../model/log';
import { isRunning, keyOf, type Message } from '../model/thread';
import type { LogVirtualizer } from './virtualLog';

/** After each commit, before its paint: measures what grew at the end and lets the view follow. */
export function useStickToBottom(stick: StickToBottom, list: LogVirtualizer, log: Log, isCopy: boolean): void {
  const last = log.messages.at(-1);
  const lastPending = log.pending.at(-1);
  const startsAnew = last && isRunning(last) && (last.revision === 1 || last.body === '');
  const replyKey = startsAnew ? keyOf(last) : null;
  const shown = useRef<Shown | null>(null);

  useLayoutEffect(() => {
    const before = shown.current;
    shown.current = { last, pendingId: lastPending?.clientId, replyKey, isCopy };
    stick.attach(list, (key) => indexOfKey(log, key));
    if (!before) return stick.follow();
    // who sends wants to see what they sent and what comes of it
    if (lastPending && lastPending.clientId !== before.pendingId) stick.pin();
    if (replyKey !== null && replyKey !== before.replyKey) stick.holdAtTopOf(replyKey);
    // all the device had was the opening: a conversation that comes from the server opens at its end, as any other
    if (before.isCopy && !isCopy && before.last === undefined && stick.isUnmoved()) stick.pin();
    const isSent = lastPending?.clientId !== before.pendingId;
    if (last === before.last && !isSent) return;
    measureLast(list, log);
    stick.endChanged(isSent || saysMore(last, before.last));
  }, [stick, list, log, last, lastPending, replyKey, isCopy]);
}

interface Shown {
  last: Message | undefined;
  pendingId: string | undefined;
  replyKey: string | null;
  isCopy: boolean;
}

/** Whether there is anything new to read: the server's answer holds what the device's copy did, as other objects. */
function saysMore(now: Message | undefined, before: Message | undefined): boolean {
  if (!now || !before) return now !== before;
  const isSame = keyOf(now) === keyOf(before) && now.revision === before.revision && now.status === before.status;
  return !isSame || now.length !== before.length;
}

/** The list learns of the growth now and not after the paint, so that the end never runs ahead of the view. */
function measureLast(list: LogVirtualizer, log: Log): void {
  const last = log.messages.at(-1);
  const element = last && list.elementsCache.get(keyOf(last));
  if (last && element?.isConnected) list.resizeItem(indexOfKey(log, keyOf(last)), element.offsetHeight);
}

/** So near the end counts as being there. */
const AT_END_PX = 40;
/** Smooth scrolling emits an event each frame; a longer pause is its end. */
const GLIDE_MS = 150;
/** What moved less is rounding. */
const MOVED_PX = 1.5;

interface ViewState {
  atEnd: boolean;
  /** Something has come below what is in view. */
  unseen: boolean;
}

/**
 * Follows what is being written as long as the reader is at the end: until the first line of a reply reaches the top,
 * then it stays. Who scrolls up is never moved.
 */
export class StickToBottom {
  #list: LogVirtualizer | null = null;
  #indexOf: (key: string) => number = () => -1;
  #pinned: boolean;
  #isOpenEnded = false;
  #limitKey: string | null = null;
  #placedAt = -1;
  #lastOffset = 0;
  #movedAt = Number.NEGATIVE_INFINITY;
  #state: ViewState;
  readonly #changed = createSignal();

  constructor(startsAtEnd: boolean) {
    this.#pinned = startsAtEnd;
    this.#state = { atEnd: startsAtEnd, unseen: false };
  }

  readonly state = (): ViewState => this.#state;

  readonly subscribe = this.#changed.on;

  /** Passed at each commit, since rows get other indexes. */
  attach(list: LogVirtualizer, indexOf: (key: string) => number): void {
    this.#list = list;
    this.#indexOf = indexOf;
  }

  /** What is shown ends before the conversation does: its end is not to be followed. */
  setOpenEnded(isOpenEnded: boolean): void {
    if (isOpenEnded) this.release();
    this.#isOpenEnded = isOpenEnded;
  }

  /** A reply has begun in this row, whose top is not to be scrolled out of sight; null lifts the limit. */
  holdAtTopOf(key: string | null): void {
    this.#limitKey = key;
  }

  /** Notes where we ourselves put the view. */
  readonly placed = (offset: number): void => {
    this.#placedAt = offset;
  };

  /** Moves the view to the end, or as far as the limit allows, if it is pinned there. */
  readonly follow = (): void => {
    const view = this.#view();
    if (!view || !this.#pinned || this.#isOpenEnded) return;
    const { element, list, end } = view;
    const limit = this.#limitKey === null ? -1 : this.#indexOf(this.#limitKey);
    const target = limit < 0 ? end : Math.min(end, list.getOffsetForIndex(limit, 'start')?.[0] ?? end);
    if (target > element.scrollTop + 0.5) list.scrollToOffset(target);
  };

  /** The keyboard or a panel took room or gave it back: who was at the end stays there. */
  readonly viewResized = (): void => {
    const view = this.#view();
    if (view && this.#state.atEnd) view.list.scrollToOffset(view.end);
    else this.follow();
  };

  /** The reader's own scrolling pins or frees; ours, which ends where we put it, does neither. */
  readonly scrolled = (): void => {
    const view = this.#view();
    if (!view) return;
    const offset = view.element.scrollTop;
    const atEnd = !this.#isOpenEnded && view.end - offset <= AT_END_PX;
    const isOwn = Math.abs(offset - this.#placedAt) < MOVED_PX;
    // who comes back to the end wants all of it; who never left may just have been moved by rows that shrank
    if (!isOwn && atEnd && !this.#state.atEnd) this.pin();
    else if (!isOwn && !atEnd && offset < this.#lastOffset - MOVED_PX) this.#pinned = false;
    this.#lastOffset = offset;
    if (!isOwn) this.#movedAt = performance.now();
    this.#tell({ atEnd, unseen: this.#state.unseen && !atEnd });
  };

  /** The end has changed: something was added or has grown there, or it was only rendered again. */
  endChanged(isNew: boolean): void {
    this.follow();
    const view = this.#view();
    if (!view) return;
    const atEnd = !this.#isOpenEnded && view.end - view.element.scrollTop <= AT_END_PX;
    this.#tell({ atEnd, unseen: (isNew || this.#state.unseen) && !atEnd && !this.#isOpenEnded });
  }

  pin(): void {
    this.#pinned = true;
    this.#limitKey = null;
  }

  /** The view glides on after the reader's push: a touch stops it, and means nothing else. */
  readonly isGliding = (): boolean => performance.now() - this.#movedAt < GLIDE_MS;

  /** The reader has not scrolled away from the beginning. */
  isUnmoved(): boolean {
    return (this.#list?.scrollElement?.scrollTop ?? 0) < MOVED_PX;
  }

  /** The view stays where it is put. */
  release(): void {
    this.#pinned = false;
  }

  #view() {
    const list = this.#list;
    const element = list?.scrollElement;
    if (!list || !element || element.clientHeight === 0) return undefined;
    return { list, element, end: element.scrollHeight - element.clientHeight };
  }

  #tell(next: ViewState): void {
    if (next.atEnd === this.#state.atEnd && next.unseen === this.#state.unseen) return;
    this.#state = next;
    this.#changed.emit();
  }
}
