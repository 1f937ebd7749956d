import { Link, paths } from '@liaozhai/shared/runtime';
import { Button, EmptyState, Spinner } from '@liaozhai/shared/ui';
import styles from './EmailVerifyPage.module.css';
import { useVerification } from './useVerification';

/** Where the link of a confirmation mail lands: confirms, says so, leads on. */
export default function EmailVerifyPage() {
  const { state, text, signIn, retry } = useVerification();
  return (
    <div className={styles.page}>
      <h1 className={styles.title}>邮箱确认</h1>
      <div role="status" className={styles.outcome}>
        {state === 'checking' ? (
          <p className={styles.checking}>
            <Spinner />
            {text}
          </p>
        ) : (
          <EmptyState text={text} drawing={state === 'refused' ? 'mountain' : 'moon'} />
        )}
      </div>
      <div className={styles.actions}>
        {state === 'confirmed' && <Button onClick={signIn}>去登录</Button>}
        {state === 'failed' && <Button onClick={retry}>重试</Button>}
        {state !== 'checking' && (
          <Button variant={state === 'signedIn' ? 'primary' : 'quiet'} asLink={<Link to={paths.explore()} replace />}>
            去看故事
          </Button>
        )}
      </div>
    </div>
  );
}
