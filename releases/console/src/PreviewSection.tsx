import { ListRow, TextField } from '@liaozhai/shared/ui';
import { ApiFailure, type Preview, pathOf } from './api';
import styles from './Console.module.css';
import { formats } from './language';
import { Alarm, AskButton, FoldedForm, HoursField, useAnswer, useConsole, useDraft, useSnapshot } from './Section';
import { texts, translate } from './texts';

const DEFAULT_HOURS = '4';
const REFRESH_MS = 30_000;

/** Opens a preview for a person from the request they sent. */
function OpenForm({ previews }: { previews: readonly Preview[] }) {
  const { console } = useConsole();
  const { preview } = texts;
  const draft = useDraft('preview', { request: '', person: '', hours: DEFAULT_HOURS });
  const ask = () => {
    const [request, person] = [draft.fields.request.trim(), draft.fields.person.trim()];
    const hours = Number(draft.fields.hours);
    const words = request.split(/\s+/);
    const origins = words.filter((word) => word.includes('@'));
    const ended = previews
      .filter(({ browser }) => words.includes(browser))
      .map((former) => preview.replaces(former.person, texts.list(former.remotes)));
    const changes = [...origins, preview.oneBrowser(person, hours), ...ended, preview.unchecked];
    const question = { title: preview.title, action: preview.open, danger: true, changes, form: draft.form };
    console.openQuestion('preview', { request, person, hours }, question);
  };
  return (
    <FoldedForm title={preview.openFor} action={preview.open} draft={draft} onSubmit={ask}>
      <TextField
        {...draft.propsOf('request')}
        label={preview.request}
        hint={preview.requestHint}
        required
        maxLength={1200}
        autoComplete="off"
        autoCapitalize="none"
      />
      <TextField {...draft.propsOf('person')} label={preview.person} required maxLength={60} autoComplete="off" />
      <HoursField label={preview.hours} {...draft.propsOf('hours')} />
    </FoldedForm>
  );
}

/** People who run remotes from a dev server in the deployed host, with forms to add and to end a preview. */
export function PreviewSection() {
  const { me, now } = useConsole();
  const { channel, seq } = useSnapshot().status;
  // previews expire, so they are fetched periodically as well as after a change
  const revision = `${seq} ${Math.floor(now.getTime() / REFRESH_MS)}`;
  const answer = useAnswer<Preview[]>(pathOf('previews', { channel }), revision);
  const hasFailed = answer instanceof ApiFailure;
  const previews = hasFailed ? [] : (answer ?? []);
  const { preview } = texts;
  return (
    <>
      <p className={styles.quiet}>
        {preview.about}
        {!hasFailed && previews.length === 0 && preview.nothing}
      </p>
      {hasFailed && <Alarm>{texts.builds.lost}</Alarm>}
      <div className={styles.rows}>
        {previews.map(({ browser, person, remotes, expires, who }) => (
          <ListRow
            key={browser}
            className={styles.row}
            title={<strong>{person}</strong>}
            detail={
              <>
                {texts.list(remotes)}
                <span className={styles.fallback}>{preview.until(formats.moment(expires), translate(who))}</span>
              </>
            }
            value={
              me.role === 'manager' && (
                <AskButton
                  aria-label={`${preview.end} ${person}`}
                  verb="preview-end"
                  body={{ browser }}
                  question={{
                    title: preview.title,
                    action: preview.end,
                    changes: [texts.titled(person, texts.list(remotes))],
                  }}
                />
              )
            }
          />
        ))}
      </div>
      {me.role === 'manager' && <OpenForm previews={previews} />}
    </>
  );
}
