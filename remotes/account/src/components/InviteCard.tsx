import { copyText, hostConfig, share, toast } from '@liaozhai/shared/runtime';
import { Button, Card, CopyIcon, IconButton, ShareIcon } from '@liaozhai/shared/ui';
import { inviteLink } from '../model';
import { toProductRules } from '../model/productRules';
import { texts } from '../texts';
import styles from './InviteCard.module.css';

/** A link takes longer to note down than a sentence takes to read. */
const LINK_SHOWN_MS = 10_000;

async function copyCode(code: string) {
  const copied = await copyText(code);
  if (copied) toast(texts.invite.copied, { kind: 'success' });
  else toast(texts.invite.copyFailed, { kind: 'error' });
}

async function shareLink(code: string) {
  const url = inviteLink(window.location.origin, code);
  const outcome = await share({ title: texts.invite.shareTitle, text: texts.invite.shareText, url });
  if (outcome === 'copied') toast(texts.invite.shareCopied, { kind: 'success' });
  if (outcome === 'failed') toast(texts.invite.shareFailed(url), { kind: 'error', durationMs: LINK_SHOWN_MS });
}

/** The reader's invite code: to copy by itself, or to share as a link that carries it. */
export function InviteCard({ code }: { code: string }) {
  const { inviterReward, inviteeReward } = toProductRules(hostConfig().rules);
  const known = inviterReward !== undefined && inviteeReward !== undefined;
  return (
    <Card aria-label={texts.invite.title}>
      <h2 className={styles.title}>{texts.invite.title}</h2>
      <p className={styles.about}>{known ? texts.invite.rewards(inviterReward, inviteeReward) : texts.invite.plain}</p>
      <div className={styles.line}>
        <p className={styles.code}>
          <span className={styles.label}>{texts.invite.code}</span>
          <span className={styles.value}>{code}</span>
        </p>
        <IconButton label={texts.invite.copy} icon={<CopyIcon size={20} />} onClick={() => void copyCode(code)} />
        <Button variant="quiet" small icon={<ShareIcon size={18} />} onClick={() => void shareLink(code)}>
          {texts.invite.share}
        </Button>
      </div>
    </Card>
  );
}
