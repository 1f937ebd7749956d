import { Card, Spinner } from '@liaozhai/shared/ui';
import { useCallback, useEffect, useLayoutEffect, useState, useSyncExternalStore } from 'react';
import {
  ApiFailure,
  endSession,
  failureOf,
  forgetToken,
  forgetTyped,
  get,
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

/** Reads who is at work and what there is to see. */
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

/** Ends what one was signed in with. A provider that can end its own session gets the browser for it. */
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

/** The console: asks who one is, then shows what runs and what can be done about it. */
export function ConsolePage() {
  useLanguage();
  const [entry, setEntry] = useState<EntryState>('entering');
  useEffect(() => {
    void enter().then(setEntry);
  }, []);
  const signIn = (token: string) => {
    saveToken(token);
    setEntry('entering');
    void enter().then(setEntry);
  };
  const onLeave = useCallback((why: 'asked' | 'refused') => void leave(why).then(setEntry), []);
  if (entry === 'entering') return <Spinner label={texts.loading} className={styles.alone} />;
  if (entry instanceof ApiFailure)
    return (
      <Card className={styles.alone} role="alert">
        {[texts.refusal(entry.status), ...entry.lines.map(said)].map((line) => (
          <p key={line}>{line}</p>
        ))}
      </Card>
    );
  if ('me' in entry) return <SignedIn {...entry} onLeave={onLeave} />;
  return <SignIn {...entry} onToken={signIn} />;
}

/** Redraws the page in the chosen language, and sets the language of the document. */
function useLanguage() {
  const chosen = useSyncExternalStore(language.subscribe, language.current);
  useLayoutEffect(() => {
    document.documentElement.lang = LANGUAGES[chosen].tag;
    document.title = texts.documentTitle;
  }, [chosen]);
}
