import { ListRow, TextField } from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { maySwitch } from './api';
import styles from './Console.module.css';
import { ActionButton, AskButton, FoldedForm, useConsole, useDraft, useSnapshot } from './Section';
import { texts, translate } from './texts';

function WebhookForm() {
  const { console } = useConsole();
  const { add, url, hint } = texts.webhook;
  const draft = useDraft('webhook', { url: '' });
  const send = () => console.addWebhook(draft.fields.url.trim()).then((isAdded) => isAdded && draft.clear());
  return (
    <FoldedForm title={add} action={add} draft={draft} onSubmit={send}>
      <TextField type="url" {...draft.propsOf('url')} label={url} hint={hint} autoComplete="off" required />
    </FoldedForm>
  );
}

/** Shortened addresses of one service may be equal, so the id is added. */
const webhookName = (shown: string, id: string) => `${shown} ${id}`;

export function WebhookSection() {
  const { me, console } = useConsole();
  const { webhooks = [] } = useSnapshot().status.agenda ?? {};
  const { nothing, remove, test, by, failing, undelivered } = texts.webhook;
  return (
    <>
      {webhooks.length === 0 && <p className={styles.quiet}>{nothing}</p>}
      <div className={styles.rows}>
        {webhooks.map(({ id, shown, by: who, attempts, problem, undelivered: undeliveredEvents }) => (
          <ListRow
            key={id}
            className={styles.row}
            title={webhookName(shown, id)}
            detail={
              <>
                {by(translate(who))}
                {attempts > 0 && (
                  <span className={clsx(styles.fallback, styles.alarm)}>{failing(attempts, translate(problem))}</span>
                )}
                {undeliveredEvents.length > 0 && (
                  <span className={clsx(styles.fallback, styles.alarm)}>
                    {undelivered(undeliveredEvents.length, translate(undeliveredEvents.at(-1)?.problem ?? ''))}
                  </span>
                )}
              </>
            }
            value={
              maySwitch(me) && (
                <span className={styles.pair}>
                  <ActionButton aria-label={`${test} ${webhookName(shown, id)}`} act={() => console.testWebhook(id)}>
                    {test}
                  </ActionButton>
                  <AskButton
                    aria-label={`${remove} ${webhookName(shown, id)}`}
                    verb="webhook-remove"
                    body={{ id }}
                    question={{ title: remove, action: remove, changes: [webhookName(shown, id)] }}
                  />
                </span>
              )
            }
          />
        ))}
      </div>
      {maySwitch(me) && <WebhookForm />}
    </>
  );
}
