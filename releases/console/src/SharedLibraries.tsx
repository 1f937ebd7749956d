import { ListRow } from '@liaozhai/shared/ui';
import type { SharedLibrary } from './api';
import styles from './Console.module.css';
import { labels, texts } from './texts';

/** Formats a size; empty if no build reports one. */
const size = (kib: number | null): string => (kib ? `${kib.toFixed(1)} KiB` : '');

/** Size of all copies after the first. The host's copy loads once. */
const extraKib = ({ copies, ofHost }: SharedLibrary): number =>
  ofHost === null ? copies.slice(1).reduce((sum, { kib }) => sum + (kib ?? 0), 0) : 0;

const isRepeated = ({ copies, ofHost }: SharedLibrary): boolean => ofHost === null && copies.length > 1;

function Library({ library }: { library: SharedLibrary }) {
  const { name, copies, ofHost } = library;
  const { once, times, ofHost: providedText } = texts.sharing;
  const isRepeatedHere = isRepeated(library);
  return (
    <ListRow
      className={styles.row}
      title={<strong>{name}</strong>}
      detail={
        <>
          {copies.map(({ version, build, remotes, kib }) => (
            <span key={build} className={styles.fallback} title={build}>
              {texts.titled(version, texts.aside(texts.list(remotes.map(labels.of)), size(kib)))}
            </span>
          ))}
          <span className={isRepeatedHere ? styles.alarm : styles.fallback}>
            {ofHost !== null
              ? providedText(ofHost)
              : isRepeatedHere
                ? times(copies.length, size(extraKib(library)))
                : once}
          </span>
        </>
      }
    />
  );
}

/** Libraries that the remotes of a set share, and the cost of repeated copies. Renders nothing without one. */
export function SharedLibraries({ libraries }: { libraries: readonly SharedLibrary[] }) {
  if (libraries.length === 0) return null;
  const repeatedLibraries = libraries.filter(isRepeated);
  const extraSize = size(repeatedLibraries.reduce((sum, library) => sum + extraKib(library), 0));
  return (
    <details className={styles.details}>
      <summary>
        <strong>{texts.sharing.title}</strong>
        <small>{texts.sharing.summary(libraries.length, repeatedLibraries.length, extraSize)}</small>
      </summary>
      <div className={styles.rows}>
        {libraries.map((library) => (
          <Library key={library.name} library={library} />
        ))}
      </div>
    </details>
  );
}
