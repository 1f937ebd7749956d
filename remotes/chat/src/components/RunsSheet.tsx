import { formatRelative, shorten } from '@liaozhai/shared/format';
import { store, toast } from '@liaozhai/shared/runtime';
import { AddIcon, Button, ListRow, QueryView, RowBoundary, Sheet, Skeleton, useNow } from '@liaozhai/shared/ui';
import { useState } from 'react';
import { toastFailure } from '../api/failures';
import { resumeRun, startNewRun, useChatGetRunsQuery } from '../api/listApi';
import type { Conversation } from '../model/conversation';
import { selectChat } from '../slice';
import { texts } from '../texts';
import type { ChatSheetProps } from './ChatSheet';
import styles from './ChatSheet.module.css';

const words = texts.runs;
/** Fits on two lines of a small screen. */
const EXCERPT_CHARACTERS = 30;

export default function RunsSheet({ sheet, story: { id: storyId }, log, onClose }: ChatSheetProps) {
  // a message that waits to be sent would make its run the current one again
  const isBusy = log.pending.length > 0;
  const conversationId = log.messages.at(-1)?.conversationId;
  const runs = useChatGetRunsQuery(storyId);
  const [isChoosing, setChoosing] = useState(false);
  const choose = async (action: () => Promise<void>, doneText: string, undo?: { label: string; run: () => void }) => {
    setChoosing(true);
    try {
      await action();
      onClose();
      toast(doneText, undo && { action: undo });
    } catch (cause) {
      toastFailure(cause, words.failed);
    } finally {
      setChoosing(false);
    }
  };
  if (conversationId === undefined) return null;
  const goBack = async () => {
    // the first line of the new run would be sent to the previous one
    if (selectChat(store.getState()).pending.some((pending) => pending.storyId === storyId)) toast(words.busy);
    else await resumeRun({ id: conversationId, storyId }).catch((cause: unknown) => toastFailure(cause, words.failed));
  };
  const undoAction = { label: words.back, run: () => void goBack() };
  const startAnother = () => choose(() => startNewRun(storyId, conversationId), words.begun, undoAction);
  return (
    <Sheet
      open={sheet?.kind === 'runs'}
      onClose={onClose}
      title={words.title}
      uncloseable={isChoosing}
      footer={
        <Button
          block
          icon={<AddIcon size={18} />}
          disabled={isBusy}
          loading={isChoosing}
          onClick={() => void startAnother()}
        >
          {words.begin}
        </Button>
      }
    >
      <p className={styles.about}>{isBusy ? words.busy : words.about}</p>
      <QueryView query={runs} skeleton={<Skeleton shape="text" count={3} label={words.loading} />}>
        {(items) =>
          items.map((each) => (
            <RowBoundary key={each.id} of={each}>
              {(run) => (
                <RunRow
                  run={run}
                  isShown={run.id === conversationId}
                  disabled={isBusy || isChoosing}
                  onChoose={() => void choose(() => resumeRun(run), words.taken(run.run))}
                />
              )}
            </RowBoundary>
          ))
        }
      </QueryView>
    </Sheet>
  );
}

interface RunRowProps {
  run: Conversation;
  isShown: boolean;
  disabled: boolean;
  onChoose: () => void;
}

function RunRow({ run, isShown, disabled, onChoose }: RunRowProps) {
  const now = useNow();
  const rowProps = {
    title: words.run(run.run),
    detail: shorten(run.excerpt, EXCERPT_CHARACTERS) || texts.list.nothingYet,
  };
  if (isShown) return <ListRow {...rowProps} value={words.shown} />;
  const value = run.updatedAt && formatRelative(run.updatedAt, now);
  return <ListRow {...rowProps} value={value} disabled={disabled} onClick={onChoose} />;
}
