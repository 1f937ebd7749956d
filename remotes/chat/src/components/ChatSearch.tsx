import { anyErrorText, findAll, formatDay, problemId, wordsOf } from '@liaozhai/shared/format';
import {
  ArrowDownIcon,
  ArrowUpIcon,
  CalendarIcon,
  CloseIcon,
  ErrorRow,
  IconButton,
  ListRow,
  RowBoundary,
  SearchField,
  Sheet,
  Skeleton,
  useShanghaiDay,
  VisuallyHidden,
} from '@liaozhai/shared/ui';
import { type KeyboardEvent, type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import { toastFailure } from '../api/failures';
import { fetchDays, findMessages, type LogWindow, openWindow, type Place } from '../api/search';
import { keyOf, type Message, type Thread } from '../model/thread';
import { texts } from '../texts';
import type { Target } from './ChatLog';
import styles from './ChatSearch.module.css';
import { isComposed } from './Composer';

export interface ChatSearchProps {
  thread: Thread;
  /** Shown instead of the thread. */
  window: LogWindow | null;
  onWindow: (window: LogWindow | null) => void;
  onTarget: (target: Target | undefined) => void;
  onClose: () => void;
}

interface Hits {
  words: string;
  places: Place[];
  /** Index of the shown hit. */
  index: number;
  /** Ids of the loaded messages that contained the words when the search ran. */
  had: ReadonlySet<string>;
}

const has = ({ body }: Message, words: string) => findAll(wordsOf(body), words).length > 0;

/** Removes hits that have been deleted or changed since the search. Hits that are not loaded cannot be checked and stay. */
function stillThere(hits: Hits, messages: readonly Message[]): Hits {
  const first = messages[0]?.seq ?? Number.POSITIVE_INFINITY;
  const byId = new Map(messages.map((message) => [message.id, message]));
  const isThere = ({ id, seq }: Place) => {
    const message = byId.get(id);
    if (!message) return seq < first;
    return !hits.had.has(id) || has(message, hits.words);
  };
  const places = hits.places.filter(isThere);
  if (places.length === hits.places.length) return hits;
  const index = hits.places.slice(0, hits.index + 1).filter(isThere).length - 1;
  return { ...hits, places, index: Math.max(0, index) };
}

/** Bar above the log: a search field with the number of hits, buttons to step through them, and the list of days. */
export function ChatSearch({ thread, window: shown, onWindow, onTarget, onClose }: ChatSearchProps) {
  const { storyId, conversationId } = thread;
  const field = useRef<HTMLInputElement>(null);
  const [loadedHits, setHits] = useState<Hits | null>(null);
  const { messages } = thread;
  const hits = useMemo(() => loadedHits && stillThere(loadedHits, messages), [loadedHits, messages]);
  const [areDaysOpen, setDaysOpen] = useState(false);
  const wanted = useRef<unknown>(null);
  useEffect(() => field.current?.focus({ preventScroll: true }), []);
  const bar = useRef<HTMLDivElement>(null);
  useHighlight(bar, hits);

  const tell = (cause: unknown) => toastFailure(cause, texts.find.failed);
  /** Applies only the response to the latest request. */
  const ask = <Answer,>(question: Promise<Answer>, take: (answer: Answer) => void) => {
    wanted.current = question;
    question.then((answer) => wanted.current === question && take(answer), tell);
  };
  const goTo = (place: Place) => {
    const loaded = [...(shown?.messages ?? []), ...thread.messages].find(({ id }) => id === place.id);
    const isInThread = thread.messages.some(({ id }) => id === place.id);
    if (loaded) {
      if (shown && isInThread) shown.newer.leave();
      onTarget({ key: keyOf(loaded) });
    } else if (conversationId !== null) {
      ask(openWindow(conversationId, place, { storyId, show: onWindow }), (message) => {
        onTarget(message && { key: keyOf(message) });
      });
    }
  };
  const show = (found: Hits) => {
    setHits(found);
    const place = found.places[found.index];
    if (place) goTo(place);
    else onTarget(undefined);
  };
  const search = (words: string) => {
    if (words === '' || conversationId === null) {
      wanted.current = null;
      setHits(null);
      return onTarget(undefined);
    }
    ask(findMessages(conversationId, words), (told) => {
      const having = messages.filter((message) => has(message, words));
      const had = new Set(having.map(({ id }) => id));
      // the server may match fewer variants of width and accent than `findAll`
      const missed = having.filter(({ id }) => told.every((place) => place.id !== id));
      const places = [...told, ...missed].sort((one, other) => one.seq - other.seq);
      show({ words, places, index: places.length - 1, had });
    });
  };
  const step = (by: number) => {
    if (!hits || hits.places.length === 0) return;
    show({ ...hits, index: (hits.index + by + hits.places.length) % hits.places.length });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposed(event.nativeEvent)) return;
    if (event.key === 'Escape') onClose();
    // Enter in a field whose text has been found goes to the previous hit
    if (event.key === 'Enter' && event.target === field.current && field.current?.value.trim() === hits?.words)
      step(-1);
  };
  const total = hits?.places.length ?? 0;
  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: keys of the controls within */}
      <div ref={bar} className={styles.bar} onKeyDown={onKeyDown}>
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
        <DaysSheet
          conversationId={conversationId}
          open={areDaysOpen}
          onClose={() => setDaysOpen(false)}
          onChoose={(day) => {
            setDaysOpen(false);
            goTo(day);
          }}
        />
      )}
    </>
  );
}

interface DaysSheetProps {
  conversationId: string;
  open: boolean;
  onClose: () => void;
  onChoose: (day: Place) => void;
}

function DaysSheet({ conversationId, open, onClose, onChoose }: DaysSheetProps) {
  const today = useShanghaiDay();
  const [days, setDays] = useState<Place[] | null>(null);
  const [problem, setProblem] = useState<unknown>(undefined);
  const [tries, setTries] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each try fetches again
  useEffect(() => {
    if (!open) return;
    let isOver = false;
    setProblem(undefined);
    fetchDays(conversationId).then(
      (known) => isOver || setDays(known),
      (cause: unknown) => isOver || setProblem(cause),
    );
    return () => {
      isOver = true;
    };
  }, [open, conversationId, tries]);
  return (
    <Sheet open={open} onClose={onClose} title={texts.find.days}>
      {problem !== undefined && (
        <ErrorRow text={anyErrorText(problem)} problem={problemId(problem)} onRetry={() => setTries(tries + 1)} />
      )}
      {!days && problem === undefined && <Skeleton shape="row" count={4} />}
      {days?.length === 0 && <p className={styles.none}>{texts.find.noDays}</p>}
      {days?.map((each) => (
        <RowBoundary key={each.id} of={each}>
          {(day) => <ListRow title={formatDay(day.createdAt, today)} onClick={() => onChoose(day)} />}
        </RowBoundary>
      ))}
    </Sheet>
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
const MOST_FRAMES = 120;

/** Runs once the element exists and has not moved for some frames. Returns the function that cancels it. */
function whenSettled(find: () => Element | null, then: (element: Element) => void): () => void {
  let frame = 0;
  let [frames, still, lastTop] = [0, 0, Number.NaN];
  const look = () => {
    const element = find();
    const top = element?.getBoundingClientRect().top ?? Number.NaN;
    still = top === lastTop ? still + 1 : 0;
    lastTop = top;
    if (element && still >= 3) return then(element);
    frames += 1;
    if (frames < MOST_FRAMES) frame = requestAnimationFrame(look);
  };
  frame = requestAnimationFrame(look);
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
