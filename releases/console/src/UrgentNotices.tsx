import { Button } from '@liaozhai/shared/ui';
import type { ReactNode } from 'react';
import { mayGoBack, maySwitch, nameOf, servedBy } from './api';
import { DecisionButton } from './CandidateSection';
import styles from './Console.module.css';
import { formats } from './language';
import { ActionButton, RollbackButton, useConsole, useSnapshot } from './Section';
import { evidenceLine, labels, listOf, relativeTime, riseLine, subjectOf, texts, translate, troubles } from './texts';

/** Scrolls to the section with this id and focuses its heading. */
export function focusSection(id: string): void {
  const section = document.getElementById(id);
  section?.scrollIntoView();
  section?.querySelector('h2')?.focus({ preventScroll: true });
}

/** Button that opens the section of a notice. From the settings it switches to 现在. */
function SectionLink({ section, label }: { section: 'health' | 'vitals' | 'log' | 'proposals'; label: string }) {
  const openSection = () => {
    location.hash = section;
    focusSection(section);
  };
  return (
    <Button variant="quiet" small onClick={openSection}>
      {label}
    </Button>
  );
}

function UrgentNotice({ children, actions }: { children: ReactNode; actions: ReactNode }) {
  return (
    <div className={styles.urgent} role="alert">
      {children}
      <div className={styles.actions}>{actions}</div>
    </div>
  );
}

const MAX_NAMED = 4;

const buildNames = (builds: readonly string[]): string =>
  listOf({ builds: builds.slice(0, MAX_NAMED), more: builds.length - MAX_NAMED });

/** Ends the failures of a live build: rolls back, else withdraws. For the host, it restores the previous set. */
function RecoveryButton({ build }: { build: string }) {
  const snapshot = useSnapshot();
  const { me, console } = useConsole();
  const { withdraw } = texts.live;
  const name = nameOf(build);
  const isPermitted = maySwitch(me, name);
  if (isPermitted && mayGoBack(snapshot, name)) return <RollbackButton variant="danger" target={{ name }} />;
  if (isPermitted && name !== 'host')
    return (
      <ActionButton variant="danger" aria-label={`${withdraw} ${labels.of(name)}`} act={() => console.withdraw(build)}>
        {withdraw}
      </ActionButton>
    );
  return maySwitch(me) && mayGoBack(snapshot) ? <RollbackButton variant="danger" target={{}} /> : null;
}

/** Notices for a person on call: current failures, automatic stops and completed rollbacks. */
export function UrgentNotices() {
  const { me, now, health } = useConsole();
  const { status, log } = useSnapshot();
  const alarmingBuilds = health?.builds.filter(({ alarm }) => alarm) ?? [];
  const { stops, served } = servedBy(status, log, now);
  return (
    <>
      {health &&
        troubles(status, health).map(({ builds, lines, section }) => {
          return (
            <UrgentNotice
              key={builds.join()}
              actions={
                <>
                  <SectionLink section={section} label={texts.now.figures} />
                  {builds.every((id) => maySwitch(me, nameOf(id))) && <DecisionButton verb="abort" builds={builds} />}
                </>
              }
            >
              <strong>{texts.now.candidate(buildNames(builds))}</strong>
              {lines.map((line) => (
                <p key={line}>{line}</p>
              ))}
            </UrgentNotice>
          );
        })}
      {alarmingBuilds.map((health) => {
        const { build } = health;
        return (
          <UrgentNotice
            key={build}
            actions={
              <>
                <SectionLink section="health" label={texts.now.figures} />
                <RecoveryButton build={build} />
              </>
            }
          >
            <strong>{texts.now.stable(buildNames([build]))}</strong>
            <p>{riseLine(health)}</p>
          </UrgentNotice>
        );
      })}
      {stops.map(({ seq, at, action }) => (
        <UrgentNotice key={seq} actions={<SectionLink section="log" label={texts.now.log} />}>
          <strong>{texts.now.stopped(subjectOf(action), relativeTime(at, now))}</strong>
          {action.evidence.slice(0, 1).map((each) => (
            <p key={each.kind}>{evidenceLine(each)}</p>
          ))}
        </UrgentNotice>
      ))}
      {served && (
        <p className={styles.good} role="status">
          {texts.now.served(
            served.seq,
            served.set.slice(0, 8),
            relativeTime(served.at, now),
            served.builds.length > 0 ? buildNames(served.builds) : texts.now.withdrawn(buildNames(served.withdrawn)),
          )}
        </p>
      )}
    </>
  );
}

/** Notices for the whole page: an open freeze, proposals that await approval, and schedules that no process runs. */
export function AgendaNotice() {
  const { agenda } = useSnapshot().status;
  if (!agenda) return null;
  const { frozen, problem, schedules, watched, proposals = [] } = agenda;
  const lines = [
    ...(problem ? [translate(problem)] : []),
    ...(frozen ? [texts.freeze.open(formats.short(frozen.until), frozen.reason)] : []),
    ...(schedules.length > 0 && !watched ? [texts.schedule.unwatched] : []),
  ];
  return (
    <>
      {lines.map((line) => (
        <p key={line} className={styles.notice} role="status">
          {line}
        </p>
      ))}
      {proposals.length > 0 && (
        <div className={styles.notice} role="status">
          {texts.approval.waits(proposals.length)}
          <div className={styles.actions}>
            <SectionLink section="proposals" label={texts.now.proposals} />
          </div>
        </div>
      )}
    </>
  );
}
