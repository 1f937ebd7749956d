import { Button, ListRow, TextField } from '@liaozhai/shared/ui';
import { useState } from 'react';
import type { Preview } from './api';
import styles from './Console.module.css';
import { formats } from './language';
import { AskButton, FoldedForm, useConsole } from './Section';
import { texts } from './texts';

const DEFAULT_HOURS = 4;
const MAX_HOURS = 168;

/** Opens a preview for a person from the request they sent. */
function OpenForm() {
  const { console } = useConsole();
  const [request, setRequest] = useState('');
  const [person, setPerson] = useState('');
  const [hours, setHours] = useState(String(DEFAULT_HOURS));
  const { preview } = texts;
  const openDialog = () =>
    console.openQuestion(
      'preview',
      { request: request.trim(), person: person.trim(), hours: Number(hours) },
      {
        title: preview.title,
        action: preview.open,
        danger: true,
        changes: [
          ...request.split(/\s+/).filter((word) => word.includes('@')),
          preview.only(person.trim(), Number(hours)),
          preview.unchecked,
        ],
      },
    );
  return (
    <FoldedForm title={preview.openFor} onSubmit={openDialog}>
      <TextField
        label={preview.request}
        hint={preview.requestHint}
        required
        maxLength={1200}
        autoComplete="off"
        autoCapitalize="none"
        value={request}
        onChange={(event) => setRequest(event.target.value)}
      />
      <TextField
        label={preview.person}
        required
        maxLength={60}
        autoComplete="off"
        value={person}
        onChange={(event) => setPerson(event.target.value)}
      />
      <TextField
        type="number"
        label={preview.hours}
        required
        min={1}
        max={MAX_HOURS}
        value={hours}
        onChange={(event) => setHours(event.target.value)}
      />
      <Button type="submit" variant="quiet" small>
        {preview.open}
      </Button>
    </FoldedForm>
  );
}

/** People who run remotes from a dev server in the deployed host, with forms to add and to end a preview. */
export function PreviewSection({ previews }: { previews: readonly Preview[] }) {
  const { me } = useConsole();
  const { preview } = texts;
  return (
    <>
      <p className={styles.quiet}>{previews.length > 0 ? preview.about : `${preview.about}${preview.nothing}`}</p>
      <div className={styles.rows}>
        {previews.map(({ browser, person, remotes, expires, who }) => (
          <ListRow
            key={browser}
            className={styles.row}
            title={<strong>{person}</strong>}
            detail={
              <>
                {texts.list(remotes)}
                <span className={styles.fallback}>{preview.until(formats.moment(expires), who)}</span>
              </>
            }
            value={
              me.role === 'manager' && (
                <AskButton
                  control={`preview-end ${browser}`}
                  aria-label={`${preview.end} ${person}`}
                  verb="preview-end"
                  body={{ browser }}
                  question={{
                    title: preview.title,
                    action: preview.end,
                    changes: [preview.subject(person, texts.list(remotes))],
                  }}
                />
              )
            }
          />
        ))}
      </div>
      {me.role === 'manager' && <OpenForm />}
    </>
  );
}
