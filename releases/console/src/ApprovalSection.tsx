import { type Me, maySwitch, type ProposalView } from './api';
import styles from './Console.module.css';
import { formats } from './language';
import { AskButton, FoldedForm, HoursField, Lines, useConsole, useDraft, useSnapshot } from './Section';
import { changeLine, relativeTime, shortId, texts, translate } from './texts';

const SHORT_DIGEST = 12;
const DEFAULT_HOURS = '24';

/** Effects of a proposal, one line each. */
function linesOf({ request, builds, changes, before, after }: ProposalView): string[] {
  const words = texts.approval;
  const [from, to] = [before, after].map((digest) => digest.slice(0, SHORT_DIGEST));
  return [
    ...changes.map(changeLine),
    ...(request.verb === 'canary' ? [texts.candidate.share(request.percent)] : []),
    ...(request.verb === 'schedule' ? [words.steps(translate(request.steps))] : []),
    ...(request.verb === 'promote' && request.from ? [words.from(request.from)] : []),
    ...(request.verb === 'approval' ? [words.rule(request.hours)] : []),
    // raising the share of a live build changes no name, so the builds are listed
    ...(changes.length === 0 ? builds.map(shortId) : []),
    ...('force' in request && request.force ? [words.forced] : []),
    ...('despiteFreeze' in request && request.despiteFreeze ? [words.despiteFreeze(request.despiteFreeze)] : []),
    ...(before === after ? [] : [words.digests(from ?? '', to ?? '')]),
  ];
}

/** Returns why this user cannot approve the proposal; null if they can. */
function obstacleOf({ own, outdated }: ProposalView, me: Me): string | null {
  if (outdated) return texts.approval.outdated;
  if (own) return texts.approval.own;
  return maySwitch(me) ? null : texts.approval.noRight;
}

function ProposalRow({ proposal }: { proposal: ProposalView }) {
  const { me, now } = useConsole();
  const { id, request, by, at, expires, own, outdated } = proposal;
  const words = texts.approval;
  const obstacle = obstacleOf(proposal, me);
  const lines = linesOf(proposal);
  const title = `${words.what[request.verb]} ${id}`;
  const propsFor = (verb: 'approve' | 'reject' | 'retract') => {
    const question = { title: `${words[verb]} · ${title}`, action: words[verb], changes: lines };
    const asking = { verb, body: { id }, question: { ...question, danger: verb === 'reject' } };
    return { 'aria-label': `${words[verb]} ${id}`, ...asking };
  };
  return (
    <section className={styles.plan} aria-label={`${words.changes.proposed} ${title}`}>
      <p>
        <strong>{words.what[request.verb]}</strong> <small className={styles.quiet}>{id}</small>
      </p>
      <p className={styles.quiet}>
        {words.by(translate(by), relativeTime(at, now))} · {words.until(formats.short(expires))}
        {request.why && ` ${texts.log.why(request.why)}`}
      </p>
      <Lines lines={lines} />
      {obstacle && (
        <p id={`obstacle-${id}`} className={outdated ? styles.quiet : styles.alarm}>
          {obstacle}
        </p>
      )}
      <div className={styles.actions}>
        <AskButton {...propsFor(own ? 'retract' : 'reject')} disabled={!own && !maySwitch(me)} />
        <AskButton
          {...propsFor('approve')}
          variant="primary"
          disabled={obstacle !== null}
          aria-describedby={obstacle ? `obstacle-${id}` : undefined}
        />
      </div>
    </section>
  );
}

function RuleForm() {
  const { console } = useConsole();
  const { turnOn, expires, rule } = texts.approval;
  const draft = useDraft('approval', { hours: DEFAULT_HOURS });
  const ask = () => {
    const hours = Number(draft.fields.hours);
    const question = { title: turnOn, action: turnOn, changes: [rule(hours)], form: draft.form };
    console.openQuestion('approval', { hours }, question);
  };
  return (
    <FoldedForm title={turnOn} action={turnOn} draft={draft} onSubmit={ask}>
      <HoursField label={expires} {...draft.propsOf('hours')} />
    </FoldedForm>
  );
}

/** Proposals that await approval, with their changes. */
export const ProposalsSection = ({ proposals }: { proposals: readonly ProposalView[] }) =>
  proposals.map((proposal) => <ProposalRow key={proposal.id} proposal={proposal} />);

/** Setting for two-person approval. */
export function ApprovalSection() {
  const { me } = useConsole();
  const { approval = null } = useSnapshot().status.agenda ?? {};
  const words = texts.approval;
  return (
    <>
      <p className={styles.quiet}>{approval ? words.on(approval.hours, translate(approval.by)) : words.off}</p>
      {!approval && maySwitch(me) && <RuleForm />}
      {approval && maySwitch(me) && (
        <div className={styles.actions}>
          <small className={styles.aside}>{words.needsTwo}</small>
          <AskButton
            verb="approval"
            body={{ hours: null }}
            question={{ title: words.turnOff, action: words.turnOff, danger: true, changes: [words.rule(null)] }}
          />
        </div>
      )}
    </>
  );
}
