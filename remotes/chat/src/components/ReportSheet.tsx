import { failureText } from '@liaozhai/shared/format';
import { drafts, endpoints, request, toast } from '@liaozhai/shared/runtime';
import { Button, Sheet, TextArea } from '@liaozhai/shared/ui';
import { useId, useState } from 'react';
import type { Message } from '../model/message';
import { texts } from '../texts';
import type { ChatSheetProps } from './ChatSheet';
import styles from './ChatSheet.module.css';

const REASONS = Object.entries(texts.report.reasons);

export function ReportSheet({ sheet, message, onClose }: ChatSheetProps & { message: Message }) {
  const draftKey = `report.${message.id}`;
  const [{ reason, words }, setDraft] = useState(() => {
    const [reason = '', ...lines] = drafts.read(draftKey).split('\n');
    return { reason, words: lines.join('\n') };
  });
  const edit = (draft: { reason: string; words: string }) => {
    setDraft(draft);
    drafts.write(draftKey, `${draft.reason}\n${draft.words}`);
  };
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState('');
  const name = useId();
  const send = async () => {
    setSending(true);
    setProblem('');
    try {
      const body = { reason, words: words.trim() };
      await request({ url: endpoints.report(message.id), method: 'POST', body });
      drafts.write(draftKey, '');
      onClose();
      toast(texts.report.sent, { kind: 'success' });
    } catch (cause) {
      setProblem(failureText(cause, texts.report.failed) ?? '');
    } finally {
      setSending(false);
    }
  };
  return (
    <Sheet
      open={sheet?.kind === 'report'}
      onClose={onClose}
      title={texts.report.title}
      uncloseable={isSending}
      footer={
        <Button block disabled={reason === ''} loading={isSending} onClick={() => void send()}>
          {texts.report.send}
        </Button>
      }
    >
      <fieldset className={styles.reasons}>
        <legend className={styles.about}>{texts.report.legend}</legend>
        {REASONS.map(([value, label]) => (
          <label key={value} className={styles.reason}>
            <input
              type="radio"
              name={name}
              value={value}
              checked={value === reason}
              onChange={() => edit({ reason: value, words })}
            />
            <span>{label}</span>
          </label>
        ))}
      </fieldset>
      <TextArea
        label={texts.report.words}
        value={words}
        rows={2}
        maxCodePoints={500}
        error={problem || undefined}
        hint={texts.report.about}
        onChange={(event) => edit({ reason, words: event.target.value })}
      />
    </Sheet>
  );
}
