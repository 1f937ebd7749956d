import { Button, Card, Seal, Spinner, TextField, Toaster } from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { type ReactNode, useCallback, useEffect, useLayoutEffect, useState, useSyncExternalStore } from 'react';
import { AgendaNotice, FreezeSection, WebhookSection } from './AgendaSection';
import { ApprovalSection } from './ApprovalSection';
import {
  ApiFailure,
  endSession,
  failureOf,
  forgetToken,
  forgetTyped,
  get,
  type LogEntry,
  loginAddress,
  type Me,
  maySwitch,
  readChosen,
  readSession,
  readSignInFailure,
  readToken,
  saveChosen,
  saveToken,
} from './api';
import { BuildsSection, OriginLine } from './BuildsSection';
import { CandidateSection, HealthSection, VitalsSection } from './CandidateSection';
import styles from './Console.module.css';
import { createConsole } from './createConsole';
import { NoticeDialog, QuestionDialog, useKeptFocus } from './dialogs';
import { ErrorsList } from './ErrorsList';
import { ActionButton, LiveSection, PreviewSection, type SectionProps, UrgentNotices } from './LiveSection';
import { evidenceLine, formats, fullIdsOf, LANGUAGES, language, relativeTime, subjectOf, texts } from './texts';

const LOOK_MILLISECONDS = 2500;

interface Entered {
  me: Me;
  channels: string[];
  /** The channel shown first. */
  shown: string;
}

/** Not signed in: what there is to sign in with, and what went wrong before. */
interface Outside {
  offered: boolean;
  /** A token was refused, or a session is over. */
  refused: 'token' | 'session' | null;
  /** Why the provider's sign-in failed, by the server. */
  failure: string | null;
}

type Entry = 'entering' | Outside | Entered | ApiFailure;

/** Reads who is at work and what there is to see. */
async function enter(): Promise<Entry> {
  const failure = readSignInFailure();
  const hasToken = readToken() !== null;
  const { offered, signedIn } = hasToken ? { offered: false, signedIn: false } : await readSession();
  if (!hasToken && !signedIn) return { offered, refused: null, failure };
  const found = await Promise.all([get<Me>('me'), get<{ channels: string[]; shown: string }>('channels')]).catch(
    failureOf,
  );
  if (!(found instanceof ApiFailure)) return { me: found[0], ...found[1] };
  return found.status === 401 ? leave('refused') : found;
}

/** Ends what one was signed in with. A provider that can end its own session gets the browser for it. */
async function leave(why: 'asked' | 'refused'): Promise<Entry> {
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
  const [entry, setEntry] = useState<Entry>('entering');
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
        {[texts.refusal(entry.status), ...entry.lines].map((line) => (
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

/** Offers the other language, by its own name. */
function LanguageSwitch({ className }: { className?: string }) {
  const other = language.current() === 'zh' ? 'en' : 'zh';
  const { tag, name } = LANGUAGES[other];
  return (
    <Button variant="quiet" small className={className} lang={tag} onClick={() => language.choose(other)}>
      {name}
    </Button>
  );
}

function SignIn({ offered, refused, failure, onToken }: Outside & { onToken: (token: string) => void }) {
  const [token, setToken] = useState('');
  const problem = failure ? texts.signInFailure(failure) : refused === 'session' ? texts.signIn.ended : null;
  // a person without access may have another account
  const login = loginAddress(failure === 'noAccess');
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
        {problem && (
          <p className={styles.alarm} role="alert">
            {problem}
          </p>
        )}
        {offered && (
          <>
            <Button asLink={<a href={login} />}>{texts.signIn.provider}</Button>
            <p className={styles.or}>{texts.signIn.or}</p>
          </>
        )}
        {/* password managers keep a token below a name */}
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

/** `Li Hua · Deployer · stories, Publisher · chat` */
const whoIs = ({ person, label, more = [], ...grant }: Me): string =>
  [person ?? label, texts.list([grant, ...more].map(({ role, name }) => texts.role(role, name)))]
    .filter(Boolean)
    .join(' · ');

function SignedIn({ me, channels, shown, onLeave }: Entered & { onLeave: (why: 'asked' | 'refused') => void }) {
  const [chosen] = useState(() => {
    const named = readChosen();
    return named !== null && channels.includes(named) ? named : shown;
  });
  const [console] = useState(() => createConsole(chosen));
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
  useEffect(() => {
    const onPopState = () => {
      const named = readChosen() ?? shown;
      if (named !== console.state().channel && channels.includes(named)) void console.chooseChannel(named);
    };
    window.addEventListener('popstate', onPopState);
    return () => window.removeEventListener('popstate', onPopState);
  }, [console, channels, shown]);
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
          onChange={({ target }) => {
            saveChosen(target.value);
            void console.chooseChannel(target.value);
          }}
        >
          {channels.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <span className={styles.who}>{whoIs(me)}</span>
        <LanguageSwitch />
        <Button variant="quiet" small onClick={() => onLeave('asked')}>
          {texts.signOut}
        </Button>
      </header>
      <main className={styles.main}>
        {stale && (
          <p className={styles.notice} role="alert">
            {seen ? texts.stale : texts.nothingSeen}
          </p>
        )}
        {seen && <UrgentNotices status={seen.status} log={seen.log} health={health} {...part} />}
        {seen && <AgendaNotice agenda={seen.status.agenda} />}
        {!seen && !stale && <Spinner label={texts.loading} className={styles.alone} />}
        {seen && (
          <div className={styles.sections}>
            <Section title={texts.live.title}>
              <LiveSection status={seen.status} log={seen.log} channels={channels} {...part} />
            </Section>
            <Section title={texts.candidate.title}>
              <CandidateSection status={seen.status} {...part} />
            </Section>
            <Section title={texts.approval.title}>
              <ApprovalSection agenda={seen.status.agenda} {...part} />
            </Section>
            <Section title={texts.freeze.title}>
              <FreezeSection agenda={seen.status.agenda} {...part} />
            </Section>
            <Section title={texts.webhook.title}>
              <WebhookSection agenda={seen.status.agenda} {...part} />
            </Section>
            <Section id="health" title={texts.health.title}>
              <ErrorsList errors={health?.errors ?? []} />
              <HealthSection health={health} />
            </Section>
            <Section id="vitals" title={texts.vitals.title}>
              <VitalsSection vitals={health?.vitals} />
            </Section>
            <Section title={texts.builds.title}>
              <BuildsSection status={seen.status} names={seen.names} {...part} />
            </Section>
            <Section title={texts.preview.title}>
              <PreviewSection previews={state.previews} {...part} />
            </Section>
            <Section id="log" title={texts.log.title} className={styles.log}>
              <LogSection log={seen.log} {...part} />
            </Section>
          </div>
        )}
      </main>
      <footer className={styles.foot}>{whoIs(me)}</footer>
      <QuestionDialog
        question={state.question}
        mayOverride={me.role === 'manager'}
        onType={console.type}
        onAgree={console.agree}
        onCallOff={console.callOff}
      />
      <NoticeDialog notice={state.notice} onClose={console.dismiss} />
      <Toaster toasts={toast ? [toast] : []} label={texts.notices} />
    </div>
  );
}

interface PartProps {
  /** For what a notice leads to. */
  id?: string;
  title: string;
  className?: string;
  children: ReactNode;
}

function Section({ id, title, className, children }: PartProps) {
  return (
    <Card id={id} className={clsx(styles.section, className)} aria-label={title}>
      <h2 className={styles.heading} tabIndex={-1}>
        {title}
      </h2>
      {children}
    </Card>
  );
}

const TONES: Record<string, string | undefined> = {
  rollback: styles.back,
  abort: styles.back,
  kill: styles.back,
  withdraw: styles.back,
  canary: styles.aside,
  init: styles.aside,
  preview: styles.aside,
  'preview-end': styles.aside,
  renew: styles.aside,
  schedule: styles.aside,
  freeze: styles.aside,
  webhook: styles.aside,
  approval: styles.aside,
  proposal: styles.aside,
};

function LogRow({ entry, isCurrent, ...props }: { entry: LogEntry; isCurrent: boolean } & SectionProps) {
  const { me, console, running, now } = props;
  const { seq, verb, action, why, who, at, origins = {} } = entry;
  const control = `restore ${seq}`;
  const { restore, restoreState } = texts.log;
  return (
    <li className={clsx(styles.entry, TONES[verb])}>
      <p>
        <strong>
          {seq} · {texts.verb(verb)}
        </strong>{' '}
        <span title={fullIdsOf(entry)}>{subjectOf(action)}</span>
      </p>
      <small title={formats.moment(at)}>{texts.log.by(who, relativeTime(at, now))}</small>
      {Object.entries(origins).map(([id, origin]) => (
        <OriginLine key={id} {...origin} />
      ))}
      {why && <p className={styles.quiet}>{texts.log.why(why)}</p>}
      {action.evidence.length > 0 && (
        <ul className={styles.lines}>
          {action.evidence.map(evidenceLine).map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
      {!isCurrent && seq > 1 && maySwitch(me) && (
        <ActionButton
          className={styles.restore}
          control={control}
          running={running}
          aria-label={`${restore} ${seq}`}
          onClick={() => void console.rollback(control, { to: seq, title: restoreState(seq) })}
        >
          {restore}
        </ActionButton>
      )}
    </li>
  );
}

/** Who did what and why, newest first. */
function LogSection({ log, ...props }: { log: readonly LogEntry[] } & SectionProps) {
  return (
    <ol className={styles.timeline}>
      {log.map((entry, at) => (
        <LogRow key={entry.seq} entry={entry} isCurrent={at === 0} {...props} />
      ))}
    </ol>
  );
}
