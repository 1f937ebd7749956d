import { type ErrorHealth, nameOf, type Portion } from './api';
import styles from './Console.module.css';
import { CopyButton } from './dialogs';
import { labels } from './labels';
import { formats, texts, versionOf } from './texts';

const mostAffected = ([first, ...more]: readonly Portion[], format: (label: string, more: number) => string): string =>
  format(first?.label ?? '–', more.length);

/** `chat 1.4.0：3.1% 的访客，全是 Safari 17，在 /story/:id，ChatLog.tsx:88 的 TypeError，01:12 起` */
function sentenceOf({ build, gone, visitors, of, browsers, routes, where, name, kind, first }: ErrorHealth): string {
  const words = texts.errors;
  return words.sentence(
    `${labels.of(nameOf(build))} ${versionOf(build)}${gone ? texts.errors.gone : ''}`,
    words.share(visitors, of),
    mostAffected(browsers, words.browsers),
    mostAffected(routes, words.routes),
    where ? words.inPlace(name, where) : texts.failure(kind),
    formats.recent(first),
  );
}

/** Details for a fix: message, source positions, and affected browsers and routes. */
const detailsOf = ({ name, message, frames, browsers, routes, last }: ErrorHealth): string[] => [
  ...(message ? [`${name}: ${message}`] : []),
  ...frames.map(({ at, name: functionName }) => `at ${functionName ? `${functionName} (${at})` : at}`),
  texts.list([...browsers, ...routes].map(({ label, visitors }) => texts.errors.visitors(label, visitors))),
  texts.errors.last(formats.recent(last)),
];

function ErrorRow({ error }: { error: ErrorHealth }) {
  const lines = [sentenceOf(error), ...detailsOf(error)];
  const [sentence, ...details] = lines;
  return (
    <details className={styles.details}>
      <summary className={error.gone ? styles.quiet : undefined}>{sentence}</summary>
      <ul className={styles.lines}>
        {details.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      <div className={styles.actions}>
        <CopyButton text={[...lines, error.build].join('\n')} variant="quiet" small />
      </div>
    </details>
  );
}

/** Errors in the code of builds, each as a sentence with details; running builds come first. */
export const ErrorsList = ({ errors }: { errors: readonly ErrorHealth[] }) =>
  errors.map((error) => (
    <ErrorRow key={`${error.build} ${error.name} ${error.where} ${error.kind} ${error.first}`} error={error} />
  ));
