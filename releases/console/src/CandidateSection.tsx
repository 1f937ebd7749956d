import { Button, ListRow } from '@liaozhai/shared/ui';
import { useId, useState } from 'react';
import { ApiFailure, type ChannelView, candidatesOf, maySwitch, nameOf } from './api';
import styles from './Console.module.css';
import { PlanForm, ScheduleRow } from './ScheduleSection';
import { AskButton, Name, useConsole, useSnapshot } from './Section';
import { SharedLibraries } from './SharedLibraries';
import {
  changesBy,
  changesByAbort,
  namesList,
  relativeTime,
  schedulesEnded,
  texts,
  translate,
  versionOf,
} from './texts';

const STEPS = [0, 0.1, 0.5, 1, 2, 5, 10, 20, 30, 50, 75, 100];
/** Steps of the slider: the usual shares and the candidate's current one. */
const stepsWith = (percent: number): number[] =>
  STEPS.includes(percent) ? STEPS : [...STEPS, percent].sort((left, right) => left - right);

type ShownCandidate = NonNullable<ChannelView['candidate']>;

function Share({ candidate: { builds, percent } }: { candidate: ShownCandidate }) {
  const { status } = useSnapshot();
  const { console, isRunning } = useConsole();
  const steps = stepsWith(percent);
  const [step, setStep] = useState(steps.indexOf(percent));
  const id = useId();
  const chosenPercent = steps[step] ?? 0;
  const { share, slider, apply } = texts.candidate;
  const changes = [`${share(percent)} → ${share(chosenPercent)}`, ...schedulesEnded(status, builds)];
  const title = `${apply} ${namesList(builds)}`;
  return (
    <div className={styles.share}>
      <label htmlFor={id}>{slider}</label>
      <input
        type="range"
        id={id}
        min={0}
        max={steps.length - 1}
        step={1}
        value={step}
        aria-valuetext={share(chosenPercent)}
        onChange={(event) => setStep(Number(event.target.value))}
      />
      <output htmlFor={id}>{share(chosenPercent)}</output>
      <Button
        variant="quiet"
        small
        disabled={isRunning || chosenPercent === percent}
        onClick={() => {
          const options = { title, action: apply, changes, isWayBack: chosenPercent < percent };
          console.openQuestion('canary', { builds, percent: chosenPercent }, options);
        }}
      >
        {apply}
      </Button>
    </div>
  );
}

interface DecisionProps {
  verb: 'abort' | 'promote';
  builds: readonly string[];
}

/** Asks before the candidate of these builds ends, for nobody or for everybody. */
export function DecisionButton({ verb, builds }: DecisionProps) {
  const { status } = useSnapshot();
  const action = texts.candidate[verb];
  const title = `${action} ${namesList(builds)}`;
  const isAbort = verb === 'abort';
  const changes = isAbort ? changesByAbort(status, builds) : changesBy(status, builds);
  return (
    <AskButton
      variant={isAbort ? 'danger' : 'primary'}
      aria-label={title}
      verb={verb}
      body={{ name: nameOf(builds[0] ?? '') }}
      question={{ title, action, danger: isAbort, changes: [...changes, ...schedulesEnded(status, builds)] }}
    />
  );
}

function OneCandidate({ candidate }: { candidate: ShownCandidate }) {
  const { me, now } = useConsole();
  const { status, sharing } = useSnapshot();
  const { builds, percent, since, by, salt } = candidate;
  const isPermitted = builds.every((id) => maySwitch(me, nameOf(id)));
  const candidates = sharing instanceof ApiFailure ? [] : (sharing?.candidates ?? []);
  const shared = candidates.find((each) => each.builds.join() === builds.join());
  const plan = status.agenda?.schedules.find((each) => each.builds.some((id) => builds.includes(id)));
  return (
    <div className={styles.candidate}>
      <p className={styles.quiet}>
        {texts.candidate.share(percent)} · {texts.candidate.begun(relativeTime(since, now), translate(by))}
      </p>
      <div className={styles.rows}>
        {builds.map((id) => (
          <ListRow
            key={id}
            className={styles.row}
            title={<Name name={nameOf(id)} />}
            detail={<span title={id}>{versionOf(id)}</span>}
          />
        ))}
      </div>
      <SharedLibraries libraries={shared?.libraries ?? []} />
      {/* the key keeps the share being chosen until the candidate or its share changes */}
      {isPermitted && <Share key={`${salt} ${percent}`} candidate={candidate} />}
      {plan ? (
        <ScheduleRow schedule={plan} isRunning />
      ) : (
        isPermitted && percent < 100 && <PlanForm builds={builds} percent={percent} />
      )}
      {isPermitted && (
        <div className={styles.actions}>
          <DecisionButton verb="abort" builds={builds} />
          <DecisionButton verb="promote" builds={builds} />
        </div>
      )}
    </div>
  );
}

/** The candidates, each with its builds, share, age, author and actions. */
export function CandidateSection() {
  const { status } = useSnapshot();
  const candidates = candidatesOf(status);
  const candidateBuilds = candidates.flatMap(({ builds }) => builds);
  const laterSchedules = (status.agenda?.schedules ?? []).filter(
    ({ builds }) => !builds.some((id) => candidateBuilds.includes(id)),
  );
  if (candidates.length + laterSchedules.length === 0) return <p className={styles.quiet}>{texts.candidate.nothing}</p>;
  return (
    <>
      {candidates.map((candidate) => (
        <OneCandidate key={candidate.salt} candidate={candidate} />
      ))}
      {laterSchedules.map((schedule) => (
        <div key={schedule.builds.join()} className={styles.candidate}>
          <ScheduleRow schedule={schedule} isRunning={false} />
        </div>
      ))}
    </>
  );
}
