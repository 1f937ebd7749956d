import ClearIcon from 'lucide-react/icons/circle-x';
import SearchIcon from 'lucide-react/icons/search';
import { type ReactNode, type Ref, useEffect, useEffectEvent, useImperativeHandle, useRef, useState } from 'react';
import { IconButton } from './Button';
import styles from './SearchField.module.css';

export interface SearchFieldProps {
  /** Accessible name, also the placeholder unless `placeholder` is given. */
  label: string;
  placeholder?: string;
  /** Current search text, if the owner controls it: the field follows changes by navigation or reload. */
  words?: string;
  /** Called with the trimmed text after typing pauses; with '' when the field is cleared. */
  onSearch: (words: string) => void;
  /** Longest search text in characters. */
  maxLength?: number;
  /** Content before the clear button, e.g. a count. */
  aside?: ReactNode;
  ref?: Ref<HTMLInputElement>;
}

const TYPING_PAUSE_MS = 300;

/** A search field. Reports no text during IME composition; Enter and ✕ report immediately, Enter the same text once more. */
export function SearchField({
  label,
  placeholder = label,
  words,
  onSearch,
  maxLength = 60,
  aside,
  ref,
}: SearchFieldProps) {
  const [text, setText] = useState(words ?? '');
  const [isComposing, setComposing] = useState(false);
  const [reportedText, setReportedText] = useState(words ?? '');
  const [receivedWords, setReceivedWords] = useState(words);
  if (words !== undefined && words !== receivedWords) {
    setReceivedWords(words);
    if (words !== reportedText) {
      setReportedText(words);
      setText(words);
    }
  }
  const input = useRef<HTMLInputElement>(null);
  useImperativeHandle<HTMLInputElement | null, HTMLInputElement | null>(ref, () => input.current, []);
  const report = (typed: string) => {
    setReportedText(typed);
    onSearch(typed);
  };
  const reportAfterPause = useEffectEvent((typed: string) => typed === reportedText || report(typed));
  useEffect(() => {
    if (isComposing) return;
    const typed = text.trim();
    const timer = setTimeout(() => reportAfterPause(typed), typed === '' ? 0 : TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, isComposing]);
  return (
    <form
      className={styles.frame}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isComposing) report(text.trim());
      }}
    >
      <SearchIcon className={styles.icon} size={18} aria-hidden />
      <input
        ref={input}
        className={styles.input}
        type="search"
        enterKeyHint="search"
        autoComplete="off"
        aria-label={label}
        placeholder={placeholder}
        maxLength={maxLength}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onCompositionStart={() => setComposing(true)}
        onCompositionEnd={() => setComposing(false)}
      />
      <span className={styles.ring} />
      {aside}
      {text !== '' && (
        <IconButton
          label="清除"
          icon={<ClearIcon size={18} />}
          onClick={() => {
            setText('');
            input.current?.focus();
          }}
        />
      )}
    </form>
  );
}
