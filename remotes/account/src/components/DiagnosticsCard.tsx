import { copyText, toast } from '@liaozhai/shared/runtime';
import { Button, Card, CopyIcon } from '@liaozhai/shared/ui';
import { useState } from 'react';
import { texts } from '../texts';
import styles from './DiagnosticsCard.module.css';
import { diagnosticsText, useDiagnostics } from './useDiagnostics';

/** What support needs to find a problem, readable before it is copied. */
export function DiagnosticsCard() {
  const [openedAt] = useState(() => Date.now());
  const lines = useDiagnostics(openedAt);
  const copy = async () => {
    const copied = await copyText(diagnosticsText(lines));
    toast(copied ? texts.support.copied : texts.support.copyFailed, { kind: copied ? 'success' : 'error' });
  };
  return (
    <Card>
      <p className={styles.hint}>{texts.support.diagnosticsHint}</p>
      <dl className={styles.lines}>
        {lines.map(({ name, value }) => (
          <div key={name} className={styles.line}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Button variant="quiet" block icon={<CopyIcon size={18} />} onClick={() => void copy()}>
        {texts.support.copyDiagnostics}
      </Button>
    </Card>
  );
}
