import { findAll, formatDay, wordsOf } from '@liaozhai/shared/format';
import {
  ArrowDownIcon,
  ArrowUpIcon,
  CalendarIcon,
  CloseIcon,
  IconButton,
  ListRow,
  QueryView,
  RowBoundary,
  SearchField,
  Sheet,
  useShanghaiDay,
  VisuallyHidden,
} from '@liaozhai/shared/ui';
import { type FormEvent, type KeyboardEvent, type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import { toastFailure } from '../api/failures';
import {
  findMessages,
  type LogWindow,
  openWindow,
  type Place,
  type SearchPorts,
  useChatGetDaysQuery,
} from '../api/search';
import { keyOf, type Message } from '../model/message';
import type { Thread } from '../model/thread';
import { texts } from '../texts';
import type { Target } from './ChatLog';
import styles from './ChatSearch.module.css';
import { isComposed } from './Composer';

export interface ChatSearchProps {
  thread: Thread;
  /** Shown instead of the thread. */
  window: LogWindow | null;
  onWindow: SearchPorts['show'];
  onTarget: (target: Target | undefined) => void;
  /** Aborted by the next search or step and by closing, so that a late response does not move the chat. */
  latestRequest: RefObject<AbortController | null>;
  onClose: () => void;
}

interface Hits {
  words: string;
  places: Place[];
  /** Index of the shown hit. */
  index: number;
  /** Ids of the loaded messages that contained the words when the search ran. */
  matchedIds: ReadonlySet<string>;
}

const containsWords = ({ body }: Message, words: string) => findAll(wordsOf(body), words).length > 0;

/** Removes hits that have been deleted or changed since the search. Hits that are not loaded cannot be checked and stay. */
function withoutStaleHits(hits: Hits, messages: readonly Message[]): Hits {
  const first = messages[0]?.seq ?? Number.POSITIVE_INFINITY;
  const byId = new Map(messages.map((message) => [message.id, message]));
  const isCurrent = ({ id, seq }: Place) => {
    const message = byId.get(id);
    if (!message) return seq < first;
    return !hits.matchedIds.has(id) || containsWords(message, hits.words);
  };
  const places = hits.places.filter(isCurrent);
  if (places.length === hits.places.length) return hits;
  const index = hits.places.slice(0, hits.index + 1).filter(isCurrent).length - 1;
  return { ...hits, places, index: Math.max(0, index) };
}

/** Bar above the log: a search field with the number of hits, buttons to step through them, and the list of days. */
export function ChatSearch(props: ChatSearchProps) {
  const { thread, window: shownWindow, onWindow, onTarget, latestRequest, onClose } = props;
  const { storyId, conversationId } = thread;
  const field = useRef<HTMLInputElement>(null);
  const [loadedHits, setHits] = useState<Hits | null>(null);
  const { messages } = thread;
  const [typedWords, setTypedWords] = useState('');
  const hits = useMemo(
    () => (loadedHits?.words === typedWords ? withoutStaleHits(loadedHits, messages) : null),
    [loadedHits, typedWords, messages],
  );
  const [areDaysOpen, setDaysOpen] = useState(false);
  const latestWords = useRef('');
  useEffect(() => field.current?.focus({ preventScroll: true }), []);
  const bar = useRef<HTMLDivElement>(null);
  useHighlight(bar, hits);

  const beginRequest = (): AbortSignal => {
    latestRequest.current?.abort();
    latestRequest.current = new AbortController();
    return latestRequest.current.signal;
  };
  const showFailure = (cause: unknown, signal: AbortSignal) => {
    if (!signal.aborted) toastFailure(cause, texts.find.failed);
  };
  const goTo = (place: Place) => {
    const signal = beginRequest();
    const loadedMessage = [...(shownWindow?.messages ?? []), ...thread.messages].find(({ id }) => id === place.id);
    const isInThread = thread.messages.some(({ id }) => id === place.id);
    if (loadedMessage) {
      if (shownWindow && isInThread) shownWindow.newer.leave();
      onTarget({ key: keyOf(loadedMessage) });
    } else if (conversationId !== null) {
      openWindow(place, { storyId, conversationId, signal, show: onWindow }).then(
        (message) => signal.aborted || onTarget(message && { key: keyOf(message) }),
        (cause: unknown) => showFailure(cause, signal),
      );
    }
  };
  const show = (nextHits: Hits) => {
    setHits(nextHits);
    const place = nextHits.places[nextHits.index];
    if (place) goTo(place);
  };
  const search = (words: string) => {
    const signal = beginRequest();
    latestWords.current = words;
    setTypedWords(words);
    // what was found is said of its own words only
    setHits(null);
    onTarget(undefined);
    if (words === '' || conversationId === null) return;
    const apply = (foundPlaces: Place[]) => {
      if (latestWords.current !== words) return;
      const matchingMessages = messages.filter((message) => containsWords(message, words));
      const matchedIds = new Set(matchingMessages.map(({ id }) => id));
      // the server may match fewer variants of width and accent than `findAll`
      const missedPlaces = matchingMessages.filter(({ id }) => foundPlaces.every((place) => place.id !== id));
      const places = [...foundPlaces, ...missedPlaces].sort((one, other) => one.seq - other.seq);
      const foundHits = { words, places, index: places.length - 1, matchedIds };
      // a day that was chosen meanwhile stays in sight
      if (signal.aborted) setHits(foundHits);
      else show(foundHits);
    };
    findMessages(conversationId, words).then(apply, (cause: unknown) => showFailure(cause, signal));
  };
  const step = (by: number) => {
    if (!hits || hits.places.length === 0) return;
    show({ ...hits, index: (hits.index + by + hits.places.length) % hits.places.length });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposed(event.nativeEvent)) return;
    if (event.key === 'Escape') onClose();
    if (event.key !== 'Enter' || event.target !== field.current || field.current?.value.trim() !== hits?.words) return;
    // the text has been found, so Enter goes to the previous hit instead of searching
    event.preventDefault();
    step(-1);
  };
  const onInput = ({ target }: FormEvent) => {
    if (target === field.current) setTypedWords(field.current.value.trim());
  };
  const total = hits?.places.length ?? 0;
  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: keys of the controls within */}
      <div ref={bar} className={styles.bar} onKeyDown={onKeyDown} onInput={onInput}>
        <SearchField
          ref={field}
          label={texts.find.field}
          onSearch={search}
          aside={
            hits && (
              <span className={styles.count} aria-hidden>
                {total === 0 ? texts.find.nothing : texts.find.at(hits.index + 1, total)}
              </span>
            )
          }
        />
        {hits && total > 0 ? (
          <>
            <IconButton label={texts.find.before} icon={<ArrowUpIcon size={20} />} onClick={() => step(-1)} />
            <IconButton label={texts.find.after} icon={<ArrowDownIcon size={20} />} onClick={() => step(1)} />
          </>
        ) : (
          <IconButton label={texts.find.days} icon={<CalendarIcon size={20} />} onClick={() => setDaysOpen(true)} />
        )}
        <IconButton label={texts.find.close} icon={<CloseIcon size={20} />} onClick={onClose} />
        <div role="status">
          <VisuallyHidden>
            {hits && (total === 0 ? texts.find.nothing : texts.find.announced(hits.index + 1, total))}
          </VisuallyHidden>
        </div>
      </div>
      {conversationId !== null && (
        <Sheet open={areDaysOpen} onClose={() => setDaysOpen(false)} title={texts.find.days}>
          <Days
            conversationId={conversationId}
            onChoose={(day) => {
              setDaysOpen(false);
              goTo(day);
            }}
          />
        </Sheet>
      )}
    </>
  );
}

interface DaysProps {
  conversationId: string;
  onChoose: (day: Place) => void;
}

function Days({ conversationId, onChoose }: DaysProps) {
  const today = useShanghaiDay();
  const days = useChatGetDaysQuery(conversationId, { refetchOnMountOrArgChange: true });
  return (
    <QueryView query={days} isEmpty={({ length }) => length === 0} empty={texts.find.noDays}>
      {(items) =>
        items.map((each) => (
          <RowBoundary key={each.id} of={each}>
            {(day) => <ListRow title={formatDay(day.createdAt, today)} onClick={() => onChoose(day)} />}
          </RowBoundary>
        ))
      }
    </QueryView>
  );
}

const HIGHLIGHT = 'found';

/**
 * Highlights the words in the visible part of the log with the CSS Custom Highlight API, where supported. Scrolls the current hit
 * into view.
 */
function useHighlight(bar: RefObject<HTMLElement | null>, hits: Hits | null): void {
  const words = hits?.words ?? '';
  useEffect(() => {
    const log = logBelow(bar);
    const marks = 'highlights' in CSS ? CSS.highlights : undefined;
    if (!marks || !log || words === '') return;
    const mark = () => marks.set(HIGHLIGHT, new Highlight(...rangesOf(log, words)));
    mark();
    const observer = new MutationObserver(mark);
    observer.observe(log, { childList: true, subtree: true });
    return () => {
      observer.disconnect();
      marks.delete(HIGHLIGHT);
    };
  }, [bar, words]);
  useEffect(() => {
    const log = logBelow(bar);
    if (!log || !hits || hits.places.length === 0) return;
    return whenSettled(
      () => log.querySelector('[data-found="true"]'),
      (row) => {
        const word = rangesOf(row, hits.words)[0]?.getBoundingClientRect();
        const view = log.getBoundingClientRect();
        // in a long message the words may be far below its beginning
        if (word && (word.bottom > view.bottom || word.top < view.top))
          log.scrollTop += word.top - view.top - MARGIN_PX;
      },
    );
  }, [bar, hits]);
}

const logBelow = (bar: RefObject<HTMLElement | null>) => bar.current?.parentElement?.querySelector('[role="log"]');

const MARGIN_PX = 96;
const MAX_FRAMES = 120;

/** Runs once the element exists and has not moved for some frames. Returns the function that cancels it. */
function whenSettled(find: () => Element | null, onSettled: (element: Element) => void): () => void {
  let frame = 0;
  let [frames, stillFrames, lastTop] = [0, 0, Number.NaN];
  const check = () => {
    const element = find();
    const top = element?.getBoundingClientRect().top ?? Number.NaN;
    stillFrames = top === lastTop ? stillFrames + 1 : 0;
    lastTop = top;
    if (element && stillFrames >= 3) return onSettled(element);
    frames += 1;
    if (frames < MAX_FRAMES) frame = requestAnimationFrame(check);
  };
  frame = requestAnimationFrame(check);
  return () => cancelAnimationFrame(frame);
}

/** Ranges of the words in each paragraph, across its inline elements. */
function rangesOf(log: Element, words: string): Range[] {
  return [...log.querySelectorAll('p')].flatMap((paragraph) => {
    const walker = document.createTreeWalker(paragraph, NodeFilter.SHOW_TEXT);
    const nodes: { node: Node; start: number }[] = [];
    let text = '';
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      nodes.push({ node, start: text.length });
      text += node.nodeValue ?? '';
    }
    const nodeAt = (offset: number) => nodes.findLast(({ start }) => start <= offset);
    return findAll(text, words).flatMap(({ start, end }) => {
      const [first, last] = [nodeAt(start), nodeAt(end - 1)];
      if (!first || !last) return [];
      const range = document.createRange();
      range.setStart(first.node, start - first.start);
      range.setEnd(last.node, end - last.start);
      return [range];
    });
  });
}
