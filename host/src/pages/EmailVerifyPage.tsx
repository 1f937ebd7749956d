import { endpoints } from '@liaozhai/shared/contract';
import { errorText } from '@liaozhai/shared/format';
import {
  hostConfig,
  Link,
  paths,
  request,
  requestLogin,
  session,
  toApiError,
  useLocation,
  useParams,
} from '@liaozhai/shared/runtime';
import { Button, EmptyState, Spinner, whenResolved } from '@liaozhai/shared/ui';
import { useCallback, useEffect, useState } from 'react';
import { settlePendingConfirmation, useResend } from '../auth/confirmation';
import { texts } from '../auth/texts';
import { pendingConfirmation } from '../auth/visitMemory';
import { useNavigation } from '../navigation';
import styles from './EmailVerifyPage.module.css';

/** Landing page of a confirmation mail's link: confirms the address and shows the outcome. */
export default function EmailVerifyPage() {
  const { state, text, signIn, retry } = useVerification();
  return (
    <div className={styles.page}>
      <h1 className={styles.title}>邮箱确认</h1>
      <div role="status">
        {state === 'checking' ? (
          <p className={styles.checking}>
            <Spinner />
            <span>{text}</span>
          </p>
        ) : (
          <EmptyState text={text} drawing={state === 'refused' ? 'mountain' : 'moon'} />
        )}
      </div>
      <div className={styles.actions}>
        {state === 'confirmed' && <Button onClick={signIn}>去登录</Button>}
        {state === 'failed' && <Button onClick={retry}>重试</Button>}
        {state === 'refused' && <AnotherLink signIn={signIn} />}
        {state !== 'checking' && (
          <Button variant={state === 'signedIn' ? 'primary' : 'quiet'} asLink={<Link to={paths.explore()} replace />}>
            去看故事
          </Button>
        )}
      </div>
    </div>
  );
}

/** Offers a new link. The browser that created the account requests the mail directly; others sign in first. */
function AnotherLink({ signIn }: { signIn: () => void }) {
  const [isOwnAccount] = useState(() => pendingConfirmation.read() !== null);
  const { busy, secondsLeft, resend, label } = useResend();
  if (isMember()) return null;
  if (!isOwnAccount) return <Button onClick={signIn}>{texts.confirmEmail.resendSignedIn}</Button>;
  return (
    <Button loading={busy} disabled={secondsLeft > 0} onClick={resend}>
      {label}
    </Button>
  );
}

interface Verification {
  /** `confirmed`: the visitor has yet to sign in. `refused` is final, `failed` can be retried. */
  state: 'checking' | 'confirmed' | 'signedIn' | 'refused' | 'failed';
  text: string;
}

const isMember = () => session.current().status === 'member';

const checking: Verification = { state: 'checking', text: '正在确认…' };

async function verify(url: string): Promise<Verification> {
  try {
    await request({ url });
  } catch (cause) {
    const error = toApiError(cause);
    const isFinal = ['forbidden', 'notFound', 'gone', 'conflict'].includes(error.kind);
    // Laravel refuses a bad signature in English
    const text = error.message || (isFinal ? '链接无效或已过期' : errorText(error));
    return { state: isFinal ? 'refused' : 'failed', text };
  }
  // another browser has no session to ask about
  const isNew = pendingConfirmation.read() !== null;
  const isOwnAccount = isNew || isMember();
  if (isOwnAccount) await session.refresh();
  settlePendingConfirmation();
  return isMember()
    ? {
        state: 'signedIn',
        text: isNew ? texts.confirmEmail.confirmed(hostConfig().brand.name) : texts.confirmEmail.bound,
      }
    : { state: 'confirmed', text: '邮箱已确认，请登录。' };
}

function useVerification() {
  const { id = '', hash = '' } = useParams();
  const { search } = useLocation();
  const navigation = useNavigation();
  const [outcome, setOutcome] = useState(checking);
  const url = endpoints.verifyEmail(id, hash, search);

  const run = useCallback(() => {
    setOutcome(checking);
    return whenResolved(verify(url), setOutcome);
  }, [url]);
  useEffect(run, [run]);

  const signIn = async () => {
    if (await requestLogin('login')) navigation.replace(paths.explore());
  };
  return { ...outcome, retry: run, signIn };
}
