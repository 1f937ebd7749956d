import { Button, Card, TextField } from '@liaozhai/shared/ui';
import { useState } from 'react';
import { loginAddress } from './api';
import styles from './Console.module.css';
import { LANGUAGES, language } from './language';
import { Alarm } from './Section';
import { texts } from './texts';

/** State of a guest: how to sign in, and what went wrong before. */
export interface GuestState {
  offered: boolean;
  /** Set if a token was refused or a session has ended. */
  refused: 'token' | 'session' | null;
  /** Kind of the provider's sign-in failure, as reported by the server. */
  failure: string | null;
}

/** Button for the other language, in that language. */
export function LanguageSwitch({ className }: { className?: string }) {
  const otherLanguage = language.current() === 'zh' ? 'en' : 'zh';
  const { tag, name } = LANGUAGES[otherLanguage];
  return (
    <Button variant="quiet" small className={className} lang={tag} onClick={() => language.choose(otherLanguage)}>
      {name}
    </Button>
  );
}

export function SignIn({ offered, refused, failure, onToken }: GuestState & { onToken: (token: string) => void }) {
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
