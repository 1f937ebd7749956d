import { Button, listenTo, Seal, Spinner, stopAll, Toaster } from '@liaozhai/shared/ui';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { ApprovalSection, ProposalsSection } from './ApprovalSection';
import { type Me, readAddressChannel, saveAddressChannel } from './api';
import { BuildsSection } from './BuildsSection';
import { CandidateSection } from './CandidateSection';
import { CompareDialog } from './CompareDialog';
import styles from './Console.module.css';
import { createConsole } from './createConsole';
import { NoticeDialog, QuestionDialog, useRestoredFocus } from './dialogs';
import { FreezeSection } from './FreezeSection';
import { HealthSection } from './HealthSection';
import { LiveSection } from './LiveSection';
import { LogSection } from './LogSection';
import { formats } from './language';
import { PreviewSection } from './PreviewSection';
import { Choice, ConsoleContext, LanguageSwitch, Section, useSnapshot } from './Section';
import { texts, translate } from './texts';
import { AgendaNotice, focusSection, UrgentNotices } from './UrgentNotices';
import { VitalsSection } from './VitalsSection';
import { WebhookSection } from './WebhookSection';

const POLL_MS = 2500;

export interface SignedInState {
  me: Me;
  channels: string[];
  /** The channel shown first. */
  shown: string;
}

/** `Li Hua · Deployer · stories, Publisher · chat` */
const callerText = ({ person, label, more = [], ...grant }: Me): string =>
  [
    person ?? translate(label ?? ''),
    texts.list([grant, ...more].map(({ role, name }) => [texts.role(role), name].filter(Boolean).join(' · '))),
  ]
    .filter(Boolean)
    .join(' · ');

export function SignedIn({
  me,
  channels,
  shown,
  onLeave,
}: SignedInState & { onLeave: (why: 'asked' | 'refused') => void }) {
  const [console] = useState(() => createConsole(readAddressChannel() ?? shown));
  const state = useSyncExternalStore(console.subscribe, console.state);
  const focusHandlers = useRestoredFocus();
  useEffect(() => {
    const refresh = () => {
      if (document.visibilityState === 'visible') void console.refresh();
    };
    void console.refresh();
    const timer = setInterval(refresh, POLL_MS);
    return stopAll(listenTo(document, ['visibilitychange'], refresh), () => clearInterval(timer));
  }, [console]);
  useEffect(() => {
    if (state.isExpired) onLeave('refused');
  }, [state.isExpired, onLeave]);
  useEffect(() => {
    const onPopState = () => {
      const named = readAddressChannel() ?? shown;
      if (named !== console.state().channel) void console.chooseChannel(named);
    };
    return listenTo(window, ['popstate'], onPopState);
  }, [console, shown]);
  const view = useView();
  useEffect(() => {
    console.turnAway();
    if (view === 'now') focusSection(location.hash.slice(1));
  }, [console, view]);
  const { refreshFailure, toast } = state;
  const isMissing = !channels.includes(state.channel);
  const snapshot = isMissing ? null : state.snapshot;
  return (
    <ConsoleContext value={{ ...state, me, channels, console, snapshot }}>
      <div
        className={styles.frame}
        onInput={({ target }) => isTextField(target) && console.turnAway()}
        {...focusHandlers}
      >
        <header className={styles.header}>
          <Seal sign="聊" size="small" />
          <h1 className={styles.title}>{texts.title}</h1>
          <Choice
            label={texts.channel}
            value={state.channel}
            options={[...(isMissing ? [state.channel] : []), ...channels].map((name) => [name, name])}
            onChange={(channel) => {
              saveAddressChannel(channel);
              void console.chooseChannel(channel);
            }}
          />
          <nav className={styles.views} aria-label={texts.views.title}>
            {VIEWS.map((each) => (
              // otherwise the other view would keep this scroll position
              <a
                key={each}
                href={`#${each}`}
                aria-current={each === view ? 'page' : undefined}
                onClick={() => window.scrollTo(0, 0)}
              >
                {texts.views[each]}
              </a>
            ))}
          </nav>
        </header>
        <main className={styles.main}>
          {isMissing && (
            <p className={styles.notice} role="alert">
              {texts.noChannel(state.channel, texts.list(channels))}
            </p>
          )}
          {refreshFailure && !isMissing && (
            <div className={styles.notice} role="alert">
              <p>{snapshot ? texts.stale(formats.time(snapshot.at)) : texts.nothingSeen}</p>
              {(refreshFailure.lines.length > 0
                ? refreshFailure.lines.map(translate)
                : [texts.refusal(refreshFailure.status)]
              ).map((line) => (
                <p key={line}>{line}</p>
              ))}
            </div>
          )}
          {snapshot && <UrgentNotices />}
          {snapshot && <AgendaNotice />}
          {!snapshot && !refreshFailure && !isMissing && <Spinner label={texts.loading} className={styles.alone} />}
          {snapshot && view === 'now' && <Now />}
          {snapshot && view === 'settings' && <Settings />}
        </main>
        <footer className={styles.foot}>
          <span>{callerText(me)}</span>
          <LanguageSwitch />
          <Button variant="quiet" small onClick={() => onLeave('asked')}>
            {texts.signOut}
          </Button>
        </footer>
        <QuestionDialog />
        {snapshot && <CompareDialog />}
        <NoticeDialog />
        <Toaster toasts={toast ? [toast] : []} label={texts.notices} />
      </div>
    </ConsoleContext>
  );
}

/** A slider or a choice takes no keys that a dialog could take away. */
const isTextField = (target: EventTarget) =>
  target instanceof HTMLTextAreaElement ||
  (target instanceof HTMLInputElement && !['range', 'checkbox', 'radio'].includes(target.type));

const VIEWS = ['now', 'settings'] as const;
type View = (typeof VIEWS)[number];

const onHashChange = (listener: () => void) => listenTo(window, ['hashchange'], listener);

/** The view, from the address's fragment, so that Back switches views. A fragment that names a section belongs to 现在. */
const useView = (): View =>
  useSyncExternalStore(onHashChange, () => VIEWS.find((view) => location.hash === `#${view}`) ?? 'now');

/** The view for an incident, with the most urgent section first. */
function Now() {
  const { proposals = [] } = useSnapshot().status.agenda ?? {};
  return (
    <>
      <div className={styles.sections}>
        <Section title={texts.live.title}>
          <LiveSection />
        </Section>
        <Section id="health" title={texts.health.title} className={styles.beside}>
          <HealthSection />
        </Section>
        <Section title={texts.candidate.title}>
          <CandidateSection />
        </Section>
        {proposals.length > 0 && (
          <Section id="proposals" title={texts.approval.pending}>
            <ProposalsSection proposals={proposals} />
          </Section>
        )}
      </div>
      <div className={styles.sections}>
        <Section title={texts.builds.title}>
          <BuildsSection />
        </Section>
        <Section id="vitals" title={texts.vitals.title}>
          <VitalsSection />
        </Section>
        <Section id="log" title={texts.log.title} className={styles.beside}>
          <LogSection />
        </Section>
      </div>
    </>
  );
}

/** Settings of a channel, for routine work. */
function Settings() {
  return (
    <div className={styles.settings}>
      <Section title={texts.freeze.title}>
        <FreezeSection />
      </Section>
      <Section title={texts.approval.title}>
        <ApprovalSection />
      </Section>
      <Section title={texts.webhook.title}>
        <WebhookSection />
      </Section>
      <Section title={texts.preview.title}>
        <PreviewSection />
      </Section>
    </div>
  );
}
