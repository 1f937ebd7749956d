import { Button, Card, listenTo, Spinner, TextField } from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { useCallback, useEffect, useLayoutEffect, useState, useSyncExternalStore } from 'react';
import {
  ApiFailure,
  endSession,
  failureOf,
  forgetEverything,
  forgetToken,
  get,
  hasLinkToken,
  loginAddress,
  type Me,
  readSession,
  readSignInFailure,
  readToken,
  saveToken,
} from './api';
import styles from './Console.module.css';
import { LANGUAGES, language } from './language';
import { Alarm, LanguageSwitch } from './Section';
import { SignedIn, type SignedInState } from './SignedIn';
import { texts, translate } from './texts';

/** State of a guest: how to sign in, and what went wrong before. */
interface GuestState {
  offered: boolean;
  /** Set if a token was refused or a session has ended. */
  refused: 'token' | 'session' | null;
  /** Kind of the provider's sign-in failure, as reported by the server. */
  failure: string | null;
}

type EntryState = 'entering' | GuestState | SignedInState | ApiFailure;

/** Loads the session or token, the caller's grants and the channels. */
async function loadEntry(): Promise<EntryState> {
  const failure = readSignInFailure();
  const session = readToken() === null ? await readSession() : null;
  if (session?.signedIn === false) return { offered: session.offered, refused: null, failure };
  const answers = await Promise.all([get<Me>('me'), get<{ channels: string[]; shown: string }>('channels')]).catch(
    failureOf,
  );
  if (!(answers instanceof ApiFailure)) return { me: answers[0], ...answers[1] };
  return answers.status === 401 ? signOut('refused') : answers;
}

/** Signs out. Opens the provider's page if the provider can end its session, too. */
async function signOut(why: 'asked' | 'refused'): Promise<EntryState> {
  const hadToken = readToken() !== null;
  if (why === 'asked') forgetEverything();
  else forgetToken();
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
  const retry = useCallback(() => {
    setEntry('entering');
    void loadEntry().then(setEntry);
  }, []);
  useEffect(retry, [retry]);
  // pasting a link with a token over the open page changes only the hash
  useEffect(() => listenTo(window, ['hashchange'], () => hasLinkToken() && retry()), [retry]);
  const signIn = (token: string) => {
    saveToken(token);
    retry();
  };
  const onLeave = useCallback((why: 'asked' | 'refused') => void signOut(why).then(setEntry), []);
  if (entry !== 'entering' && 'me' in entry) return <SignedIn {...entry} onLeave={onLeave} />;
  return (
    <main>
      {entry === 'entering' ? (
        <Spinner label={texts.loading} className={styles.alone} />
      ) : entry instanceof ApiFailure ? (
        <EntryFailed failure={entry} onRetry={retry} />
      ) : (
        <SignIn {...entry} onToken={signIn} />
      )}
    </main>
  );
}

function SignIn({ offered, refused, failure, onToken }: GuestState & { onToken: (token: string) => void }) {
  const [token, setToken] = useState('');
  const problem = failure ? texts.signInFailure(failure) : refused === 'session' ? texts.signIn.ended : null;
  // a person without access may want to use another account
  const loginUrl = loginAddress(failure === 'noAccess');
  return (
    <Card className={styles.alone}>
      <form
        className={styles.signIn}
        onSubmit={(event) => {
          event.preventDefault();
          if (token.trim()) onToken(token.trim());
        }}
      >
        <h1>{texts.title}</h1>
        {problem && <Alarm>{problem}</Alarm>}
        {offered && (
          <>
            <Button asLink={<a href={loginUrl} />}>{texts.signIn.provider}</Button>
            <p className={styles.or}>{texts.signIn.or}</p>
          </>
        )}
        {/* password managers store a password under a user name */}
        <input type="text" name="username" autoComplete="username" value={texts.documentTitle} readOnly hidden />
        <TextField
          type="password"
          name="password"
          label={texts.signIn.label}
          hint={texts.signIn.hint}
          error={refused === 'token' ? texts.signIn.wrong : undefined}
          autoComplete="current-password"
          required
          value={token}
          onChange={(event) => setToken(event.target.value)}
        />
        <Button type="submit" variant={offered ? 'quiet' : 'primary'}>
          {texts.signIn.action}
        </Button>
        <LanguageSwitch className={styles.language} />
      </form>
    </Card>
  );
}

/** Shown if nothing could be loaded: the reason and a retry button. */
const EntryFailed = ({ failure, onRetry }: { failure: ApiFailure; onRetry: () => void }) => (
  <Card className={clsx(styles.alone, styles.signIn)}>
    <h1>{texts.title}</h1>
    <div role="alert">
      {[texts.refusal(failure.status), ...failure.lines.map(translate)].map((line) => (
        <p key={line}>{line}</p>
      ))}
    </div>
    <Button onClick={onRetry}>{texts.again}</Button>
  </Card>
);

/** Renders the page again when the language changes, and sets the document's `lang` and title. */
function useLanguage() {
  const currentLanguage = useSyncExternalStore(language.subscribe, language.current);
  useLayoutEffect(() => {
    document.documentElement.lang = LANGUAGES[currentLanguage].tag;
    document.title = texts.documentTitle;
  }, [currentLanguage]);
}
