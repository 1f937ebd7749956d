import { Button, Card, Seal, Spinner, TextField, Toaster } from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { type ReactNode, useEffect, useState, useSyncExternalStore } from 'react';
import { ApiFailure, failureOf, forgetToken, get, type Me, readToken, saveToken } from './api';
import { BuildsSection } from './BuildsSection';
import { CandidateSection, HealthSection } from './CandidateSection';
import styles from './Console.module.css';
import { createConsole } from './createConsole';
import { NoticeDialog, QuestionDialog } from './dialogs';
import { LiveSection } from './LiveSection';
import { LogSection } from './LogSection';
import { texts } from './texts';
import { useKeptFocus } from './useKeptFocus';

const LOOK_MILLISECONDS = 2500;

interface Entered {
  me: Me;
  channels: string[];
  /** The channel shown first. */
  shown: string;
}

type Entry = 'out' | 'refused' | 'entering' | Entered | ApiFailure;

/** Reads who the token belongs to and what there is to see. */
async function enter(): Promise<Entry> {
  if (!readToken()) return 'out';
  const found = await Promise.all([get<Me>('me'), get<{ channels: string[]; shown: string }>('channels')]).catch(
    failureOf,
  );
  if (!(found instanceof ApiFailure)) return { me: found[0], ...found[1] };
  if (found.status !== 401) return found;
  forgetToken();
  return 'refused';
}

/** The console: asks for a token, then shows what runs and what can be done about it. */
export function ConsolePage() {
  const [entry, setEntry] = useState<Entry>('entering');
  useEffect(() => {
    void enter().then(setEntry);
  }, []);
  const signIn = (token: string) => {
    saveToken(token);
    setEntry('entering');
    void enter().then(setEntry);
  };
  const leave = (to: 'out' | 'refused') => {
    forgetToken();
    setEntry(to);
  };
  if (entry === 'entering') return <Spinner label={texts.loading} className={styles.alone} />;
  if (entry === 'out' || entry === 'refused') return <SignIn refused={entry === 'refused'} onToken={signIn} />;
  if (entry instanceof ApiFailure)
    return (
      <Card className={styles.alone} role="alert">
        {[entry.message, ...entry.lines].map((line) => (
          <p key={line}>{line}</p>
        ))}
      </Card>
    );
  return <SignedIn {...entry} onLeave={leave} />;
}

function SignIn({ refused, onToken }: { refused: boolean; onToken: (token: string) => void }) {
  const [token, setToken] = useState('');
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
        <TextField
          type="password"
          label={texts.signIn.label}
          hint={texts.signIn.hint}
          error={refused ? texts.signIn.wrong : undefined}
          autoComplete="off"
          required
          value={token}
          onChange={(event) => setToken(event.target.value)}
        />
        <Button type="submit">{texts.signIn.action}</Button>
      </form>
    </Card>
  );
}

function SignedIn({ me, channels, shown, onLeave }: Entered & { onLeave: (to: 'out' | 'refused') => void }) {
  const [console] = useState(() => createConsole(shown));
  const state = useSyncExternalStore(console.subscribe, console.state);
  const focus = useKeptFocus();
  useEffect(() => {
    void console.refresh();
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void console.refresh();
    }, LOOK_MILLISECONDS);
    return () => clearInterval(timer);
  }, [console]);
  useEffect(() => {
    if (state.refused) onLeave('refused');
  }, [state.refused, onLeave]);
  const { seen, health, stale, now, toast } = state;
  const part = { me, console, running: state.running, now };
  return (
    <div className={styles.frame} {...focus}>
      <header className={styles.header}>
        <Seal size="small" />
        <h1 className={styles.title}>{texts.title}</h1>
        <select
          className={styles.channel}
          aria-label={texts.channel}
          value={state.channel}
          onChange={(event) => void console.chooseChannel(event.target.value)}
        >
          {channels.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <span className={styles.who}>{texts.role(me.role, me.name)}</span>
        <Button variant="quiet" small onClick={() => onLeave('out')}>
          {texts.signOut}
        </Button>
      </header>
      <main className={styles.main}>
        {stale && (
          <p className={styles.notice} role="alert">
            {seen ? texts.stale : texts.nothingSeen}
          </p>
        )}
        {!seen && !stale && <Spinner label={texts.loading} className={styles.alone} />}
        {seen && (
          <div className={styles.sections}>
            <Section title={texts.live.title}>
              <LiveSection status={seen.status} {...part} />
            </Section>
            <Section title={texts.candidate.title}>
              <CandidateSection status={seen.status} {...part} />
            </Section>
            <Section title={texts.health.title}>
              <HealthSection health={health} />
            </Section>
            <Section title={texts.builds.title}>
              <BuildsSection status={seen.status} names={seen.names} {...part} />
            </Section>
            <Section title={texts.log.title} className={styles.log}>
              <LogSection log={seen.log} {...part} />
            </Section>
          </div>
        )}
      </main>
      <QuestionDialog question={state.question} onAgree={console.agree} onCallOff={console.callOff} />
      <NoticeDialog notice={state.notice} onClose={console.dismiss} />
      <Toaster toasts={toast ? [toast] : []} />
    </div>
  );
}

function Section({ title, className, children }: { title: string; className?: string; children: ReactNode }) {
  return (
    <Card className={clsx(styles.section, className)} aria-label={title}>
      <h2 className={styles.heading} tabIndex={-1}>
        {title}
      </h2>
      {children}
    </Card>
  );
}
