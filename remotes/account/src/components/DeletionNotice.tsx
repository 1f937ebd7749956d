import { failureText, formatClock, formatDate } from '@liaozhai/shared/format';
import { toast } from '@liaozhai/shared/runtime';
import { Button, Card } from '@liaozhai/shared/ui';
import { useState } from 'react';
import styles from '../pages/SecurityEditPage.module.css';
import { texts, useAccountKeepMutation } from './securityApi';

/** Says when the account is erased, and takes that back. @param props.at ISO */
export default function DeletionNotice({ at }: { at: string }) {
  const [now] = useState(Date.now);
  const [keep, { isLoading }] = useAccountKeepMutation();
  const undo = async () => {
    const { error } = await keep();
    if (!error) return toast(texts.deletion.kept, { kind: 'success' });
    const problem = failureText(error);
    if (problem) toast(problem, { kind: 'error' });
  };
  return (
    <Card aria-label={texts.deletion.title} className={styles.notice}>
      <p role="status">{texts.deletion.scheduled(`${formatDate(at, now)} ${formatClock(at)}`)}</p>
      <Button loading={isLoading} onClick={() => void undo()}>
        {texts.deletion.keep}
      </Button>
    </Card>
  );
}
