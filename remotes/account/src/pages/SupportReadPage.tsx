import { toProductRules } from '@liaozhai/shared/format';
import {
  hostConfig,
  pageInfo,
  paths,
  useCapabilitiesAsked,
  useCapability,
  useGoBack,
  useOnline,
  useRealtimeStatus,
  useUser,
} from '@liaozhai/shared/runtime';
import { Button, Card, ChevronDownIcon, CopyIcon, IconButton, ListRow, late, TopBar } from '@liaozhai/shared/ui';
import { type ReactNode, useState } from 'react';
import { copyWithToast } from '../components/actions';
import { supportQuestions } from '../components/supportQuestions';
import { texts } from '../texts';
import styles from './SupportReadPage.module.css';

const SupportTickets = late(() => import(/* webpackChunkName: "support.tickets" */ '../components/SupportTickets'));

export default function SupportReadPage() {
  const canDelete = useCapability('account.delete');
  const goBack = useGoBack(paths.my());
  const hasTickets = useCapability('support.tickets');
  // the replacement for tickets shows only once they are known to be unsupported, since it would disappear again
  const areCapabilitiesKnown = useCapabilitiesAsked(!hasTickets);
  const lacksTickets = !hasTickets && areCapabilitiesKnown;
  const { email, wechat } = hostConfig().support;
  const hasContact = Boolean(email || wechat);
  const diagnostics = useDiagnostics();
  return (
    <>
      <TopBar title={texts.support.title} onBack={goBack} />
      <div className={styles.page}>
        <Section title={texts.support.faq}>
          <FaqList groups={supportQuestions(toProductRules(hostConfig().rules), canDelete)} />
        </Section>
        {hasTickets && (
          <SupportTickets diagnostics={diagnosticsText(diagnostics)}>
            <Diagnostics lines={diagnostics} />
          </SupportTickets>
        )}
        {(hasContact || lacksTickets) && (
          <Section title={texts.support.contact}>
            <ContactCard hint={lacksTickets ? texts.support.withDiagnostics : undefined} />
          </Section>
        )}
        {lacksTickets && (
          <Section title={texts.support.diagnostics}>
            <Card>
              <p className={styles.diagnosticsCardHint}>{texts.support.diagnosticsHint}</p>
              <Diagnostics lines={diagnostics} />
            </Card>
          </Section>
        )}
      </div>
    </>
  );
}

const Section = ({ title, children }: { title: string; children: ReactNode }) => (
  <section className={styles.section} aria-label={title}>
    <h2 className={styles.title}>{title}</h2>
    {children}
  </section>
);

/** Questions of which one is open at a time; the browser's own search finds and opens closed ones. */
function FaqList({ groups }: { groups: Record<string, Record<string, string>> }) {
  return Object.entries(groups).map(([title, answers]) => (
    <section key={title} aria-label={title}>
      <h3 className={styles.group}>{title}</h3>
      <Card flush>
        {Object.entries(answers).map(([question, answer]) => (
          <details key={question} className={styles.entry} name="faq">
            <summary className={styles.question}>
              <span>{question}</span>
              <ChevronDownIcon className={styles.chevron} size={18} />
            </summary>
            <p className={styles.answer}>{answer}</p>
          </details>
        ))}
      </Card>
    </section>
  ));
}

function CopyableValue({ label, value }: { label: string; value: string }) {
  return (
    <>
      <span className={styles.value} translate="no">
        {value}
      </span>
      <IconButton
        label={texts.support.copyValue(label)}
        icon={<CopyIcon size={18} />}
        onClick={() => void copyWithToast(value, texts.support)}
      />
    </>
  );
}

/** The contact channels that the site has configured, or a note that it has none. */
function ContactCard({ hint }: { hint: string | undefined }) {
  const { email, wechat, hours } = hostConfig().support;
  const words = texts.support;
  if (!email && !wechat) return <p className={styles.none}>{words.noContact}</p>;
  return (
    <>
      <Card flush>
        {email && (
          <ListRow
            title={words.email}
            value={
              <a className={styles.mail} href={`mailto:${email}`} translate="no">
                <span>{email.replace(/@.*/, '@')}</span>
                <wbr />
                <span>{email.replace(/.*@/, '')}</span>
              </a>
            }
          />
        )}
        {wechat && <ListRow title={words.wechat} value={<CopyableValue label={words.wechat} value={wechat} />} />}
        {hours && <ListRow title={words.hours} value={hours} />}
      </Card>
      {hint && <p className={styles.hint}>{hint}</p>}
    </>
  );
}

/** Data for support, which the user can read before copying or sending it. */
function Diagnostics({ lines }: { lines: DiagnosticLine[] }) {
  return (
    <details className={styles.details}>
      <summary className={styles.detailsSummary}>
        {texts.support.details}
        <ChevronDownIcon className={styles.chevron} size={18} />
      </summary>
      <dl className={styles.lines}>
        {lines.map(({ name, value }) => (
          <div key={name} className={styles.line}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Button
        variant="quiet"
        block
        icon={<CopyIcon size={18} />}
        onClick={() => void copyWithToast(diagnosticsText(lines), texts.support)}
      >
        {texts.support.copyDiagnostics}
      </Button>
    </details>
  );
}

type DiagnosticLine = Record<'name' | 'value', string>;

/** Collects data for support about this page. */
function useDiagnostics(): DiagnosticLine[] {
  const [openedAt] = useState(() => new Date().toISOString());
  const user = useUser();
  const isOnline = useOnline();
  const realtime = useRealtimeStatus();
  const { channel, set, builds, problems = [] } = pageInfo();
  const { support } = texts;
  return [
    { name: support.userId, value: user?.id ?? '' },
    { name: support.time, value: openedAt },
    { name: support.channel, value: channel },
    { name: support.set, value: set },
    ...Object.entries(builds).map(([name, build]) => ({ name: support.build(name), value: build })),
    { name: support.problems, value: problems.join('、') },
    { name: support.network, value: isOnline ? support.online : support.offline },
    { name: support.realtime, value: support.realtimeStates[realtime] },
    { name: support.screen, value: `${window.innerWidth}×${window.innerHeight} @${window.devicePixelRatio}` },
    { name: support.browser, value: navigator.userAgent },
  ].filter(({ value }) => value !== '');
}

/** One line per value, to be pasted into a mail. */
const diagnosticsText = (lines: DiagnosticLine[]): string =>
  lines.map(({ name, value }) => `${name}：${value}`).join('\n');
