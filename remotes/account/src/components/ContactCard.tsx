import { copyText, hostConfig, toast } from '@liaozhai/shared/runtime';
import { Card, CopyIcon, IconButton, ListRow } from '@liaozhai/shared/ui';
import { texts } from '../texts';
import styles from './ContactCard.module.css';

async function copyValue(value: string) {
  const copied = await copyText(value);
  toast(copied ? texts.support.copied : texts.support.copyFailed, { kind: copied ? 'success' : 'error' });
}

function CopyableValue({ label, value }: { label: string; value: string }) {
  return (
    <>
      <span className={styles.value}>{value}</span>
      <IconButton
        label={texts.support.copyValue(label)}
        icon={<CopyIcon size={18} />}
        onClick={() => void copyValue(value)}
      />
    </>
  );
}

/** The ways to reach people that this site has configured; said plainly where there are none. */
export function ContactCard() {
  const { email, wechat, hours } = hostConfig().support;
  const mail = email && (
    <a className={styles.mail} href={`mailto:${email}`}>
      {email}
    </a>
  );
  if (!email && !wechat) return <p className={styles.none}>{texts.support.noContact}</p>;
  return (
    <>
      <Card flush>
        {mail && <ListRow title={texts.support.email} value={mail} />}
        {wechat && (
          <ListRow title={texts.support.wechat} value={<CopyableValue label={texts.support.wechat} value={wechat} />} />
        )}
        {hours && <ListRow title={texts.support.hours} value={hours} />}
      </Card>
      <p className={styles.hint}>{texts.support.withDiagnostics}</p>
    </>
  );
}
