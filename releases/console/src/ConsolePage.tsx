import { Button, Card, Spinner } from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { useCallback, useEffect, useLayoutEffect, useState, useSyncExternalStore } from 'react';
import {
  ApiFailure,
  endSession,
  failureOf,
  forgetToken,
  forgetTyped,
  get,
  hasLinkToken,
  type Me,
  readSession,
  readSignInFailure,
  readToken,
  saveToken,
} from './api';
import styles from './Console.module.css';
import { type Entered, SignedIn } from './SignedIn';
import { type Outside, SignIn } from './SignIn';
import { LANGUAGES, language, said, texts } from './texts';

type EntryState = 'entering' | Outside | Entered | ApiFailure;

/** Loads the session or token, the caller's grants and the channels. */
async function enter(): Promise<EntryState> {
  const failure = readSignInFailure();
  const hasToken = readToken() !== null;
  const { offered, signedIn } = hasToken ? { offered: false, signedIn: false } : await readSession();
  if (!hasToken && !signedIn) return { offered, refused: null, failure };
  const answers = await Promise.all([get<Me>('me'), get<{ channels: string[]; shown: string }>('channels')]).catch(
    failureOf,
  );
  if (!(answers instanceof ApiFailure)) return { me: answers[0], ...answers[1] };
  return answers.status === 401 ? leave('refused') : answers;
}

/** Signs out. Opens the provider's page if the provider can end its session, too. */
async function leave(why: 'asked' | 'refused'): Promise<EntryState> {
  const hadToken = readToken() !== null;
  forgetToken();
  if (why === 'asked') forgetTyped();
  const address = why === 'asked' && !hadToken ? await endSession().catch(failureOf) : null;
  if (address instanceof ApiFailure) return address;
  if (address) location.assign(address);
  const { offered } = await readSession();
  return { offered, refused: why === 'asked' ? null : hadToken ? 'token' : 'session', failure: null };
}

/** The console: sign-in, then the state of the channels and the actions on them. */
export function ConsolePage() {
  useLanguage();
  const [entry, setEntry] = useState<EntryState>('entering');
  const again = useCallback(() => {
    setEntry('entering');
    void enter().then(setEntry);
  }, []);
  useEffect(again, [again]);
  // pasting a link with a token over the open page changes only the hash
  useEffect(() => {
    const onHashChange = () => {
      if (hasLinkToken()) again();
    };
    window.addEventListener('hashchange', onHashChange);
    return () => window.removeEventListener('hashchange', onHashChange);
  }, [again]);
  const signIn = (token: string) => {
    saveToken(token);
    again();
  };
  const onLeave = useCallback((why: 'asked' | 'refused') => void leave(why).then(setEntry), []);
  if (entry !== 'entering' && 'me' in entry) return <SignedIn {...entry} onLeave={onLeave} />;
  return (
    <main>
      {entry === 'entering' ? (
        <Spinner label={texts.loading} className={styles.alone} />
      ) : entry instanceof ApiFailure ? (
        <Closed failure={entry} onAgain={again} />
      ) : (
        <SignIn {...entry} onToken={signIn} />
      )}
    </main>
  );
}

/** Shown if nothing could be loaded: the reason and a retry button. */
const Closed = ({ failure, onAgain }: { failure: ApiFailure; onAgain: () => void }) => (
  <Card className={clsx(styles.alone, styles.signIn)}>
    <h1>{texts.title}</h1>
    <div role="alert">
      {[texts.refusal(failure.status), ...failure.lines.map(said)].map((line) => (
        <p key={line}>{line}</p>
      ))}
    </div>
    <Button onClick={onAgain}>{texts.again}</Button>
  </Card>
);

/** Renders the page again when the language changes, and sets the document's `lang` and title. */
function useLanguage() {
  const chosen = useSyncExternalStore(language.subscribe, language.current);
  useLayoutEffect(() => {
    document.documentElement.lang = LANGUAGES[chosen].tag;
    document.title = texts.documentTitle;
  }, [chosen]);
}
