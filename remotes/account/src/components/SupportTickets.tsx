import { codePoints, formatMoment, hasNetwork, missingText, rowsOf, serverNow } from '@liaozhai/shared/format';
import { drafts, newClientId, toast, useOnline } from '@liaozhai/shared/runtime';
import {
  Button,
  Card,
  ChevronDownIcon,
  Chip,
  QueryView,
  RowBoundary,
  Skeleton,
  Switch,
  Tag,
  TextArea,
  TextField,
  useFieldErrors,
} from '@liaozhai/shared/ui';
import { type FormEvent, type ReactNode, useMemo, useRef, useState } from 'react';
import { showRefusal, useRefetchOn } from './actions';
import styles from './SupportTickets.module.css';
import {
  readTicketDraft,
  TICKET_CHARACTERS,
  type Ticket,
  type TicketDraft,
  ticketTexts as texts,
  ticketKinds,
  useAccountGetTicketsInfiniteQuery,
  useAccountReadTicketMutation,
  useAccountSendTicketMutation,
  wordsOf,
} from './tickets';

/** Key of the draft, next to those of the conversations. */
const DRAFT_KEY = 'form:support';

interface SupportTicketsProps {
  /** Sent with the ticket, unless the user switches it off. */
  diagnostics: string;
  /** Shows the diagnostics. */
  children: ReactNode;
}

export default function SupportTickets({ diagnostics, children }: SupportTicketsProps) {
  const query = useAccountGetTicketsInfiniteQuery(undefined, { refetchOnMountOrArgChange: true });
  useRefetchOn('ticket.answered', query.refetch);
  const list = useRef<HTMLElement>(null);
  const tickets = useMemo(() => query.data && rowsOf(query.data.pages), [query.data]);
  const unreadCount = tickets?.filter(({ isUnread }) => isUnread).length ?? 0;
  const { write, mine, newAnswers, loadingMine, older } = texts;
  return (
    <>
      {unreadCount > 0 && (
        <Button block className={styles.news} onClick={() => list.current?.scrollIntoView({ block: 'start' })}>
          {newAnswers(unreadCount)}
        </Button>
      )}
      <section className={styles.section} aria-label={write}>
        <h2 className={styles.title}>{write}</h2>
        <TicketForm diagnostics={diagnostics}>{children}</TicketForm>
      </section>
      {(tickets?.length !== 0 || query.hasNextPage) && (
        <section ref={list} className={styles.section} aria-label={mine}>
          <h2 className={styles.title}>{mine}</h2>
          <QueryView
            query={{ ...query, data: tickets, currentData: tickets }}
            skeleton={<Skeleton shape="row" count={2} label={loadingMine} />}
            isEmpty={(all) => all.length === 0}
          >
            {(all) => (
              <Card flush>
                {all.map((each) => (
                  <RowBoundary key={each.id} of={each}>
                    {(ticket) => <TicketEntry ticket={ticket} />}
                  </RowBoundary>
                ))}
              </Card>
            )}
          </QueryView>
          {query.hasNextPage && (
            <Button variant="quiet" block loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
              {older}
            </Button>
          )}
        </section>
      )}
    </>
  );
}

const newDraft = (): TicketDraft => ({ kind: 'points', body: '', contact: '', clientId: newClientId() });

const readStoredDraft = () => readTicketDraft(drafts.read(DRAFT_KEY));

/** The draft is stored on the device and survives reloads and offline times. Its idempotency key prevents sending it twice. */
function useTicketDraft() {
  const [draft, setDraft] = useState(() => readStoredDraft() ?? newDraft());
  const edit = (change: Partial<TicketDraft>) => {
    const editedDraft = { ...draft, ...change };
    setDraft(editedDraft);
    drafts.write(DRAFT_KEY, editedDraft.body || editedDraft.contact ? JSON.stringify(editedDraft) : '');
  };
  /** Returns the draft to send. Changed words get a new key: the server may have stored the former ones under theirs. */
  const prepare = (): TicketDraft => {
    const sentWords = wordsOf(draft);
    const isChanged = draft.sentWords !== undefined && draft.sentWords !== sentWords;
    const ticket = { ...draft, sentWords, clientId: isChanged ? newClientId() : draft.clientId };
    edit(ticket);
    return ticket;
  };
  /** Removes the sent words; those that were written meanwhile stay. */
  const settle = (sent: TicketDraft) => {
    const current = readStoredDraft();
    if (current && wordsOf(current) !== sent.sentWords) return;
    setDraft({ ...newDraft(), contact: sent.contact });
    drafts.write(DRAFT_KEY, '');
  };
  return { draft, edit, prepare, settle };
}

function problemOf(body: string): string | undefined {
  const { body: label, bodyTooLong } = texts;
  if (body.trim() === '') return missingText(label);
  return codePoints(body.trim()) > TICKET_CHARACTERS ? bodyTooLong(TICKET_CHARACTERS) : undefined;
}

function TicketForm({ diagnostics, children }: SupportTicketsProps) {
  const { draft, edit: editDraft, prepare, settle } = useTicketDraft();
  const [isAttached, setAttached] = useState(true);
  const { formRef, errors, showErrors, clearErrors } = useFieldErrors('body', 'contact');
  const [send, { isLoading: isSending }] = useAccountSendTicketMutation();
  const isOnline = useOnline();
  const edit = (change: Partial<TicketDraft>) => {
    editDraft(change);
    clearErrors('body', 'contact');
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isSending || showErrors({ body: problemOf(draft.body) })) return;
    const ticket = prepare();
    const { error } = await send({ ...ticket, diagnostics: isAttached ? diagnostics : '' });
    if (error) return showRefusal(error, showErrors);
    settle(ticket);
    toast(texts.sent, { kind: 'success' });
  };
  return (
    <form ref={formRef} onSubmit={(event) => void submit(event)} aria-label={texts.write} noValidate>
      <Card className={styles.form}>
        <fieldset className={styles.kinds} aria-label={texts.kind}>
          {ticketKinds.map((kind) => (
            <Chip key={kind} selected={kind === draft.kind} onClick={() => edit({ kind })}>
              {texts.kinds[kind]}
            </Chip>
          ))}
        </fieldset>
        <TextArea
          label={texts.body}
          name="body"
          rows={4}
          maxCodePoints={TICKET_CHARACTERS}
          placeholder={texts.bodyPlaceholder}
          value={draft.body}
          error={errors.body}
          onChange={({ target }) => edit({ body: target.value })}
        />
        <TextField
          label={texts.ticketContact}
          name="contact"
          hint={texts.ticketContactHint}
          value={draft.contact}
          error={errors.contact}
          maxLength={100}
          onChange={({ target }) => edit({ contact: target.value })}
        />
        <div>
          <Switch label={texts.attach} name="attach" checked={isAttached} onChange={setAttached} />
          <p className={styles.hint}>{texts.attachHint}</p>
          {children}
        </div>
        <Button type="submit" block loading={isSending} disabled={!isOnline}>
          {texts.send}
        </Button>
        <p className={styles.hint} role="status">
          {isOnline ? texts.draftKept : hasNetwork() ? texts.unreachableDraft : texts.offlineDraft}
        </p>
      </Card>
    </form>
  );
}

/** Parts of a line, with the time if it is known. */
const lineOf = (name: string, instant: string | undefined) =>
  instant ? `${name} · ${formatMoment(instant, serverNow())}` : name;

/** A ticket that expands to its answer. Expanding marks a new answer as read. */
function TicketEntry({ ticket }: { ticket: Ticket }) {
  const [markRead] = useAccountReadTicketMutation();
  const { id, kind, body, answer, answeredAt, isUnread, createdAt } = ticket;
  const status = answer === undefined ? texts.open : isUnread ? texts.newAnswer : texts.answered;
  return (
    <details
      className={styles.entry}
      onToggle={({ currentTarget }) => currentTarget.open && isUnread && void markRead(id)}
    >
      <summary className={styles.summary}>
        <span className={styles.words}>
          <span className={styles.excerpt}>{body}</span>
          <span className={styles.about}>{lineOf(texts.kinds[kind], createdAt)}</span>
        </span>
        <Tag tone={answer === undefined ? 'ink' : isUnread ? 'accent' : 'jade'}>{status}</Tag>
        <ChevronDownIcon className={styles.chevron} size={18} />
      </summary>
      <div className={styles.whole}>
        <p className={styles.body}>{body}</p>
        {answer !== undefined && (
          <blockquote className={styles.answer}>
            <p className={styles.about}>{lineOf(texts.answer, answeredAt)}</p>
            <p className={styles.body}>{answer}</p>
          </blockquote>
        )}
        <p className={styles.about}>{texts.ticketNumber(id)}</p>
      </div>
    </details>
  );
}
