import { formatRelative, shorten } from '@liaozhai/shared/format';
import { toast } from '@liaozhai/shared/runtime';
import { AddIcon, Button, ListRow, QueryView, RowBoundary, Sheet, Skeleton, useNow } from '@liaozhai/shared/ui';
import { useState } from 'react';
import { toastFailure } from '../api/failures';
import { resumeRun, startNewRun, useChatGetRunsQuery } from '../api/runs';
import type { Conversation } from '../model/conversation';
import { texts } from '../texts';
import styles from './ChatSheet.module.css';

export interface RunsSheetProps {
  open: boolean;
  storyId: string;
  conversationId: string;
  /** A message of this run waits to be sent, which would make its run the current one again. */
  isBusy: boolean;
  onClose: () => void;
}

const words = texts.runs;
/** Fits on two lines of a small screen. */
const EXCERPT_CHARACTERS = 30;

/** Resolves to whether the action succeeded; a failure shows in a toast. */
async function succeeds(order: () => Promise<void>): Promise<boolean> {
  try {
    await order();
    return true;
  } catch (cause) {
    toastFailure(cause, words.failed);
    return false;
  }
}

export default function RunsSheet({ open, storyId, conversationId, isBusy, onClose }: RunsSheetProps) {
  const runs = useChatGetRunsQuery(storyId);
  const [isChoosing, setChoosing] = useState(false);
  const choose = async (order: () => Promise<void>, done: string, undo?: { label: string; run: () => void }) => {
    setChoosing(true);
    if (await succeeds(order)) {
      onClose();
      toast(done, undo && { action: undo });
    }
    setChoosing(false);
  };
  const shown = runs.data?.find((run) => run.id === conversationId);
  const back = shown && { label: words.back, run: () => void succeeds(() => resumeRun(shown)) };
  const begin = () => choose(() => startNewRun(storyId, conversationId), words.begun, back);
  return (
    <Sheet
      open={open}
      onClose={onClose}
      title={words.title}
      footer={
        <Button block icon={<AddIcon size={18} />} disabled={isBusy} loading={isChoosing} onClick={() => void begin()}>
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
  const face = { title: words.run(run.run), detail: shorten(run.excerpt, EXCERPT_CHARACTERS) || texts.list.nothingYet };
  if (isShown) return <ListRow {...face} value={words.shown} />;
  const value = run.updatedAt && formatRelative(run.updatedAt, now);
  return <ListRow {...face} value={value} disabled={disabled} onClick={onChoose} />;
}
