import { useSelector, useUser } from '@liaozhai/shared/runtime';
import { type Ref, useImperativeHandle, useRef } from 'react';
import { runningMessage, type Story, type Thread } from '../model';
import { prices } from '../prices';
import { selectChat } from '../slice';
import { ideasKeyOf } from '../sync/ideas';
import styles from './ChatFoot.module.css';
import { Composer } from './composer/Composer';
import { IdeaList } from './composer/IdeaList';
import { ReplyChips } from './composer/ReplyChips';
import { useDraft } from './composer/useDraft';
import { useKeyboardInset } from './composer/useKeyboardInset';
import type { ChatActs } from './useChatActs';

interface ChatFootProps {
  story: Story;
  thread: Thread;
  isMember: boolean;
  acts: ChatActs;
  ref: Ref<ComposerHandle>;
}

export interface ComposerHandle {
  /** Puts words into the composer, in place of what is there. */
  fill: (text: string) => void;
}

/** 灵感, 继续 and the composer, above the keyboard; what is typed stays in here, so that a key press draws nothing else. */
export function ChatFoot({ story, thread, isMember, acts, ref }: ChatFootProps) {
  const [draft, write] = useDraft(story.id);
  useImperativeHandle(ref, () => ({ fill: write }), [write]);
  const foot = useRef<HTMLDivElement>(null);
  const used = useRef<{ id: string; text: string } | null>(null);
  const user = useUser();
  const ideas = useSelector((state) => selectChat(state).ideas[story.id]);
  const isContinuing = useSelector((state) => selectChat(state).continuing.includes(story.id));
  const last = thread.messages.at(-1);
  const isBusy = isContinuing || runningMessage(thread) !== undefined;
  const shownIdeas = last && ideas?.baseKey === ideasKeyOf(last) && ideas.status !== 'failed' ? ideas : undefined;
  useKeyboardInset(foot);

  const send = (body: string) => {
    const idea = used.current?.text.trim() === body ? used.current : null;
    used.current = null;
    write('');
    acts.send(body, idea?.id);
  };
  return (
    <div ref={foot} className={styles.foot}>
      <Composer text={draft} onText={write} onSend={send} price={story.pricePerMessage} balance={user?.balance}>
        {shownIdeas && (
          <IdeaList
            ideas={shownIdeas}
            onUse={(idea) => {
              used.current = idea;
              write(idea.text);
            }}
            onSend={(idea) => acts.send(idea.text, idea.id)}
            onClose={acts.dropIdeas}
          />
        )}
        {isMember && last && (
          <ReplyChips
            prices={prices()}
            isBusy={isBusy}
            canContinue={last.role === 'assistant'}
            onIdeas={acts.askIdeas}
            onContinue={() => acts.resume(last)}
          />
        )}
      </Composer>
    </div>
  );
}
