import {
  emailProblem,
  formatMoment,
  formatRelative,
  meantLogin,
  meantPassword,
  missingText,
} from '@liaozhai/shared/format';
import { isApiError, Link, paths, toast, type User, useCapability, useGoBack } from '@liaozhai/shared/runtime';
import {
  Button,
  Card,
  Dialog,
  Foreign,
  KeyIcon,
  ListRow,
  QueryView,
  RowBoundary,
  Skeleton,
  Tag,
  TextField,
  TopBar,
  useCountdown,
  useNow,
} from '@liaozhai/shared/ui';
import { type ReactNode, useState } from 'react';
import { toastFailure, useRefetchOn } from '../components/actions';
import {
  type AccountEmail,
  type Device,
  texts,
  useAccountChangeEmailMutation,
  useAccountEndSessionsMutation,
  useAccountGetDevicesQuery,
  useAccountGetEmailQuery,
  useAccountKeepMutation,
  useAccountScheduleDeletionMutation,
} from '../components/securityApi';
import { CurrentPassword, useLast, useLastUser, useServerForm } from '../components/serverForm';
import styles from './SecurityEditPage.module.css';

/** 账号与安全: shows the features that the server supports. */
export default function SecurityEditPage() {
  const user = useLastUser();
  const goBack = useGoBack(paths.my());
  const hasEmail = useCapability('account.email');
  const hasDevices = useCapability('account.devices');
  const canDelete = useCapability('account.delete');
  return (
    <>
      <TopBar title={texts.security.title} onBack={goBack} />
      {user && (
        <div className={styles.page} key={user.id}>
          {hasEmail && <EmailCard user={user} />}
          <Card flush>
            <ListRow
              icon={<KeyIcon size={20} />}
              title={texts.security.password.title}
              detail={texts.security.password.detail}
              asLink={<Link to={paths.profile()} />}
            />
          </Card>
          {hasDevices && <DevicesCard />}
          {canDelete &&
            (user.deletionAt !== null ? <DeletionNotice at={user.deletionAt} /> : <DeletionCard user={user} />)}
        </div>
      )}
    </>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Card aria-label={title} className={styles.section}>
      <h2 className={styles.title}>{title}</h2>
      {children}
    </Card>
  );
}

const missingPassword = (password: string) =>
  password === '' ? missingText(texts.security.currentPassword) : undefined;

const RESEND_PAUSE_SECONDS = 60;

/** The account's address, which is added or changed by a link in a mail. */
function EmailCard({ user }: { user: User }) {
  const query = useAccountGetEmailQuery();
  // the link in the mail may be opened on another device
  useRefetchOn('user.updated', query.refetch);
  // the answer is dropped while the screen is hidden
  const currentData = useLast(query.currentData) ?? undefined;
  return (
    <Section title={texts.email.title}>
      <QueryView query={{ ...query, currentData }} skeleton={<Skeleton shape="text" count={2} />}>
        {(state) => <EmailState user={user} state={state} />}
      </QueryView>
    </Section>
  );
}

function EmailState({ user, state: { email, pending } }: { user: User; state: AccountEmail }) {
  const [isChanging, setChanging] = useState(false);
  const [send, { isLoading }] = useAccountChangeEmailMutation();
  /** Seconds until another mail can be requested. */
  const [remainingSeconds, startCountdown] = useCountdown(() => 0);
  const onSent = () => {
    startCountdown(RESEND_PAUSE_SECONDS);
    toast(texts.email.sent, { kind: 'success' });
  };
  const resend = async () => {
    const { error } = await send('resend');
    if (!error) return onSent();
    if (isApiError(error) && error.kind === 'tooOften') startCountdown(error.retryAfterSeconds ?? 0);
    toastFailure(error);
  };
  const onChanged = () => {
    setChanging(false);
    onSent();
  };
  return (
    <>
      {email !== '' && (
        <p className={styles.address}>
          <span translate="no">
            <Foreign>{email}</Foreign>
          </span>
          <Tag>{texts.email.confirmed}</Tag>
        </p>
      )}
      <p className={styles.about} role="status">
        {pending !== '' ? texts.email.pending(pending) : email === '' && texts.email.none}
      </p>
      {isChanging ? (
        <EmailForm user={user} onDone={onChanged} onCancel={() => setChanging(false)} />
      ) : (
        <div className={styles.actions}>
          {pending !== '' && (
            <Button loading={isLoading} disabled={remainingSeconds > 0} onClick={() => void resend()}>
              {remainingSeconds > 0 ? texts.email.resendIn(remainingSeconds) : texts.email.resend}
            </Button>
          )}
          <Button variant="quiet" onClick={() => setChanging(true)}>
            {email === '' && pending === '' ? texts.email.bind : texts.email.change}
          </Button>
        </div>
      )}
    </>
  );
}

function EmailForm({ user, onDone, onCancel }: { user: User; onDone: () => void; onCancel: () => void }) {
  const [change] = useAccountChangeEmailMutation();
  const { form, field, isSending } = useServerForm({
    initialValues: { email: '', current_password: '' },
    reason: 'email',
    problemsOf: ({ email, current_password }) => ({
      email: emailProblem(meantLogin(email)),
      current_password: missingPassword(current_password),
    }),
    send: ({ email, current_password }) =>
      change({ email: meantLogin(email), current_password: meantPassword(current_password) }),
    onSent: onDone,
  });
  return (
    <form {...form} className={styles.form}>
      <TextField
        {...field('email')}
        label={texts.email.field}
        type="email"
        autoComplete="email"
        maxLength={120}
        required
      />
      <CurrentPassword {...field('current_password')} label={texts.security.currentPassword} user={user} />
      <div className={styles.actions}>
        <Button type="submit" loading={isSending}>
          {texts.email.send}
        </Button>
        <Button variant="quiet" disabled={isSending} onClick={onCancel}>
          {texts.security.cancel}
        </Button>
      </div>
    </form>
  );
}

function DevicesCard() {
  const query = useAccountGetDevicesQuery();
  useRefetchOn('session.ended', query.refetch);
  return (
    <Section title={texts.devices.title}>
      <QueryView query={query} skeleton={<Skeleton shape="text" count={3} />}>
        {(devices) => <DeviceList devices={devices} refetch={query.refetch} />}
      </QueryView>
    </Section>
  );
}

function DeviceList({ devices, refetch }: { devices: Device[]; refetch: () => unknown }) {
  const now = useNow();
  const [target, setTarget] = useState<Device | 'others' | null>(null);
  const [end, { isLoading }] = useAccountEndSessionsMutation();
  const words = texts.devices;
  const confirm = async () => {
    if (target === null) return;
    const { error } = await end(target);
    setTarget(null);
    if (error) toastFailure(error);
    else toast(words.done, { kind: 'success' });
    // also after a failure: the session may have ended already
    void refetch();
  };
  return (
    <>
      <ul className={styles.devices}>
        {devices.map((each) => (
          <RowBoundary key={each.id} of={each} as="li">
            {(device) => (
              <li className={styles.device}>
                <span className={styles.words}>
                  <span>{device.name}</span>
                  {device.lastUsedAt && (
                    <span className={styles.about}>{words.lastUsed(formatRelative(device.lastUsedAt, now))}</span>
                  )}
                </span>
                {device.isCurrent ? (
                  <Tag>{words.current}</Tag>
                ) : (
                  <Button variant="quiet" small aria-label={words.endOf(device.name)} onClick={() => setTarget(device)}>
                    {words.end}
                  </Button>
                )}
              </li>
            )}
          </RowBoundary>
        ))}
      </ul>
      <p className={styles.about}>{words.hint}</p>
      {devices.some(({ isCurrent }) => !isCurrent) && (
        <Button variant="quiet" block onClick={() => setTarget('others')}>
          {words.endOthers}
        </Button>
      )}
      <Dialog
        open={target !== null}
        title={target === null || target === 'others' ? words.askOthers : words.ask(target.name)}
        confirmLabel={words.confirm}
        cancelLabel={texts.security.cancel}
        onConfirm={() => void confirm()}
        onClose={() => setTarget(null)}
        busy={isLoading}
        danger
      >
        {words.body}
      </Dialog>
    </>
  );
}

/** Shows when the account will be deleted, with a button to keep it. `at` is an ISO time. */
export function DeletionNotice({ at }: { at: string }) {
  const now = useNow();
  const [cancelDeletion, { isLoading }] = useAccountKeepMutation();
  const undo = async () => {
    const { data, error } = await cancelDeletion();
    if (error) return toastFailure(error);
    if (data === null) toast(texts.deletion.kept, { kind: 'success' });
    else toast(texts.deletion.notKept, { kind: 'error' });
  };
  return (
    <Card aria-label={texts.deletion.title} className={styles.notice}>
      <p role="status">{texts.deletion.scheduled(formatMoment(at, now))}</p>
      <Button loading={isLoading} onClick={() => void undo()}>
        {texts.deletion.keep}
      </Button>
    </Card>
  );
}

function DeletionCard({ user }: { user: User }) {
  const [isAsking, setAsking] = useState(false);
  return (
    <Section title={texts.deletion.title}>
      <ul className={styles.consequences}>
        {texts.deletion.about.map((consequence) => (
          <li key={consequence}>{consequence}</li>
        ))}
      </ul>
      {isAsking ? (
        <DeletionForm user={user} onCancel={() => setAsking(false)} />
      ) : (
        <div className={styles.actions}>
          <Button variant="danger" onClick={() => setAsking(true)}>
            {texts.deletion.begin}
          </Button>
        </div>
      )}
    </Section>
  );
}

function DeletionForm({ user, onCancel }: { user: User; onCancel: () => void }) {
  const words = texts.deletion;
  const [schedule] = useAccountScheduleDeletionMutation();
  const { form, field, isSending } = useServerForm({
    initialValues: { current_password: '', typed: '' },
    reason: 'deletion',
    problemsOf: ({ current_password, typed }) => ({
      current_password: missingPassword(current_password),
      typed: typed.trim() === words.typedWords ? undefined : words.mistyped(words.typedWords),
    }),
    send: ({ current_password }) => schedule({ current_password: meantPassword(current_password) }),
    onSent: (deletionAt) => {
      if (deletionAt) return;
      // the server does not say when, so that no notice of the page does
      toast(words.scheduled(''), { kind: 'success' });
      onCancel();
    },
  });
  return (
    <form {...form} className={styles.form}>
      <CurrentPassword {...field('current_password')} label={texts.security.currentPassword} user={user} />
      <TextField {...field('typed')} label={words.typed(words.typedWords)} autoComplete="off" required />
      <div className={styles.actions}>
        <Button type="submit" variant="danger" loading={isSending}>
          {words.confirm}
        </Button>
        <Button variant="quiet" disabled={isSending} onClick={onCancel}>
          {texts.security.cancel}
        </Button>
      </div>
    </form>
  );
}
